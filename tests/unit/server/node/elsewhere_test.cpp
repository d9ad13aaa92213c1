// A node whose commands about keys somebody else executes, as a front door's sessions have it.
#include "tests/support/node_fixture.h"

#include <deque>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

// Answers each GET when it is told to, and none before.
struct SlowElsewhere final : Elsewhere {
  protocol::Reply execute(Call& call) override {
    asked.push_back(call.session.id());
    return protocol::Reply::later();
  }
  std::deque<protocol::Session::Id> asked;
};

class DoorWorld {
 public:
  DoorWorld() : node_(families(), settings_, start(), environment()), client_(node_, now_) {
    node_.begin_run(now_);
  }
  void send(std::string_view line) { client_.send(line, now_); }
  std::string receive() { return client_.receive(); }
  void answer(const protocol::Reply& reply) {
    protocol::Session& session = *node_.sessions().find(elsewhere_.asked.front());
    elsewhere_.asked.pop_front();
    node_.answer(session, reply, now_);
  }
  std::size_t asked() const { return elsewhere_.asked.size(); }
  Node& node() { return node_; }
  TestClient& client() { return client_; }
  Now now() const { return now_; }

 private:
  static Families families() {
    static const std::vector<Command> commands = [] {
      std::vector<Command> all;
      for (const Family family : all_families())
        all.insert(all.end(), family.begin(), family.end());
      for (Command& command : all) {
        if (command.spec.name == "get" || command.spec.name == "exec") command.run = run_elsewhere;
      }
      return all;
    }();
    static const Family family = commands;
    return {&family, 1};
  }
  static NodeStart start() {
    NodeStart start;
    start.run_id = std::string(40, 'a');
    start.started_at = Instant(24h);
    return start;
  }
  Node::Environment environment() {
    return {.inspect = [] { return ProcessFacts{}; }, .log = log_, .elsewhere = &elsewhere_};
  }

  Settings settings_;
  CollectedLog log_;
  SlowElsewhere elsewhere_;
  Now now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))};
  Node node_;
  TestClient client_;
};

}  // namespace

TEST_CASE("a command that is executed elsewhere is answered later, in its place") {
  DoorWorld world;
  world.send("GET a");
  world.send("PING");
  world.send("GET b");
  CHECK(world.asked() == 1);  // one client's commands, one after the other
  CHECK(world.receive() == "(none)");
  world.answer(protocol::Reply::bulk("alice"));
  CHECK(world.receive() == "\"alice\"");
  CHECK(world.receive() == "+PONG");
  CHECK(world.asked() == 1);
  world.answer(protocol::Reply::error("ERR no"));
  CHECK(world.receive() == "-ERR no");
  CHECK(world.node().stats().error_replies == 1);
}

TEST_CASE("what a node refuses never gets elsewhere, and what MULTI queues waits for EXEC") {
  DoorWorld world;
  world.send("GET");
  CHECK(world.receive().starts_with("-ERR wrong number of arguments"));
  world.send("MULTI");
  world.send("GET a");
  CHECK(world.receive() == "+OK");
  CHECK(world.receive() == "+QUEUED");
  CHECK(world.asked() == 0);
  world.send("EXEC");
  CHECK(world.asked() == 1);
  const std::vector<std::string_view> words = {"CLIENT", "SETNAME", "alice"};
  CHECK(world.node().run_queued(world.client().session(), words, world.now()).to_string() == "+OK");
  CHECK(world.client().session().name == "alice");
}
