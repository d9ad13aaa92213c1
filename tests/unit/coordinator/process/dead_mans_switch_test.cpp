#include "coordinator/process/dead_mans_switch.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using Deed = DeadMansSwitch::Deed;

namespace {

constexpr Instant at(Duration since_start) {
  return Instant(since_start);
}

}  // namespace

TEST_CASE("nothing is due before the instant; then the signal, once, and the kill, once") {
  DeadMansSwitch dead_mans_switch(3s);
  CHECK(dead_mans_switch.due(at(10s - 1ns), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.next_look(at(10s)) == at(10s));
  CHECK(dead_mans_switch.due(at(10s), at(10s)) == Deed::stop);
  CHECK(dead_mans_switch.is_overdue());
  CHECK(dead_mans_switch.due(at(10s), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.next_look(at(10s)) == at(13s));
  CHECK(dead_mans_switch.due(at(13s - 1ns), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.due(at(13s), at(10s)) == Deed::kill);
  CHECK(dead_mans_switch.due(at(14s), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.next_look(at(10s)) == kNever);
}

TEST_CASE("an instant that moves on in time is all that counts") {
  DeadMansSwitch dead_mans_switch(3s);
  CHECK(dead_mans_switch.due(at(9s), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.due(at(10s), at(20s)) == Deed::none);
  CHECK(dead_mans_switch.next_look(at(20s)) == at(20s));
  CHECK(dead_mans_switch.due(at(20s), at(20s)) == Deed::stop);
}

TEST_CASE("an instant that moves on too late brings nothing back") {
  DeadMansSwitch dead_mans_switch(3s);
  CHECK(dead_mans_switch.due(at(10s), at(10s)) == Deed::stop);
  CHECK(dead_mans_switch.due(at(13s), at(30s)) == Deed::kill);
}

TEST_CASE("whoever looks only when the kill is due kills at once, without a signal") {
  DeadMansSwitch dead_mans_switch(3s);
  CHECK(dead_mans_switch.due(at(13s), at(10s)) == Deed::kill);
  CHECK(dead_mans_switch.due(at(13s), at(10s)) == Deed::none);
}

TEST_CASE("the loop's word stops before the instant, and is not overdue") {
  DeadMansSwitch dead_mans_switch(3s);
  dead_mans_switch.stop_by(at(5s));
  CHECK(dead_mans_switch.due(at(4s), at(10s)) == Deed::stop);
  CHECK(dead_mans_switch.next_look(at(10s)) == at(5s));
  CHECK(dead_mans_switch.due(at(5s), at(10s)) == Deed::kill);
  CHECK_FALSE(dead_mans_switch.is_overdue());
}

TEST_CASE("of several words the earliest kill counts, and the signal is sent once") {
  DeadMansSwitch dead_mans_switch(3s);
  dead_mans_switch.stop_by(at(9s));
  CHECK(dead_mans_switch.due(at(4s), at(10s)) == Deed::stop);
  dead_mans_switch.stop_by(at(6s));
  dead_mans_switch.stop_by(at(8s));
  CHECK(dead_mans_switch.due(at(5s), at(10s)) == Deed::none);
  CHECK(dead_mans_switch.due(at(6s), at(10s)) == Deed::kill);
}

TEST_CASE("the death of the loop is a kill at once") {
  DeadMansSwitch dead_mans_switch(3s);
  dead_mans_switch.stop_by(Instant::min());
  CHECK(dead_mans_switch.due(at(0s), at(10s)) == Deed::kill);
}
