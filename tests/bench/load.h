// Load: many connections that each send a batch of requests, wait for all replies, send the next.
//
// One thread, epoll, requests encoded beforehand: it costs a fraction of what a server spends, so
// the server is what a run waits for, also where redis-benchmark is not fast enough.
#pragma once

#include "tests/bench/reply_counter.h"
#include "tests/bench/request_template.h"

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::bench {

struct LoadPlan {
  std::uint16_t port = 0;
  std::size_t connections = 50;
  std::size_t pipeline = 1;  // requests in flight on a connection; a whole number of rounds
  // {deadline} becomes this plus an even share of the span, in ms.
  std::uint64_t first_deadline_ms = 0;
  std::uint64_t deadline_span_ms = 1;
  int server_pid = 0;  // whose CPU is counted; 0: nobody's
};

struct LoadResult {
  std::string problem;  // why it counts for nothing, or empty
  ReplyCounter replies{1};
  std::uint64_t server_cpu_ns = 0;  // from before the first request to after the last reply
  double seconds = 0;
};

// One round of `round` for each key, in this order.
LoadResult run_load(const LoadPlan& plan, const RequestTemplate& round,
                    const std::vector<std::uint32_t>& keys);

}  // namespace redlock::bench
