// What the world says that a node owes, before anybody believes what it finds.
#include "tests/simulation/obligations.h"

#include "server/commands/families.h"

#include <catch2/catch.hpp>

namespace redlock::simulation {
namespace {

TrueTime after(Duration since) {
  return TrueTime(since);
}

struct Owing {
  Scenario scenario;
  Agenda agenda;
  Story story{Story::Telling::nothing};
  Referee referee{agenda, story};
  Obligations obligations{scenario, agenda, referee, 1};
  SkewedClock clock{after(0s), Instant(100s), 0};
  server::Settings settings;

  struct Silent final : LogSink {
    void log(LogLevel, std::string_view) override {}
  } log;
  std::optional<server::Node> node;

  // One that has a lock until `deadline`, or none; its ledger tells of `recorded`.
  server::Node& start(std::optional<Instant> deadline, Instant recorded = {}) {
    server::NodeStart facts;
    facts.node_id = std::string(40, 'a');
    facts.started_at = clock.at(agenda.now());
    facts.ledger.latest_deadline = recorded;
    node.emplace(server::all_families(), settings, facts,
                 server::Node::Environment{[] { return server::ProcessFacts{}; }, log});
    if (deadline) node->grants().restore({"key", "value", *deadline, 1, server::LockKind::text});
    return *node;
  }
  void crash() {
    obligations.note_end(Obligations::End::crash, *node, clock.at(agenda.now()), true);
  }
  std::string_view start_again(server::RestartCause cause, Instant grant_from,
                               std::optional<Instant> has_lock_until = {}) {
    server::Decision decision;
    decision.cause = cause;
    decision.grant_from = grant_from;
    decision.delay = grant_from - clock.at(agenda.now());
    obligations.check_start(decision, start(has_lock_until), clock.at(agenda.now()), clock);
    return referee.violation() ? breach_name(referee.violation()->breach) : "none";
  }
  void pass(Duration length) {
    while (agenda.step(agenda.now() + length)) {
    }
  }
};

TEST_CASE("a start that neither has a lock nor waits for its end has forgotten it") {
  Owing world;
  world.start(Instant(110s));
  world.obligations.note_begun();
  world.pass(1s);
  world.crash();
  const auto crash = server::RestartCause::crash;
  SECTION("it waits for it") {
    CHECK(world.start_again(crash, Instant(110s)) == "none");
  }
  SECTION("it waits for a moment less") {
    CHECK(world.start_again(crash, Instant(110s) - 1ns) == "forgotten");
  }
  SECTION("it has the lock, for long enough") {
    CHECK(world.start_again(crash, Instant(101s), Instant(110s)) == "none");
  }
  SECTION("it has the lock, for too short a time") {
    CHECK(world.start_again(crash, Instant(101s), Instant(110s) - 1ns) == "forgotten");
  }
  SECTION("nobody can rely on it any more") {
    world.pass(9s);
    CHECK(world.start_again(crash, Instant(110s)) == "none");
  }
  SECTION("in another boot the time counts, not the instant") {
    world.obligations.note_power_loss();
    world.clock = SkewedClock(world.agenda.now(), Instant(5s), 0);
    const auto other = server::RestartCause::crash_of_another_boot;
    CHECK(world.start_again(other, Instant(5s) + 8s) == "forgotten");
  }
}

TEST_CASE("a start that waits for nothing, or takes a crash for something else, is misread") {
  Owing world;
  world.start(Instant(110s));
  world.obligations.note_begun();
  world.pass(1s);
  world.crash();
  SECTION("to the tick") {
    CHECK(world.start_again(server::RestartCause::crash, Instant(110s) + 1ns) == "misread");
  }
  SECTION("another boot's, in this boot") {
    CHECK(world.start_again(server::RestartCause::crash_of_another_boot, Instant(110s)) ==
          "misread");
  }
  SECTION("nobody can say after a disk has failed") {
    world.obligations.note_disk_trouble();
    CHECK(world.start_again(server::RestartCause::ledger_damaged, Instant(200s)) == "none");
  }
}

TEST_CASE("a start may wait for a lock that is gone if its ledger could not be lowered in time") {
  Owing world;
  world.obligations.note_turn(world.start({}, Instant(110s)), Instant(100s));
  world.obligations.note_begun();
  const auto starts_late = [&world] {
    world.crash();
    return world.start_again(server::RestartCause::crash, Instant(110s));
  };
  SECTION("it was killed before") {
    world.pass(39ms);
    CHECK(starts_late() == "none");
  }
  SECTION("it had the time") {
    world.pass(40ms);
    CHECK(starts_late() == "misread");
  }
  SECTION("it was killed in a pause that began before") {
    world.pass(39ms);
    world.obligations.note_pause();
    world.pass(1s);
    CHECK(starts_late() == "none");
  }
  SECTION("it had the time before the pause in which it was killed") {
    world.pass(40ms);
    world.obligations.note_pause();
    world.pass(1s);
    CHECK(starts_late() == "misread");
  }
  SECTION("only what comes after a pause counts") {
    world.obligations.note_pause();
    world.pass(1s);
    world.obligations.note_pause_end();
    world.pass(39ms);
    SECTION("not quite") {
      CHECK(starts_late() == "none");
    }
    SECTION("all of it") {
      world.pass(1ms);
      CHECK(starts_late() == "misread");
    }
  }
}

}  // namespace
}  // namespace redlock::simulation
