#include "base/net/turn/timer.h"

#include <memory>

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

TEST_CASE("an instant in the past fires once, in the loop's next turn") {
  const ClockKind kind = GENERATE(ClockKind::monotonic, ClockKind::boottime);
  const bool in_place_of_one_to_come = GENERATE(false, true);
  Loop loop;
  int fired = 0;
  Timer timer(loop, kind, [&] { ++fired; });
  Timer end(loop, kind, [&] { loop.stop(); });
  end.set(read_clock(kind) + 3ms);
  if (in_place_of_one_to_come) timer.set(read_clock(kind) + 1ms);
  timer.set(Instant(0ns));
  CHECK(fired == 0);
  CHECK(timer.when() == Instant(0ns));
  loop.run();
  CHECK(fired == 1);
  CHECK_FALSE(timer.when().has_value());
}

TEST_CASE("an instant in the past can still be taken back, or put off") {
  Loop loop;
  int fired = 0;
  Timer disarmed(loop, ClockKind::monotonic, [&] { fired += 100; });
  disarmed.set(Instant(0ns));
  disarmed.set(std::nullopt);
  Timer timer(loop, ClockKind::monotonic, [&] {
    ++fired;
    loop.stop();
  });
  timer.set(Instant(0ns));
  const Instant later = read_clock(ClockKind::monotonic) + 3ms;
  timer.set(later);
  loop.run();
  CHECK(fired == 1);
  CHECK(read_clock(ClockKind::monotonic) >= later);
}

TEST_CASE("a timer that is always late leaves room for the loop's other events") {
  Loop loop;
  Timer late(loop, ClockKind::monotonic, [&] { late.set(Instant(1ns)); });
  late.set(Instant(1ns));
  Timer other(loop, ClockKind::monotonic, [&] { loop.stop(); });
  other.set(read_clock(ClockKind::monotonic) + 2ms);
  loop.run();  // ends
}

TEST_CASE("a timer may be destroyed while it is about to fire, and by its own firing") {
  Loop loop;
  Timer end(loop, ClockKind::monotonic, [&] { loop.stop(); });
  end.set(read_clock(ClockKind::monotonic) + 2ms);
  int fired = 0;
  auto gone = std::make_unique<Timer>(loop, ClockKind::monotonic, [&] { fired += 100; });
  gone->set(Instant(0ns));
  gone.reset();
  std::unique_ptr<Timer> brief;
  brief = std::make_unique<Timer>(loop, ClockKind::monotonic, [&] {
    ++fired;
    brief.reset();
  });
  brief->set(Instant(0ns));
  loop.run();
  CHECK(fired == 1);
}
