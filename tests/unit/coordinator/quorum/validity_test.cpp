#include "coordinator/quorum/validity.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("the validity is the TTL less the drift bound's share and 2 ms (rule Q2)") {
  const Instant start(100s);
  CHECK(validity_end(start, 30s, 0.01) == start + 30s - 300ms - 2ms);
  CHECK(validity_end(start, 10s, 0) == start + 10s - 2ms);
}

TEST_CASE("the drift allowance is rounded against the holder") {
  CHECK(drift_allowance(1ns, 0.01) == 2ms + 1ns);
}

TEST_CASE("a TTL too short to be relied on leaves nothing") {
  const Instant start(100s);
  CHECK(validity_end(start, 2ms, 0.01) < start);
  CHECK(validity_end(start, 3ms, 0.01) > start);
}

TEST_CASE("the holder's validity ends before the node's deadline at any rates within the bound") {
  // (1 - d)(1 + d) < 1: a node 1 + d times as fast as the holder counts the TTL down in
  // TTL / (1 + d) of the holder's time.
  for (const double drift : {0.0001, 0.01, 0.1}) {
    const Duration ttl = 60s;
    const Duration validity = validity_end(Instant(0ns), ttl, drift).time_since_epoch();
    const auto node_ends = static_cast<double>(ttl.count()) / (1 + drift);
    CHECK(static_cast<double>(validity.count()) < node_ends);
  }
}
