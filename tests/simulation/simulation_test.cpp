// The simulator's own parts: what it says must be true before anybody believes what it finds.
#include "tests/simulation/calm.h"
#include "tests/simulation/forms.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/sweep.h"

#include <catch2/catch.hpp>

namespace redlock::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TrueTime after(Duration since) {
  return TrueTime(since);
}

Mix all_faults() {
  Mix mix;
  mix.faults = faults_of(true);
  return mix;
}

// One client that wants key 1 for two seconds.
Scenario quiet_scenario() {
  Scenario scenario;
  scenario.clients = 1;
  scenario.node_rates.assign(scenario.nodes, 0);
  scenario.client_rates.assign(scenario.clients, 0);
  scenario.length = seconds(3);
  scenario.events.push_back({.at = after(100ms),
                             .deed = Deed::want,
                             .client = 1,
                             .key = 1,
                             .length = 500ms,
                             .ttl = seconds(2)});
  return scenario;
}

bool is_told(const Outcome& outcome, std::string_view what) {
  return std::any_of(outcome.story.begin(), outcome.story.end(), [what](const std::string& line) {
    return line.find(what) != std::string::npos;
  });
}

TEST_CASE("a skewed clock runs at its rate, and tells when it will show an instant") {
  SkewedClock clock(after(1s), Instant(100s), 10'000);
  CHECK(clock.at(after(1s)) == Instant(100s));
  CHECK(clock.at(after(2s)) == Instant(101s + 10ms));
  CHECK(clock.when(Instant(101s + 10ms), after(1s)) == after(2s));
  const TrueTime first = clock.when(Instant(100s + 3ns), after(1s));
  CHECK(clock.at(first) >= Instant(100s + 3ns));
  CHECK(clock.at(first - 1ns) < Instant(100s + 3ns));
  CHECK(clock.when(kNever, after(1s)) == kEndOfTime);
}

TEST_CASE("a clock that is told another rate goes on from where it is") {
  SkewedClock clock(after(0s), Instant(10s), 0);
  clock.set_rate(after(5s), 1'000'000);
  CHECK(clock.at(after(5s)) == Instant(15s));
  CHECK(clock.at(after(6s)) == Instant(17s));
}

TEST_CASE("the agenda keeps the order of time, and at one instant that of the asking") {
  Agenda agenda;
  std::string order;
  agenda.after(2s, [&] { order += 'c'; });
  agenda.after(1s, [&] { order += 'a'; });
  agenda.after(1s, [&] { order += 'b'; });
  CHECK(agenda.step(after(5s)));
  CHECK(agenda.now() == after(1s));
  CHECK(agenda.step(after(5s)));
  CHECK_FALSE(agenda.step(after(1500ms)));
  CHECK(agenda.now() == after(1500ms));
  CHECK(agenda.step(after(5s)));
  CHECK(order == "abc");
}

TEST_CASE("an alarm rings once, at the last time that it was set to") {
  Agenda agenda;
  std::vector<TrueTime> rings;
  Alarm alarm(agenda, [&] { rings.push_back(agenda.now()); });
  alarm.set(after(3s));
  alarm.set(after(1s));
  alarm.set(after(2s));
  while (agenda.step(after(10s))) {
  }
  CHECK(rings == std::vector{after(2s)});
}

TEST_CASE("a scenario reads back as it was written") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario scenario = make_scenario(seed, all_faults());
    const auto again = read_scenario(write_scenario(scenario));
    REQUIRE(again);
    CHECK(again.value() == scenario);
  }
}

TEST_CASE("a scenario that cannot be read is refused with its line") {
  const std::string good = write_scenario(quiet_scenario());
  CHECK(read_scenario("a poem\n").error().text ==
        "line 1: a scenario begins with 'redlock-sim scenario 1'");
  CHECK(read_scenario(good + "at 5ns explode node=1\n").error().text ==
        "line 40: an event begins with 'at 12ns' and what happens; 'explode' is none");
  CHECK(read_scenario(good + "at 5ns kill node=one\n").error().text ==
        "line 40: 'node=one' is no field of an event, or not of its kind");
  CHECK(read_scenario(good + "at 5ns kill node=9\n").error().text ==
        "line 40: it names a client, node or key that is not there");
  CHECK(read_scenario(good + "at 5ns cut node=1\n").error().text ==
        "line 40: it names a client, node or key that is not there");
  CHECK(read_scenario(good + "speed=1\n").error().text == "line 40: no setting of a scenario");
  const std::string impossible = "1 to 9 nodes, a client and a key at least, and no negative time";
  CHECK(read_scenario(good + "keys=0\n").error().text.find(impossible) != std::string::npos);
  CHECK(read_scenario(good + "delay-max=0ns\n").error().text.find(impossible) != std::string::npos);
}

TEST_CASE("the same scenario is the same run, to the last byte") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Scenario scenario = make_scenario(seed, all_faults());
    const Outcome one = run(scenario, Story::Telling::nothing);
    const Outcome other = run(scenario, Story::Telling::messages);
    CHECK(one.hash == other.hash);
    CHECK(one.steps == other.steps);
  }
  CHECK(run(make_scenario(1, all_faults()), Story::Telling::nothing).hash !=
        run(make_scenario(2, all_faults()), Story::Telling::nothing).hash);
}

TEST_CASE("a sweep's sums do not depend on its threads") {
  const Mix mix = all_faults();
  const auto sweep = [&mix](unsigned jobs) {
    return Sweep({.first = 1, .last = 40, .jobs = jobs}, mix).run([](const SweepResult&) {});
  };
  CHECK(sweep(1).hash == sweep(3).hash);
  CHECK(sweep(2).seeds == 40);
}

TEST_CASE("a quiet world: a lock is got in one round trip and given back") {
  const Outcome outcome = run(quiet_scenario(), Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK(outcome.acquired == 2);  // the wanted one, and the probe in the end
  CHECK(outcome.extended >= 1);  // which keeps it for longer than its TTL
  CHECK(is_told(outcome, "has key 1 with token 1"));
  CHECK(is_told(outcome, "releases key 1"));
}

TEST_CASE("each fault does what it says") {
  Scenario scenario = quiet_scenario();
  const auto with = [&scenario](Event event) {
    Scenario changed = scenario;
    event.at = after(300ms);
    event.node = event.node == 0 ? 1 : event.node;
    changed.events.push_back(event);
    return run(changed, Story::Telling::events);
  };
  CHECK(is_told(with({.deed = Deed::kill, .length = 50ms}), "starts (crash)"));
  CHECK(
      is_told(with({.deed = Deed::power_loss, .length = 50ms}), "starts (crash_of_another_boot)"));
  CHECK(is_told(with({.deed = Deed::stop, .length = 50ms}), "starts (clean_stop)"));
  CHECK(is_told(with({.deed = Deed::lose_disk, .length = 50ms}), "starts (ledger_missing)"));
  CHECK(is_told(with({.deed = Deed::pause_node, .length = 50ms}), "goes on"));
  CHECK(is_told(with({.deed = Deed::kill_client, .client = 1, .length = 50ms}), "is killed"));
  CHECK(is_told(with({.deed = Deed::replace_node, .length = 50ms}), "is another node, b1"));
}

TEST_CASE("a disk whose calls fail is in doubt, also one that is new") {
  Scenario scenario = quiet_scenario();
  scenario.length = 6s;
  scenario.events = {
      {.at = after(100ms), .deed = Deed::faulty_disk, .node = 1, .other = 2, .length = 6s},
      {.at = after(200ms), .deed = Deed::replace_node, .node = 1, .length = 50ms}};
  for (Duration at = 5s; at < 6s; at += 10ms) {
    scenario.events.push_back({.at = after(at),
                               .deed = Deed::want,
                               .client = 1,
                               .key = 1,
                               .length = 5ms,
                               .ttl = seconds(2)});
  }
  scenario.events.push_back({.at = after(5900ms), .deed = Deed::kill, .node = 1, .length = 50ms});
  for (scenario.seed = 1; scenario.seed <= 20; ++scenario.seed) {
    CHECK_FALSE(run(scenario, Story::Telling::nothing).violation);
  }
}

TEST_CASE("a holder whose machine sleeps gives its lock up") {
  Scenario scenario = quiet_scenario();
  scenario.events.front().holding = Holding::keep;
  scenario.events.front().length = 2s;
  scenario.events.push_back(
      {.at = after(300ms), .deed = Deed::suspend_client, .client = 1, .length = 50ms});
  const Outcome outcome = run(scenario, Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "releases key 1"));
  CHECK_FALSE(is_told(outcome, "client 1      602."));  // when it would have
}

TEST_CASE("a lock goes on in another process, and is released there") {
  Scenario scenario = quiet_scenario();
  scenario.clients = 2;
  scenario.client_rates.assign(2, 0);
  scenario.events.push_back({.at = after(300ms),
                             .deed = Deed::hand_over,
                             .client = 2,
                             .other = 1,
                             .key = 1,
                             .length = 1s});
  const Outcome outcome = run(scenario, Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "client 1      600.300000 s  no longer relies on key 1"));
  CHECK(is_told(outcome, "client 2      600.30"));
  CHECK(is_told(outcome, "s  releases key 1"));
}

TEST_CASE("a node's next start has the max-ttl that it was given") {
  Scenario scenario = quiet_scenario();
  scenario.events.front().ttl = 4s;
  for (unsigned node = 1; node <= 3; ++node) {
    scenario.events.push_back(
        {.at = after(10ms), .deed = Deed::set_max_ttl, .node = node, .delay = 3s});
    scenario.events.push_back(
        {.at = after(20ms), .deed = Deed::stop, .node = node, .length = 10ms});
  }
  scenario.events.front().at = after(2s);
  std::swap(scenario.events.front(), scenario.events.back());
  const Outcome outcome = run(scenario, Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "does not get key 1"));
}

TEST_CASE("clients see nodes without LOCK.* as plain Redis servers, and lock there") {
  Scenario scenario = quiet_scenario();
  scenario.plain = true;
  const Outcome outcome = run(scenario, Story::Telling::messages);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "has key 1 with token 0"));
  CHECK(is_told(outcome, "SET key1"));
}

TEST_CASE("messages in pieces come to the same") {
  Scenario scenario = quiet_scenario();
  scenario.pieces_per_thousand = 1000;
  scenario.turn_max = 3ms;
  const Outcome outcome = run(scenario, Story::Telling::messages);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "more bytes"));
  CHECK(outcome.acquired == 2);
}

TEST_CASE("an operator reaches all nodes, though a client has not heard of their end") {
  Scenario scenario = quiet_scenario();
  scenario.events.clear();
  for (unsigned node = 1; node <= scenario.nodes; ++node) {
    scenario.events.push_back(
        {.at = after(100ms), .deed = Deed::power_loss, .node = node, .length = 50ms});
    scenario.events.push_back(
        {.at = after(1s), .deed = Deed::replace_node, .node = node, .length = 50ms});
  }
  CHECK_FALSE(run(scenario, Story::Telling::nothing).violation);
}

// --- the calm

// One client with the fastest clock, and every message takes as long as it may.
Scenario slow_scenario(Duration delay) {
  Scenario scenario = quiet_scenario();
  scenario.drift_millionths = 200'000;
  scenario.client_rates = {200'000};
  scenario.delay_min = scenario.delay_max = delay;
  return scenario;
}

TEST_CASE("in the calm messages and turns take as much less as an answer and a lock ask for") {
  Scenario scenario = slow_scenario(80ms);
  scenario.turn_max = 20ms;  // an answer takes 240 ms on the client's clock
  scenario.node_timeout = 241ms;
  CHECK(Calm(scenario).shortened(80ms) == 80ms);
  CHECK(Calm(scenario).probe_ttl() == scenario.max_ttl);
  scenario.node_timeout = 120ms;
  CHECK(Calm(scenario).shortened(80ms) <= 40ms);
  CHECK(Calm(scenario).shortened(80ms) > 39ms);

  // Of 800 ms are 160 for drift, 40 for the notice and 267 until the extension.
  scenario.events.push_back({.deed = Deed::set_max_ttl, .node = 1, .delay = 800ms});
  CHECK(Calm(scenario).probe_ttl() == 800ms);
  scenario.node_timeout = 400ms;
  CHECK(Calm(scenario).shortened(240ms) < 111ms);
  CHECK(Calm(scenario).shortened(240ms) > 109ms);
}

TEST_CASE("in the calm each node answers in time, however near the node timeout is") {
  Scenario scenario = slow_scenario(82ms);
  scenario.node_timeout = 194ms;
  SECTION("to a clock that is faster than the messages allow") {}
  SECTION("of nodes whose turns take their time") {
    scenario.delay_min = scenario.delay_max = 1ms;
    scenario.turn_max = 200ms;
  }
  for (unsigned node = 1; node <= scenario.nodes; ++node) {
    scenario.events.push_back(
        {.at = after(200ms), .deed = Deed::replace_node, .node = node, .length = 50ms});
  }
  CHECK_FALSE(run(scenario, Story::Telling::nothing).violation);
}

TEST_CASE("in the calm a lock is kept, however short the TTL is that all nodes grant") {
  Scenario scenario = slow_scenario(82ms);
  scenario.node_timeout = 380ms;
  scenario.max_ttl = 733ms;
  scenario.events.front().ttl = 733ms;
  CHECK_FALSE(run(scenario, Story::Telling::nothing).violation);
}

// --- users of single nodes

TEST_CASE("each form takes a lock that is free, keeps it, and gives it back") {
  for (unsigned form = 0; form < forms().size(); ++form) {
    CAPTURE(forms()[form].name);
    Scenario scenario = quiet_scenario();
    scenario.events.clear();
    scenario.users = 2;
    const Event event{.at = after(100ms),
                      .deed = Deed::ask,
                      .client = 1,
                      .node = 3,
                      .key = 1,
                      .length = 900ms,
                      .delay = 20ms,
                      .ttl = 400ms,
                      .wait = 1s,
                      .holding = Holding::keep,
                      .form = form};
    Event second = event;
    second.at = after(200ms);
    second.client = 2;
    second.length = 10ms;
    scenario.events = {event, second};
    const Outcome outcome = run(scenario, Story::Telling::events);
    CHECK_FALSE(outcome.violation);
    CHECK(outcome.acquired == 3);  // both, and the probe
    CHECK(outcome.extended >= 5);
    CHECK(is_told(outcome, "user 3    "));
  }
}

TEST_CASE("the cut of a quorum keeps a client from its lock until it ends") {
  Scenario scenario = quiet_scenario();
  for (unsigned node = 1; node <= 3; ++node) {
    scenario.events.push_back(
        {.at = after(50ms), .deed = Deed::cut_requests, .client = 1, .node = node, .length = 1s});
  }
  const Outcome outcome = run(scenario, Story::Telling::events);
  CHECK_FALSE(outcome.violation);
  CHECK(is_told(outcome, "does not get key 1: no quorum"));
}

// --- the referee

struct Judged {
  Agenda agenda;
  Story story{Story::Telling::nothing};
  Referee referee{agenda, story};
  SkewedClock clock{after(0s), Instant(0s), 0};

  Referee::HoldId hold(unsigned client, Token token, Duration asked, Duration valid_until) {
    return referee.begin({.client = client,
                          .key = 1,
                          .token = token,
                          .asked = after(asked),
                          .valid_until = Instant(valid_until),
                          .clock = &clock});
  }
  void pass(Duration length) {
    while (agenda.step(agenda.now() + length)) {
    }
  }
  std::string_view breach() const {
    return referee.violation() ? breach_name(referee.violation()->breach) : "none";
  }
};

TEST_CASE("the referee sees two who rely on one lock") {
  Judged world;
  world.hold(1, 0, 0s, 10s);
  world.pass(9999ms);
  SECTION("one millisecond too early") {
    world.hold(2, 0, 9s, 20s);
    CHECK(world.breach() == "overlap");
  }
  SECTION("not when the first has run out") {
    world.pass(1ms);
    world.hold(2, 0, 9s, 20s);
    CHECK(world.breach() == "none");
  }
}

TEST_CASE("the referee sees an extension that came after the end") {
  Judged world;
  const auto id = world.hold(1, 0, 0s, 10s);
  world.pass(5s);
  world.referee.extend(id, Instant(12s));
  CHECK(world.breach() == "none");
  world.pass(7s);
  world.referee.extend(id, Instant(20s));
  CHECK(world.breach() == "revived");
}

TEST_CASE("the referee sees a lock that comes back after its release was confirmed") {
  Judged world;
  const auto id = world.hold(1, 0, 0s, 10s);
  world.pass(1s);
  world.referee.give_away(id);
  world.hold(2, 0, 500ms, 10s);  // whoever released it vouches that nobody needs it
  world.referee.note_released("value");
  world.referee.check_not_released("value", after(1s));
  CHECK(world.breach() == "none");
  SECTION("by an extension that began later") {
    world.referee.check_not_released("value", after(1s) + 1ns);
    CHECK(world.breach() == "returned");
  }
  SECTION("but not where the marks of releases were lost") {
    world.referee.note_marks_lost();
    world.referee.check_not_released("value", after(2s));
    CHECK(world.breach() == "none");
  }
}

TEST_CASE("the referee sees a token twice, and one that falls") {
  Judged world;
  world.referee.end(world.hold(1, 7, 0s, 10s));
  world.pass(1s);
  SECTION("twice") {
    world.hold(2, 7, 0s, 20s);
    CHECK(world.breach() == "token");
  }
  SECTION("smaller, asked for after the other was given") {
    world.hold(2, 6, 500ms, 20s);
    CHECK(world.breach() == "token");
  }
  SECTION("smaller, but asked for before") {
    world.hold(2, 6, 0s, 20s);
    CHECK(world.breach() == "none");
  }
}

}  // namespace
}  // namespace redlock::simulation
