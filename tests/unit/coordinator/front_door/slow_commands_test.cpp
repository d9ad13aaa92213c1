// Commands of a front door that take long: when they begin and run again, and what others get
// meanwhile (rules D2, D10).
#include "tests/support/door_world.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;

TEST_CASE("what takes long begins behind the output of its turn: an OK has its time (rule D2)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send("EVAL \"return redis.call('set',KEYS[1],'1','PX',10000)\" 1 printer");
  const auto now = world.nodes().now_of_both_clocks();
  world.door().act(now, world.nodes().now());
  CHECK(world.door().has_slow());
  CHECK(world.door().commands_under_way() == 0);
  world.door().act_behind_output(now, world.nodes().now());
  CHECK(world.door().commands_under_way() == 1);
  CHECK(alice.receive() == "+OK");
}

TEST_CASE("votes on what takes long are counted when they come, whatever rests meanwhile") {
  coordinator::FrontDoor::Options options;
  options.times.acquire_time = 100ms;
  DoorWorld world(5, 2, options);
  DoorClient alice = world.connect();
  world.host().look_takes = 60ms;
  const Instant asked = world.nodes().now();
  CHECK(alice("EVAL \"return redis.call('set',KEYS[1],'1','PX',10000)\" 1 printer") == "+OK");
  CHECK(world.nodes().now() - asked < 100ms);
}

TEST_CASE(
    "what takes long waits to run again for as long as it takes: that says nothing of nodes") {
  coordinator::FrontDoor::Options options;
  options.times.acquire_time = 50ms;
  DoorWorld world(5, 2, options);
  DoorClient alice = world.connect();
  DoorClient bob = world.connect(2);
  world.host().look_takes = 20ms;
  alice.send(
      "EVAL \"return {redis.call('set',KEYS[1],'1','NX','PX',10000) or redis.call('get',KEYS[1]),"
      "redis.call('set',KEYS[2],'1','NX','PX',10000)}\" 2 printer scanner");
  world.nodes().pass(60ms);  // both are free, and it waits to run
  world.host().look_takes = {};
  CHECK(bob("SET printer bob NX PX 10000") == "+OK");
  CHECK(bob("SET scanner bob NX PX 10000") == "+OK");
  CHECK(alice.receive() == "[\"bob\", (nil)]");
}

TEST_CASE("what was read, and waited to run until it may have changed, is read again (rule D2)") {
  coordinator::FrontDoor::Options options;
  options.times.acquire_time = 50ms;
  DoorWorld world(5, 2, options);
  DoorClient alice = world.connect();
  DoorClient bob = world.connect(2);
  CHECK(bob("SET printer bob NX PX 60") == "+OK");
  world.host().look_takes = 20ms;
  alice.send("EVAL \"return redis.call('get',KEYS[1]) or redis.call('pttl',KEYS[1])\" 1 printer");
  world.nodes().pass(20ms);  // it is bob's, as was read, and the script waits to run
  CHECK(world.door().stats().readings == 1);
  CHECK(world.door().has_slow());
  world.host().look_takes = {};
  CHECK(bob(kReleaseCall + "printer bob") == "(integer) 1");
  CHECK(alice.receive() == "(integer) -2");
}

TEST_CASE("scripts of lock libraries that are to run again at once do so in several turns (D10)") {
  const bool is_one_key = GENERATE(false, true);  // what one reads, all in its line learn
  CAPTURE(is_one_key);
  DoorWorld world;
  const std::string documented =
      "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) "
      "else return 0 end";
  std::vector<DoorClient> clients;
  for (int i = 0; i < 40; ++i) clients.push_back(world.connect());
  for (std::size_t i = 0; i < clients.size(); ++i) {
    clients[i].send({"EVAL", documented, "1", fmt::format("key{}", is_one_key ? 0 : i), "1"});
  }
  world.host().act();
  CHECK(world.door().commands_under_way() == 40);  // all wait for what the nodes hold
  world.host().look_takes = 200us;
  const std::uint64_t& runs = world.door().stats().runs;
  CHECK(runs == 40);
  world.nodes().run_until([&] { return runs > 40; });
  CHECK(runs < 80);
  for (DoorClient& client : clients) CHECK(client.receive() == "(integer) 0");
}

TEST_CASE("of what takes long and was left by clients that went, some goes on") {
  DoorWorld world;
  for (int i = 0; i < 200; ++i) {
    DoorClient client = world.connect();
    client.send(fmt::format("EVAL \"return redis.call('del',KEYS[1])\" 1 key{}", i));
    client.hang_up();
  }
  world.host().act();
  CHECK(world.door().commands_under_way() == 128);
  DoorClient alice = world.connect();
  CHECK(alice("EVAL \"return redis.call('del',KEYS[1])\" 1 printer") == "(integer) 0");
  world.nodes().pass(1s);
  CHECK(world.door().commands_under_way() == 0);
  CHECK(world.door().sessions().count() == 1);
}

// A machine on which the turn's time is over before the first command has begun.
TEST_CASE("a door begins one command a turn at least") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  world.host().look_takes = 50ms;
  alice.send("SET printer 1 NX PX 60000");
  bob.send("SET scanner 1 NX PX 60000");
  CHECK(alice.receive() == "+OK");
  CHECK(bob.receive() == "+OK");
}

TEST_CASE("what was read of a lock that runs out while the script waits is read again (rule D2)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect();
  DoorClient bob = world.connect(2);
  CHECK(bob("SET printer bob NX PX 1000") == "+OK");
  const server::Lock* const lock = world.nodes().node(1).locks().find("printer", {});
  world.nodes().pass(lock->deadline() - world.nodes().now() - 50ms);
  world.host().look_takes = 30ms;
  alice.send("EVAL \"return redis.call('get',KEYS[1])\" 1 printer");
  world.nodes().pass(10ms);
  CHECK(world.door().stats().readings == 1);
  CHECK(world.held_at("printer") == 5);
  world.host().look_takes = {};
  CHECK(alice.receive() == "(nil)");
  CHECK(world.door().stats().readings == 2);
}

// Another door ends the first lock meanwhile, so the script runs once more.
TEST_CASE("what an earlier commit took is told by its time, whenever it ran since (rule D2)") {
  const std::string kTakes =
      "local left = redis.call('pttl', KEYS[1]) "
      "redis.call('set', KEYS[2], 'me', 'NX', 'PX', 10000) "
      "if left > 0 then redis.call('del', KEYS[1]) end return left";
  const coordinator::DoorTimes times;
  unsigned in_between = 0;
  for (Duration later = 0ms; later < 8ms; later += 500us) {
    DoorWorld world(5, 2);
    DoorClient alice = world.connect(1);
    DoorClient bob = world.connect(2);
    REQUIRE(bob("SET if 1 NX PX 20000") == "+OK");
    alice.wire().is_held_up = true;
    alice.send(std::vector<std::string>{"EVAL", kTakes, "2", "if", "made"});
    world.nodes().pass(later);
    if (bob("DEL if") == "(integer) 0") continue;
    ++in_between;
    world.nodes().run_until([&] { return !alice.session().output().empty(); }, 1s);
    const Instant asked_by =
        world.nodes().node(1).locks().find("made", {})->deadline() - padded(10s, times);
    CHECK(world.door().send_by(alice.session()) <= asked_by + times.acquire_time);
  }
  CHECK(in_between > 0);
}
