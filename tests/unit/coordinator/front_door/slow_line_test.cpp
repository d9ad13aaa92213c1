#include "coordinator/front_door/served/slow_line.h"

#include <set>

#include <catch2/catch.hpp>

using namespace redlock;
using coordinator::SlowLine;

namespace {

// A line of commands without bodies, and who of their clients has gone.
struct LineWorld {
  void push(protocol::Session::Id session, std::size_t bytes = 1) {
    line.push({session, nullptr, bytes});
  }
  // Who has no place.
  std::vector<protocol::Session::Id> set_aside() {
    std::vector<protocol::Session::Id> refused;
    const auto is_there = [this](protocol::Session::Id id) { return !gone.contains(id); };
    for (const auto& command : line.set_aside(is_there)) refused.push_back(command.session);
    return refused;
  }
  protocol::Session::Id take() {
    set_aside();
    return line.take().session;
  }

  SlowLine line;
  std::set<protocol::Session::Id> gone;
};

using Sessions = std::vector<protocol::Session::Id>;

}  // namespace

TEST_CASE("what takes long begins in the order in which it came") {
  LineWorld world;
  CHECK(world.line.empty());
  for (const auto session : {3, 1, 2}) world.push(session);
  for (const auto session : {3, 1, 2}) CHECK(world.take() == session);
  CHECK(world.line.empty());
}

TEST_CASE("of what was left by who has gone, no more than every second begins") {
  LineWorld world;
  world.gone = {1, 2, 3};
  for (const auto session : {1, 2, 3, 7, 8}) world.push(session);
  for (const auto session : {7, 1, 8, 2, 3}) CHECK(world.take() == session);
  CHECK(world.line.empty());
}

TEST_CASE("what was left by who has gone is bounded, in number") {
  LineWorld world;
  constexpr protocol::Session::Id kMax = SlowLine::kOfGoneMax;
  for (protocol::Session::Id id = 0; id < kMax + 2; ++id) {
    world.gone.insert(id);
    world.push(id);
  }
  CHECK(world.set_aside() == Sessions{kMax, kMax + 1});
}

TEST_CASE("what was left by who has gone is bounded, in bytes, until it begins") {
  LineWorld world;
  world.gone = {1, 2, 3, 4};
  world.push(1, SlowLine::kBytesOfGoneMax - 1);
  world.push(2, 2);
  world.push(3, 1);
  CHECK(world.set_aside() == Sessions{2});
  CHECK(world.take() == 1);
  world.push(4, SlowLine::kBytesOfGoneMax - 1);
  CHECK(world.set_aside().empty());
}
