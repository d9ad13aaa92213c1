// Every lock of the nodes: the walks of a list.
#include "coordinator/results/survey.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// How many nodes have it, by the locks' names.
std::string counted(const ListResult& result) {
  std::string text;
  for (const auto& [name, readings] : result.readings) {
    const auto holder = holder_of(readings, result.answers.size());
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, holder ? holder->nodes : 0);
  }
  return text;
}

}  // namespace

TEST_CASE("each node is walked page by page, and a name that comes twice counts once") {
  FakeNodes world;
  world.start();
  for (const char* name : {"a", "b", "c", "d"}) CHECK(world.acquire(name));
  world.node(2).forget();
  for (unsigned node = 1; node <= 5; ++node) world.log(node);
  CHECK(counted(world.list()) == "a: 4, b: 4, c: 4, d: 4");
  CHECK(world.log(1).starts_with("SCAN 0 MATCH * COUNT 200; EVALSHA holder 1 a"));
  CHECK(world.log(2) == "SCAN 0 MATCH * COUNT 200");
}

TEST_CASE("of a walk that comes to no end nothing counts, and it costs the node timeout") {
  FakeNodes world;
  world.start();
  for (const char* name : {"a", "b", "c", "d"}) CHECK(world.acquire(name));
  const Instant began = world.now();
  SECTION("a node that hangs in the midst of it") {
    world.node(4).hangs_at = "SCAN 1";
    const ListResult result = world.list();
    CHECK(counted(result) == "a: 4, b: 4, c: 4, d: 4");
    CHECK(result.answers[3].kind == AnswerKind::timed_out);
    CHECK(world.now() - began == world.group().options().node_timeout);
  }
  SECTION("a node that is gone") {
    world.node(4).down = true;
    world.cut(4);
    const ListResult result = world.list();
    CHECK(counted(result) == "a: 4, b: 4, c: 4, d: 4");
    CHECK_FALSE(result.answers[3].is_vote());
  }
}

TEST_CASE("a list that is given up asks nobody any more") {
  FakeNodes world;
  world.start();
  CHECK(world.acquire("a"));
  world.node(4).hangs_at = "SCAN";
  bool is_told = false;
  const OperationId list =
      world.group().list("*", world.now(), [&](const ListResult&) { is_told = true; });
  world.settle();
  world.group().cancel(list, world.now());
  world.advance(10s);
  CHECK_FALSE(is_told);
  CHECK(world.group().operations() == 0);
}
