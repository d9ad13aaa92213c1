// What `redlock bench` counts while it runs, and what it tells of that: pure.
#pragma once

#include "base/time.h"
#include "coordinator/bench/latency_histogram.h"
#include <redlock/client.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct OperationFigures {
  LatencyHistogram latency;                     // of those that succeeded
  std::map<std::string, std::uint64_t> failed;  // by what the error is called
  std::uint64_t failures() const;
};

struct NodeFigures {
  std::string node;
  std::string state;            // that it told last, or why it did not answer
  LatencyHistogram round_trip;  // of questions among the load
  std::uint64_t asked = 0;
  // What it answered to operations that failed, where that was no vote: "recovering", "timed out".
  std::map<std::string, std::uint64_t> missed;
};

struct BenchFigures {
  // What was asked for.
  int in_flight = 0;
  Duration ttl{0};
  bool fence = true;

  OperationFigures acquire;
  OperationFigures release;
  LatencyHistogram pair;            // from asking for a lock to having given it back
  std::uint64_t second_rounds = 0;  // acquisitions that took a second round trip for the token
  std::vector<NodeFigures> nodes;
  Duration passed{0};
  Duration cpu{0};  // of this process, in that time

  void note_acquired(Duration took, const Lock& lock);
  void note_released(Duration release_took, Duration pair_took);
  void note_failed(OperationFigures& operation, const Error& error);
  void note_nodes(const std::vector<NodeState>& states);

  double pairs_per_second() const;
};

// A line for the progress.
std::string bench_line(const BenchFigures& figures);
// For people: latencies, histograms, the nodes, and last what it comes to.
std::string bench_text(const BenchFigures& figures);
// The same for a browser, its histograms as pictures.
std::string bench_page(const BenchFigures& figures);
std::string bench_json(const BenchFigures& figures);

}  // namespace redlock::coordinator
