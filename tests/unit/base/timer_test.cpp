#include "base/net/timer.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

TEST_CASE("a timer fires once, on its clock, and never early") {
  for (const ClockKind kind : {ClockKind::monotonic, ClockKind::boottime}) {
    Loop loop;
    int fired = 0;
    Timer timer(loop, kind, [&] {
      ++fired;
      loop.stop();
    });
    const Instant when = read_clock(kind) + 5ms;
    timer.set(when);
    loop.run();
    CHECK(fired == 1);
    CHECK(read_clock(kind) >= when);
    CHECK_FALSE(timer.when().has_value());
  }
}

TEST_CASE("a timer that is set again fires at the new instant, one that is disarmed never") {
  Loop loop;
  int fired = 0;
  Timer disarmed(loop, ClockKind::monotonic, [&] { fired += 100; });
  disarmed.set(read_clock(ClockKind::monotonic) + 1ms);
  disarmed.set(std::nullopt);
  Timer timer(loop, ClockKind::monotonic, [&] {
    ++fired;
    loop.stop();
  });
  timer.set(read_clock(ClockKind::monotonic) + 1h);
  timer.set(read_clock(ClockKind::monotonic) + 3ms);
  loop.run();
  CHECK(fired == 1);
}

TEST_CASE("an instant in the past fires at once") {
  Loop loop;
  Timer timer(loop, ClockKind::monotonic, [&] { loop.stop(); });
  timer.set(Instant(0ns));
  loop.run();
}
