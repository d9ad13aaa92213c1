#include "coordinator/link/pulse.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

TEST_CASE("a round trip is that of a question that found its link idle") {
  const Instant start(1h);
  Pulse pulse;
  CHECK(pulse.round_trip() == 0ns);
  pulse.on_first_question(start);
  pulse.on_bytes(start + 3ms);
  pulse.on_answer(start + 3ms);
  CHECK(pulse.round_trip() == 3ms);
  pulse.on_answer(start + 50ms);  // of one that stood behind others
  CHECK(pulse.round_trip() == 3ms);
  pulse.on_first_question(start + 1s);
  pulse.on_first_question(start + 2s);  // the connection between the two ended
  CHECK(pulse.heard() == start + 2s);
  pulse.on_answer(start + 2s + 1ms);
  CHECK(pulse.round_trip() == 1ms);
}
