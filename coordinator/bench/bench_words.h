// The words in which people are told of a bench, on a terminal and on a page.
#pragma once

#include "coordinator/bench/bench_figures.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace redlock::coordinator {

// The columns of latencies.
inline constexpr double kToldShares[] = {0.5, 0.9, 0.99, 0.999, 1};

double microseconds(Duration d);
// "9.8 us", "12.30 ms".
std::string short_time(Duration d);
// Of a share of latencies; "-" of none.
std::string short_time(const LatencyHistogram& latency, double share);
// "412,345".
std::string grouped(std::uint64_t number);
// "3 timed out, 1 recovering".
std::string counted(const std::map<std::string, std::uint64_t>& counts);
double cpu_us_per_pair(const BenchFigures& figures);

// "5 nodes, 50 locks in flight, TTL 30s, with fencing tokens".
std::string what_was_done(const BenchFigures& figures);
// "1.20 % of the acquisitions took a second round trip for the token"; empty: none could.
std::string second_rounds(const BenchFigures& figures);
// "41,234 locks a second".
std::string pace(const BenchFigures& figures);
// "for 10.0 s, acquired and released; 12.3 us of this process's CPU each".
std::string pace_details(const BenchFigures& figures);

// A histogram's bars until nearly all are told, and one for the few that are left.
struct ShownBar {
  std::string words;     // "up to 1.20 ms"
  double share = 0;      // of all
  bool is_rest = false;  // of the few
};
std::vector<ShownBar> shown_bars(const LatencyHistogram& latency);
// The largest share; above 0.
double largest_share(const std::vector<ShownBar>& bars);

}  // namespace redlock::coordinator
