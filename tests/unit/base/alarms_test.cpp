#include "base/net/turn/alarms.h"

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

namespace {

struct Clockwork {
  Loop loop;
  Alarms alarms{loop, ClockKind::monotonic};
  std::string heard;
  Instant start = read_clock(ClockKind::monotonic);

  auto writes(char c) {
    return [this, c] { heard += c; };
  }
  void run(Duration length) {
    Timer end(loop, ClockKind::monotonic, [this] { loop.stop(); });
    end.set(read_clock(ClockKind::monotonic) + length);
    loop.run();
  }
};

}  // namespace

TEST_CASE("alarms go off in the order of their instants, each once") {
  Clockwork clock;
  Alarms::Alarm a(clock.alarms, clock.writes('a'));
  Alarms::Alarm b(clock.alarms, clock.writes('b'));
  Alarms::Alarm c(clock.alarms, clock.writes('c'));
  c.set(clock.start + 30ms);
  a.set(clock.start + 10ms);
  b.set(clock.start + 20ms);
  clock.run(60ms);
  CHECK(clock.heard == "abc");
}

TEST_CASE("of one instant several go off; one that is set anew or disarmed does not") {
  Clockwork clock;
  Alarms::Alarm a(clock.alarms, clock.writes('a'));
  Alarms::Alarm b(clock.alarms, clock.writes('b'));
  Alarms::Alarm later(clock.alarms, clock.writes('l'));
  Alarms::Alarm never(clock.alarms, clock.writes('n'));
  const Instant when = clock.start + 10ms;
  for (Alarms::Alarm* alarm : {&a, &b, &later, &never}) alarm->set(when);
  later.set(when + 1h);
  never.set(std::nullopt);
  {
    Alarms::Alarm gone(clock.alarms, clock.writes('g'));
    gone.set(when);
  }
  clock.run(40ms);
  CHECK(clock.heard == "ab");
}

TEST_CASE("an alarm may set itself, to what is past too, and destroy itself and others") {
  Clockwork clock;
  std::unique_ptr<Alarms::Alarm> again;
  std::unique_ptr<Alarms::Alarm> other;
  again = std::make_unique<Alarms::Alarm>(clock.alarms, [&] {
    clock.heard += 'a';
    if (clock.heard.size() < 3) return again->set(clock.start);
    other.reset();
    again.reset();
  });
  other = std::make_unique<Alarms::Alarm>(clock.alarms, clock.writes('o'));
  again->set(clock.start);
  other->set(clock.start + 20ms);
  clock.run(40ms);
  CHECK(clock.heard == "aaa");
}

TEST_CASE("many alarms cost one descriptor") {
  Clockwork clock;
  std::vector<std::unique_ptr<Alarms::Alarm>> many;
  for (int i = 0; i < 20'000; ++i) {
    many.push_back(std::make_unique<Alarms::Alarm>(clock.alarms, clock.writes('x')));
    many.back()->set(clock.start + Duration(i));
  }
  clock.run(100ms);
  CHECK(clock.heard.size() == 20'000);
}

TEST_CASE("an alarm that is always late leaves room for the loop's other events") {
  Clockwork clock;
  std::unique_ptr<Alarms::Alarm> again;
  again = std::make_unique<Alarms::Alarm>(clock.alarms, [&] { again->set(clock.start); });
  again->set(clock.start);
  clock.run(20ms);  // ends
}
