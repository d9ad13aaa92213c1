// A front door gives a held lock another value (rule D9): counts of reentrant locks, counters,
// SETs over what is there.
#include "coordinator/front_door/records/record.h"
#include "tests/support/door_world.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using Catch::Contains;

namespace {

// As Redisson takes a reentrant lock, extends it, and gives it back.
const std::string kLock =
    "EVAL \"if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) "
    "== 1)) then redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], "
    "ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);\" 1 ";
const std::string kUnlock =
    "EVAL \"if (redis.call('hexists', KEYS[1], ARGV[2]) == 0) then return nil; end; local counter "
    "= redis.call('hincrby', KEYS[1], ARGV[2], -1); if (counter > 0) then redis.call('pexpire', "
    "KEYS[1], ARGV[1]); return 0; else redis.call('del', KEYS[1]); return 1; end;\" 1 ";

Duration left_at(DoorWorld& world, unsigned node, std::string_view key) {
  const server::Lock* lock = world.nodes().node(node).locks().find(key, world.nodes().now());
  return lock == nullptr ? Duration::zero() : lock->deadline() - world.nodes().now();
}

std::string value_at(DoorWorld& world, unsigned node, std::string_view key) {
  const server::Lock* lock = world.nodes().node(node).locks().find(key, world.nodes().now());
  return lock == nullptr ? "" : std::string(lock->value());
}

// As another door does that reaches these nodes alone.
void replace_at(DoorWorld& world, std::vector<unsigned> nodes, std::string_view payload) {
  unsigned char number = 0;
  const RandomBytes bytes = [&](std::span<unsigned char> to) {
    for (unsigned char& byte : to) byte = ++number;
  };
  const std::string before = value_at(world, nodes[0], "printer");
  NodeWorld::Client& door = world.nodes().new_client(std::move(nodes));
  world.nodes().pass(20ms);
  bool is_done = false;
  door.group().extend({.name = "printer",
                       .value = before,
                       .ttl = 15s,
                       .replacement = next_record(before, server::LockKind::text, payload, bytes)},
                      world.nodes().now(), [&](const ExtendResult& result) {
                        is_done = result.outcome == ExtensionOutcome::extended;
                      });
  world.nodes().pass(20ms);
  CHECK(is_done);
}

}  // namespace

TEST_CASE("a reentrant lock is counted up and down, and is its holder's until zero (rule D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice(kLock + "printer 10000 alice:1") == "(nil)");
  CHECK(alice(kLock + "printer 10000 alice:1") == "(nil)");
  CHECK(alice(kLock + "printer 10000 alice:1") == "(nil)");
  CHECK(alice("HGET printer alice:1") == "\"3\"");
  CHECK_THAT(bob(kLock + "printer 10000 bob:1"), Contains("(integer) 9") || Contains("10000"));
  CHECK(bob(kUnlock + "printer 10000 bob:1") == "(nil)");
  CHECK(alice(kUnlock + "printer 10000 alice:1") == "(integer) 0");
  CHECK(alice(kUnlock + "printer 10000 alice:1") == "(integer) 0");
  CHECK(alice("HGET printer alice:1") == "\"1\"");
  CHECK(alice(kUnlock + "printer 10000 alice:1") == "(integer) 1");
  CHECK(bob(kLock + "printer 10000 bob:1") == "(nil)");
  CHECK(bob("HGETALL printer") == "[\"bob:1\", \"1\"]");
  CHECK(world.door().stats().replaced == 4);
}

TEST_CASE("two doors count one lock, as its holder goes from one to the other (rule D9)") {
  DoorWorld world(5, 2);
  DoorClient here = world.connect(1);
  DoorClient there = world.connect(2);
  CHECK(here(kLock + "printer 10000 alice:1") == "(nil)");
  for (int i = 0; i < 20; ++i) {
    CHECK(there(kLock + "printer 10000 alice:1") == "(nil)");
    CHECK(here(kLock + "printer 10000 alice:1") == "(nil)");
    CHECK(there(kUnlock + "printer 10000 alice:1") == "(integer) 0");
    CHECK(here("HGET printer alice:1") == std::string("\"") + std::to_string(i + 2) + "\"");
  }
}

TEST_CASE("what is replaced keeps its deadline, or gets the one that it is given (rule D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 5 NX PX 10000") == "+OK");
  const Duration before = left_at(world, 1, "printer");
  for (int i = 0; i < 50; ++i) alice("INCR printer");
  CHECK(alice("GET printer") == "\"55\"");
  CHECK(left_at(world, 1, "printer") <= before);
  CHECK(alice("SET printer bob KEEPTTL") == "+OK");
  CHECK(left_at(world, 1, "printer") <= before);
  CHECK(left_at(world, 1, "printer") > before - 1s);
  CHECK(alice("SET printer carol PX 2000") == "+OK");
  CHECK(left_at(world, 1, "printer") < 4s);
  CHECK(alice("SET printer eve GET PX 30000") == "\"carol\"");
  CHECK(left_at(world, 1, "printer") > 30s);
  CHECK(alice("GET printer") == "\"eve\"");
  CHECK(alice("DEL printer") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("a kind may be replaced by another") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("HSET printer a 1") == "(integer) 1");
  CHECK(alice("SET printer alice PX 10000") == "+OK");
  CHECK(alice("GET printer") == "\"alice\"");
  CHECK_THAT(alice("HSET printer a 1"), Contains("WRONGTYPE"));
}

TEST_CASE("with two nodes down a lock is replaced; with three it says so, and is as it was") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().refuse(4);
  world.nodes().hang(5);
  CHECK(alice("INCR printer") == "(integer) 2");
  world.nodes().hang(3);
  CHECK_THAT(alice("INCR printer"), Contains("ERR NOQUORUM"));
  world.nodes().hang(3, false);
  world.nodes().hang(5, false);
  world.nodes().pass(1s);
  CHECK(alice("GET printer") == "\"2\"");  // it was not even read
  CHECK(alice("INCR printer") == "(integer) 3");
}

TEST_CASE("a replacement of which too few heard is finished by whoever reads next (rule D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  replace_at(world, {1, 2}, "2");
  CHECK(alice("GET printer") == "\"1\"");  // a quorum has it
  world.nodes().node(5).grants().release("printer", world.nodes().now());
  CHECK(alice("GET printer") == "\"2\"");  // none has: so the later one may have been told of
  CHECK(alice("INCR printer") == "(integer) 3");
  CHECK(alice("DEL printer") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("two values of which none can come to a quorum are told to nobody (rule D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  world.nodes().node(5).grants().release("printer", world.nodes().now());
  replace_at(world, {1, 2}, "2");
  replace_at(world, {3, 4}, "3");
  CHECK_THAT(alice("GET printer"), Contains("ERR NOQUORUM who holds it cannot be told"));
  CHECK_THAT(alice("INCR printer"), Contains("ERR NOQUORUM"));
  CHECK(alice("SET printer bob NX PX 10000") == "(nil)");
  CHECK(alice("DEL printer") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
  CHECK(alice("SET printer bob NX PX 10000") == "+OK");
}

// Three nodes stand still from some moment of the replacements on, until the door has given up.
TEST_CASE("two counters of an EXEC that is partly done are counted once each, or not (rule D9)") {
  int partly_done = 0;
  for (int step = 0; step < 40; ++step) {
    INFO("step " << step);
    DoorWorld world;
    DoorClient alice = world.connect();
    CHECK(alice("SET a 1 NX PX 60000") == "+OK");
    CHECK(alice("SET b 1 NX PX 60000") == "+OK");
    world.nodes().pass(10ms);
    for (const char* line : {"MULTI", "INCR a", "INCR b"}) alice(line);
    alice.send("EXEC");
    world.nodes().pass(step * 100us);
    for (const unsigned node : {3U, 4U, 5U}) world.nodes().hang(node);
    world.nodes().pass(200ms);
    const bool is_partly = value_at(world, 1, "a") != value_at(world, 5, "a") &&
                           value_at(world, 1, "b") != value_at(world, 5, "b");
    partly_done += is_partly ? 1 : 0;
    world.nodes().pass(step % 2 == 0 ? 1s : 200ms);
    for (const unsigned node : {3U, 4U, 5U}) world.nodes().hang(node, false);
    const std::string told = alice.receive();
    const std::string a = alice("GET a");
    const std::string b = alice("GET b");
    INFO(told << " " << a << " " << b);
    if (told == "[(integer) 2, (integer) 2]") {
      CHECK(a == "\"2\"");
      CHECK(b == "\"2\"");
    } else {
      CHECK_THAT(told, Contains("ERR NOQUORUM 2 of 5 nodes answered"));
      CHECK((told.find("it may have been done") != std::string::npos) == is_partly);
      CHECK((a == "\"1\"" || a == "\"2\""));
      CHECK((b == "\"1\"" || b == "\"2\""));
    }
  }
  CHECK(partly_done > 0);
}

TEST_CASE("a value of a direct client's is not replaced, and a lost node is topped up") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  world.nodes().node(2).grants().release("printer", world.nodes().now());
  CHECK(alice("INCR printer") == "(integer) 2");
  world.nodes().pass(10ms);
  CHECK(value_at(world, 2, "printer").ends_with("2"));
  CHECK(value_at(world, 2, "printer") == value_at(world, 1, "printer"));
}

TEST_CASE("a lock that is about to run out gets no other value, and says what to do (rule D9)") {
  FrontDoor::Options options;
  options.times.acquire_time = options.times.reply_time = 100ms;
  DoorWorld world(5, 1, options);
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 2000") == "+OK");
  world.nodes().pass(1500ms);
  CHECK(
      alice("INCR printer") ==
      "-ERR this lock runs out too soon to get another value, for which the nodes have to keep it "
      "for 1000 ms, two node timeouts: extend it first");
  CHECK(alice("PEXPIRE printer 2000") == "(integer) 1");
  CHECK(alice("INCR printer") == "(integer) 2");
}

TEST_CASE("what a release frees stays free at nodes that missed a replacement (rules D7, D9)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  world.nodes().refuse(5);
  CHECK(alice("INCR printer") == "(integer) 2");
  world.nodes().refuse(5, false);
  world.nodes().pass(2s);
  CHECK(value_at(world, 5, "printer").ends_with("1"));
  CHECK(alice("EVAL \"if redis.call('get',KEYS[1])=='2' and redis.call('pttl',KEYS[1])>0 then "
              "return redis.call('del',KEYS[1]) end return 0\" 1 printer") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("one node that lets go of a value that was replaced releases nothing (rules D7, D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  replace_at(world, {1, 2, 4, 5}, "2");
  CHECK(alice("DELIFEQ printer 1") == "(integer) 0");  // it guesses that the value is as it was
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 4);
  CHECK(alice("DELIFEQ printer 2") == "(integer) 1");
}

TEST_CASE("a release that a quorum has not is one where the lock is gone (rules D7, D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  for (const unsigned node : {2u, 3u, 4u}) {
    world.nodes().node(node).grants().release("printer", world.nodes().now());
  }
  CHECK(alice("DELIFEQ printer 1") == "(integer) 1");
  CHECK(world.door().stats().released == 1);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("a node that was stopped keeps nothing of a lock that is released (rules Q3, D9)") {
  DoorWorld world(5, 3);
  DoorClient alice = world.connect(1);
  CHECK(alice("SET printer 0 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  world.nodes().hang(5);
  for (unsigned i = 0; i < 9; ++i) {
    DoorClient there = world.connect(1 + i % 3);
    CHECK(there("INCR printer") == "(integer) " + std::to_string(i + 1));
  }
  DoorClient there = world.connect(3);
  CHECK(there("DEL printer") == "(integer) 1");
  world.nodes().pass(3s);
  world.nodes().hang(5, false);
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("what some nodes alone have of a released lock goes with it (rule D9)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer 1 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  replace_at(world, {1, 2}, "2");  // as a door that has died has left it
  CHECK(alice("DEL printer") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("what is behind a creation may have been done, so that stays (rule D7)") {
  const std::string unlock =
      "EVAL \"if redis.call('exists',KEYS[2])==1 then return 'before' end "
      "redis.call('decr',KEYS[1]) "
      "redis.call('set',KEYS[2],'1','PX',20000) return 'now'\" 2 printer latch";
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  CHECK(alice("SET printer 2 NX PX 20000") == "+OK");
  world.nodes().pass(10ms);
  alice.send(unlock);
  world.nodes().run_until(
      [&] {
        world.host(1).act();
        return world.held_at("latch") == 5;
      },
      100ms);
  CHECK(world.held_at("latch") == 5);
  world.nodes().pass(1ms);  // the grants are told
  for (const unsigned node : {3u, 4u, 5u}) world.nodes().hang(node);
  alice.hang_up();  // and sends it again elsewhere
  world.nodes().pass(2s);
  for (const unsigned node : {3u, 4u, 5u}) world.nodes().hang(node, false);
  world.nodes().pass(2s);
  CHECK(world.held_at("latch") == 5);
  CHECK(value_at(world, 1, "printer").ends_with("1"));
  DoorClient again = world.connect(2);
  CHECK(again(unlock) == "\"before\"");
  CHECK(again("GET printer") == "\"1\"");
}

TEST_CASE("LOCK.EXTEND tells no token of a lock whose value was replaced (rule F3)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("LOCK.ACQUIRE printer alice PX 10000 LABEL web3") ==
        "[(integer) 1, (integer) 1, (integer) 10000]");
  CHECK(alice("SET printer bob PX 10000") == "+OK");
  CHECK(alice("LOCK.EXTEND printer alice PX 10000") == "[(integer) 0]");
  CHECK(alice("LOCK.EXTEND printer bob PX 10000") == "[(integer) 1, (integer) 0, (integer) 10000]");
  CHECK_THAT(alice("LOCK.HOLDER printer"), Contains("\"bob\"") && !Contains("web3"));
}

// --- Redisson's FencedLock

namespace {

const std::string kFencedLock =
    "EVALSHA 49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45 2 printer redisson_lock_token:{printer} ";
const std::string kFencedLockUntold =
    "EVALSHA 46b5551ba403d6152a7a6eca122e08728d6c8c66 2 printer redisson_lock_token:{printer} ";

}  // namespace

TEST_CASE("a FencedLock has the token of the quorum in place of its counter (rule F3)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  CHECK(alice(kFencedLock + "10000 alice:1") == "[(integer) -1, (integer) 1]");
  CHECK(alice(kFencedLock + "10000 alice:1") == "[(integer) -1, (integer) 1]");  // reentrant
  CHECK(alice("GET redisson_lock_token:{printer}") == "\"1\"");
  CHECK(alice("HGET printer alice:1") == "\"2\"");
  CHECK_THAT(bob(kFencedLock + "10000 bob:1"),
             Contains("(integer) -1]") && Contains("[(integer) "));
  CHECK(alice("DEL printer") == "(integer) 1");
  CHECK(alice("GET redisson_lock_token:{printer}") == "(nil)");
  CHECK(bob(kFencedLock + "10000 bob:1") == "[(integer) -1, (integer) 2]");
  CHECK(bob("DEL printer") == "(integer) 1");
  CHECK(alice(kFencedLockUntold + "10000 alice:1") == "(nil)");
  CHECK(bob("GET redisson_lock_token:{printer}") == "\"3\"");
  CHECK(world.held_at("redisson_lock_token:{printer}") == 0);
}

TEST_CASE(
    "a FencedLock's token is of whom it was given to, and of nobody who took its place (F3)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice(kFencedLock + "10000 alice:1") == "[(integer) -1, (integer) 1]");
  for (const char* command :
       {"MULTI", "DEL printer", "HINCRBY printer bob:1 1", "PEXPIRE printer 10000"}) {
    bob(command);
  }
  CHECK(bob("EXEC") == "[(integer) 1, (integer) 1, (integer) 1]");
  CHECK_THAT(bob(kFencedLock + "10000 bob:1"), Contains("no one fencing token"));
  CHECK(bob("GET redisson_lock_token:{printer}") == "(nil)");
  CHECK(bob("DEL printer") == "(integer) 1");
  CHECK(alice("LOCK.ACQUIRE printer alice PX 10000") ==
        "[(integer) 1, (integer) 2, (integer) 10000]");
  CHECK(bob("SET printer bob XX PX 10000") == "+OK");
  CHECK(bob("GET redisson_lock_token:{printer}") == "(nil)");
}

TEST_CASE("a FencedLock's counter is made by no other command: it would count no tokens (F3)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice(kFencedLock + "10000 alice:1") == "+QUEUED");
  CHECK_THAT(alice("EXEC"), Contains("-ERR at a front door the token of a lock takes"));
  CHECK_THAT(alice("INCR redisson_lock_token:{printer}"), Contains("-ERR at a front door"));
  CHECK(world.held_at("printer") == 0);
  CHECK(world.held_at("redisson_lock_token:{printer}") == 0);
  CHECK(alice("DEL printer redisson_lock_token:{printer}") == "(integer) 0");
}

TEST_CASE("a FencedLock is not got where too few nodes give tokens (rule F4)") {
  DoorWorld world;
  for (const unsigned node : {1u, 2u, 3u}) world.nodes().node(node).grants().unfence();
  DoorClient alice = world.connect();
  CHECK_THAT(alice(kFencedLock + "10000 alice:1"), Contains("ERR no fencing token"));
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
}
