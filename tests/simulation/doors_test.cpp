// The simulator's front doors and their naive users (docs/proof.md).
#include "tests/simulation/generator.h"
#include "tests/simulation/referee.h"
#include "tests/simulation/world.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::simulation;

namespace {

Mix doors() {
  Mix mix;
  mix.faults = faults_of(true);
  mix.doors = true;
  return mix;
}

// Holds of one key, for ten seconds each.
class Judged {
 public:
  Referee::Hold hold(unsigned client) const {
    return {.client = client,
            .key = 1,
            .token = 0,
            .asked = agenda.now(),
            .valid_until = clock.at(agenda.now()) + 10s,
            .clock = &clock};
  }

  Agenda agenda;
  Story story{Story::Telling::nothing};
  Referee referee{agenda, story};
  const SkewedClock clock{agenda.now(), Instant(1h), 0};
};

}  // namespace

TEST_CASE("a seed with doors makes the same run, also out of its text") {
  const Scenario scenario = make_scenario(5, doors());
  CHECK(scenario.doors > 0);
  const Outcome once = run(scenario, Story::Telling::nothing);
  CHECK(once.acquired > 0);
  CHECK(run(scenario, Story::Telling::nothing).hash == once.hash);
  const auto read = read_scenario(write_scenario(scenario));
  REQUIRE(read);
  CHECK(read.value() == scenario);
  CHECK(run(read.value(), Story::Telling::nothing).hash == once.hash);
}

TEST_CASE("without doors a seed is what it was") {
  Mix mix = doors();
  mix.doors = false;
  const Scenario scenario = make_scenario(5, mix);
  CHECK(scenario.doors == 0);
  CHECK(scenario.naives == 0);
}

TEST_CASE("an event of a door or a user that is not there is refused") {
  const std::string text = write_scenario(make_scenario(5, doors()));
  for (const std::string_view line :
       {"at 1ns use client=9 key=1", "at 1ns use client=1 key=1 other=9",
        "at 1ns use client=1 key=1 form=99", "at 1ns kill-door client=9",
        "at 1ns leave client=9"}) {
    CAPTURE(line);
    CHECK_FALSE(read_scenario(text + std::string(line) + "\n"));
  }
}

TEST_CASE_METHOD(Judged,
                 "the referee knows who was told free what somebody relied on all the time") {
  agenda.step(TrueTime(1s));
  const TrueTime before = agenda.now();
  agenda.step(TrueTime(2s));
  const Referee::HoldId alice = referee.begin(hold(1));
  referee.check_free(1, before, 2);  // asked before she had it
  CHECK_FALSE(referee.violation());

  SECTION("a request of another with the same value may have ended it") {
    referee.end(alice);
    const Referee::HoldId bob = referee.begin(hold(2));
    const auto is_over = referee.note_loose(alice);
    referee.check_free(1, agenda.now(), 3);
    CHECK_FALSE(referee.violation());
    is_over();
    referee.end(bob);
    agenda.step(TrueTime(3s));
    referee.begin(hold(2));
    referee.check_free(1, agenda.now(), 3);
    CHECK(referee.violation());
  }
  SECTION("else nobody has") {
    referee.check_free(1, agenda.now(), 2);
    REQUIRE(referee.violation());
    CHECK(referee.violation()->breach == Breach::told_free);
  }
  SECTION("an extension that begins anew is alone, or two hold it") {
    agenda.step(TrueTime(13s));
    referee.begin(hold(2));
    CHECK_FALSE(referee.violation());
    referee.extend_anew(alice, clock.at(agenda.now()) + 10s);
    REQUIRE(referee.violation());
    CHECK(referee.violation()->breach == Breach::overlap);
  }
}

TEST_CASE_METHOD(Judged,
                 "a hold may have been ended by its value before its holder was told of it") {
  agenda.step(TrueTime(2s));
  const Referee::HoldId alice = referee.begin(hold(1));
  const auto is_over = referee.note_loose(alice);
  agenda.step(TrueTime(3s));
  is_over();
  referee.end(alice);
  agenda.step(TrueTime(4s));
  Referee::Hold bobs = hold(2);
  bobs.granted = agenda.now() - 1s;

  referee.begin(bobs);
  referee.begin(hold(3));
  CHECK_FALSE(referee.violation());
  referee.begin(hold(2));  // what client 3 holds was granted later
  CHECK(referee.violation());
}
