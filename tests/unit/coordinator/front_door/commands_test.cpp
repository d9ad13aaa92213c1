// Commands of a front door of which something comes in between: another client, the nodes, or the
// end of their own (rules D3 to D5, D7).
#include "tests/support/door_world.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;

namespace {

const std::string kDeleteAndTake =
    "EVAL \"redis.call('del', KEYS[1]) redis.call('set', KEYS[2], ARGV[1], 'PX', 10000) return 1\" "
    "2 a b 1";
const std::string kTakeBoth =
    "EVAL \"if redis.call('exists', KEYS[2]) == 1 then return 0 end "
    "for i = 1, 2 do redis.call('set', KEYS[i], ARGV[1], 'PX', 10000) end return 1\" 2 a b 1";

// At all nodes, by one of their own clients.
void take_directly(DoorWorld& world, const std::string& key, Duration ttl = 10s) {
  const Instant deadline = later(world.nodes().now(), ttl);
  for (unsigned number = 1; number <= 5; ++number) {
    REQUIRE(world.nodes().node(number).grants().restore(
        {key, "direct", deadline, 0, server::LockKind::text}));
  }
}

// In the answer of LOCK.HOLDER: [value, ms left, token, ...].
std::string token_told(const std::string& holder) {
  std::string::size_type from = 0;
  for (int item = 0; item < 2; ++item) from = holder.find(", ", from) + 2;
  return holder.substr(from, holder.find(',', from) - from);
}

}  // namespace

TEST_CASE("a door that stops gives back what scripts and transactions are taking (D6)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  const bool is_begun = GENERATE(false, true);
  const bool is_script = GENERATE(false, true);
  CAPTURE(is_begun, is_script);
  if (is_script) {
    alice.send("EVAL \"return redis.call('set',KEYS[1],'1','PX',10000)\" 1 printer");
  } else {
    CHECK(alice("MULTI") == "+OK");
    CHECK(alice("SET printer 1 PX 10000") == "+QUEUED");
    alice.send("EXEC");
  }
  if (is_begun) world.host().act();
  world.door().stop();
  world.nodes().pass(10ms);
  CHECK(alice.receive() == "-ERR this front door is stopping: ask another one");
  CHECK(world.door().is_stopped());
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("what is not certain is no answer, but to who only wants the lock (rule D3)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  world.nodes().node(3).grants().release("printer", world.nodes().now());
  world.nodes().hang(4);
  world.nodes().hang(5);
  CHECK(bob("GET printer").starts_with("-ERR NOQUORUM who holds it cannot be told"));
  CHECK(bob("EXISTS printer").starts_with("-ERR NOQUORUM who holds it cannot be told"));
  CHECK(bob("SET printer bob NX PX 10000") == "(nil)");
}

TEST_CASE("a script whose releases take too long tells of no lock, and leaves it (D2, D7)") {
  coordinator::FrontDoor::Options options;
  options.times.acquire_time = 3ms;
  DoorWorld world(5, 1, options);
  DoorClient alice = world.connect();
  CHECK(alice("SET a 1 NX PX 10000") == "+OK");
  CHECK(alice(kDeleteAndTake).ends_with("the lock may live for longer, do not count on it"));
  world.nodes().pass(1s);
  CHECK(world.held_at("a") == 0);
  CHECK(world.held_at("b") == 5);
}

TEST_CASE("what does more than take locks goes on without its client, and stays (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("SET a 1 NX PX 10000") == "+OK");
  alice.send(kDeleteAndTake);
  world.host().act();
  SECTION("gone while the nodes are asked to take") {
    world.nodes().pass(3ms);
    alice.hang_up();
  }
  SECTION("gone when the answer is there") {
    alice.wire().takes_nothing = true;
    CHECK(alice.receive(1s) == "(closed)");
  }
  world.nodes().pass(1s);
  CHECK(world.held_at("a") == 0);
  CHECK(world.held_at("b") == 5);
}

TEST_CASE("a script that is found to take locks alone ends with its client (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send(kTakeBoth);
  world.host().act();
  world.nodes().pass(1ms);
  alice.hang_up();
  world.nodes().pass(1s);
  CHECK(world.held_at("a") == 0);
  CHECK(world.held_at("b") == 0);
}

TEST_CASE("of locks that are taken together none stays where one is not got (rule D7)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send(kTakeBoth);
  world.host().act();
  world.nodes().pass(2ms);  // both were read
  REQUIRE(world.nodes().calls("lock.acquire") == 0);
  take_directly(world, "b");
  CHECK(alice.receive(1s) == "(integer) 0");
  world.nodes().pass(1s);
  CHECK(world.held_at("a") == 0);
  CHECK(world.held_at("b") == 5);
}

TEST_CASE("what keeps a command from its rest does not say that nothing was done (rule D7)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  CHECK(alice("SET a 5 NX PX 10000") == "+OK");
  CHECK(alice("SET b 5 NX PX 10000") == "+OK");
  bob.send("INCR b");
  world.host(2).act();
  world.nodes().pass(3ms);  // his INCR is just before hers
  alice.send(
      "EVAL \"redis.call('incr', KEYS[1]) if redis.call('incr', KEYS[2]) == 7 then "
      "for i = 1, 70 do redis.call('get', 'key' .. i) end end return 1\" 2 a b");
  world.host().act();
  CHECK(alice.receive(1s).starts_with("-ERR the locks changed under way, and this was done in p"));
  CHECK(bob.receive(1s) == "(integer) 6");
  CHECK(bob("GET a") == "\"6\"");
}

// The deadline that is brought forward may be so wherever that arrives, now or later.
TEST_CASE("a creation that a later run does not want stays where more was sent (rule D7)") {
  const std::string kUnwanted =
      "if redis.call('get', KEYS[1]) then redis.call('set', KEYS[2], 'me', 'NX', 'PX', 10000) "
      "redis.call('pexpire', KEYS[1], 5000) end return 1";
  const std::string kWantedForLonger =
      "local ttl = redis.call('get', KEYS[1]) and 10000 or 20000 "
      "redis.call('set', KEYS[2], 'me', 'NX', 'PX', ttl) redis.call('pexpire', KEYS[1], 5000)";
  for (const std::string& script : {kUnwanted, kWantedForLonger}) {
    unsigned in_between = 0;
    for (Duration later = 0ms; later < 8ms; later += 500us) {
      DoorWorld world(5, 2);
      DoorClient alice = world.connect(1);
      DoorClient bob = world.connect(2);
      REQUIRE(bob("SET short 1 NX PX 20000") == "+OK");
      alice.send(std::vector<std::string>{"EVAL", script, "2", "short", "made"});
      world.nodes().pass(later);
      bob("DEL short");
      const std::string answer = alice.receive(2s);
      world.nodes().pass(100ms);
      if (!answer.starts_with("-ERR the locks changed under way, and this was done in p")) continue;
      ++in_between;
      CHECK(world.held_at("made") == 5);
    }
    CHECK(in_between > 0);
  }
}

TEST_CASE("a lock that ends at an instant is taken once, however often a script runs for it") {
  const std::string takes =
      "local there = redis.call('get', KEYS[1]) "
      "redis.call('set', KEYS[2], 'me', 'NX', 'PXAT', ARGV[1]) "
      "if there then redis.call('del', KEYS[1]) end return 1";
  unsigned run_again = 0;
  for (Duration later = 0ms; later < 8ms; later += 500us) {
    DoorWorld world(5, 2);
    DoorClient alice = world.connect(1);
    DoorClient bob = world.connect(2);
    REQUIRE(bob("SET if 1 NX PX 20000") == "+OK");
    const WallTime ends = world.nodes().now_of_both_clocks().wall + 10s;
    alice.send({"EVAL", takes, "2", "if", "made", fmt::to_string(ends.time_since_epoch() / 1ms)});
    world.nodes().pass(later);
    bob("DEL if");
    CHECK(alice.receive() == "(integer) 1");
    if (world.door().stats().runs > 2) ++run_again;
    CHECK(world.nodes().node(1).stats().granted == 2);  // bob's, and this one
  }
  CHECK(run_again > 0);
}

TEST_CASE("a lock that has no deadline at the nodes has none at a door") {
  DoorWorld world;
  DoorClient alice = world.connect();
  take_directly(world, "printer", Duration::max());
  for (const std::string command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}) {
    CHECK(alice(command + " printer") == "(integer) -1");
  }
  CHECK(alice("LOCK.ACQUIRE printer 1 PX 1000") == "[(integer) 0, (integer) -1]");
}

TEST_CASE("of a lock that is held something is left, however long it took to say so (rule D2)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  take_directly(world, "printer", 500ms);
  alice.send("LOCK.HOLDER printer");
  world.host().act();
  world.host().look_takes = 20ms;
  CHECK(alice.receive().substr(0, 24) == "[\"direct\", (integer) 1, ");
}

TEST_CASE("what is the session's own in a transaction goes by the clock of the sessions") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("CLIENT PAUSE 100") == "+QUEUED");
  alice.send("EXEC");
  const Now now = world.nodes().now_of_both_clocks();
  world.door().act(now, now.monotonic + 8h);  // the machine was suspended for so long
  world.door().act_behind_output(now, now.monotonic + 8h);
  CHECK(alice.receive() == "[+OK]");
  CHECK(bob("PING") == "+PONG");
}

TEST_CASE("it is counted how long commands waited for their turn (rule D10)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("SET a 5 NX PX 10000") == "+OK");
  CHECK(world.door().stats().turn_waits.sum() == 0s);
  alice.send("INCR a");
  bob.send("INCR a");
  CHECK(alice.receive(1s) == "(integer) 6");
  CHECK(bob.receive(1s) == "(integer) 7");
  CHECK(world.door().stats().turn_waits.sum() > 0s);
  std::uint64_t waited = 0;
  for (const auto& bucket : world.door().stats().turn_waits.buckets()) waited += bucket.count;
  CHECK(waited == 1);
}

TEST_CASE("who waited long for its turn is told as much as who did not (rule D10)") {
  DoorWorld world;
  std::vector<DoorClient> clients;
  for (int i = 0; i < 300; ++i) clients.push_back(world.connect());
  CHECK(clients[0]("LOCK.ACQUIRE printer alice PX 60000").starts_with("[(integer) 1, "));
  for (DoorClient& client : clients) client.send("LOCK.EXTEND printer alice PX 50000");
  for (DoorClient& client : clients) {
    CHECK(client.receive(10s) == "[(integer) 1, (integer) 1, (integer) 50000]");
  }
}

TEST_CASE("EXEC does nothing where a watched lock is another's, be its value the same") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  CHECK(bob("SET printer 1 NX PX 10000") == "+OK");
  CHECK(alice("WATCH printer") == "+OK");
  CHECK(bob("DEL printer") == "(integer) 1");
  CHECK(bob("SET printer 1 NX PX 10000") == "+OK");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("DEL printer") == "+QUEUED");
  CHECK(alice("EXEC") == "(nil)");
  CHECK(world.held_at("printer") == 5);
}

TEST_CASE("EXEC does nothing where this door has moved a watched deadline, as in Redis") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(bob("SET printer 1 NX PX 10000") == "+OK");
  CHECK(alice("WATCH printer") == "+OK");
  CHECK(bob("PEXPIRE printer 20000") == "(integer) 1");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("DEL printer") == "+QUEUED");
  CHECK(alice("EXEC") == "(nil)");
  CHECK(world.held_at("printer") == 5);
}

TEST_CASE("LOCK.EXTEND tells a token that a quorum stores, or none (rule F4)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  const std::string got = alice("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(alice("LOCK.EXTEND printer alice PX 10000") == got);
  for (unsigned number = 1; number <= 3; ++number) {
    world.nodes().node(number).grants().set_token("printer", 100 + number);
  }
  CHECK(alice("LOCK.EXTEND printer alice PX 10000") ==
        "[(integer) 1, (integer) 0, (integer) 10000]");
}

TEST_CASE("LOCK.EXTEND tells the token of its quorum, whichever answer first (rule F5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  const std::string got = alice("LOCK.ACQUIRE printer alice PX 10000");
  for (unsigned number = 1; number <= 2; ++number) {
    world.nodes().node(number).grants().set_token("printer", number);
  }
  CHECK(alice("LOCK.EXTEND printer alice PX 10000") == got);
}

TEST_CASE("LOCK.HOLDER tells token and label behind another command, too (rule D10)") {
  const bool is_extended = GENERATE(false, true);
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  DoorClient carol = world.connect();
  CHECK(alice("LOCK.ACQUIRE printer alice PX 10000 LABEL host1").starts_with("[(integer) 1"));
  const std::string told = carol("LOCK.HOLDER printer");
  CHECK(told.find("host1") != std::string::npos);
  alice.send(is_extended ? "PEXPIRE printer 10000" : "GET printer");
  bob.send("LOCK.HOLDER printer");
  CHECK_FALSE(alice.receive().starts_with("-"));
  const std::string behind = bob.receive();
  CAPTURE(told, behind);
  CHECK(token_told(behind) == token_told(told));
  CHECK(behind.find("host1") != std::string::npos);
}

TEST_CASE("what said that it lacks a lock is topped up on that connection, or not at all (D8)") {
  const bool is_another_connection = GENERATE(false, true);
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  world.nodes().node(1).grants().release("printer", world.nodes().now());
  world.nodes().hang(4);
  world.nodes().hang(5);
  alice.send("PEXPIRE printer 20000");
  world.host().act();
  world.nodes().pass(10ms);  // one lacks it, two have it, two are still to answer
  if (is_another_connection) {
    world.nodes().refuse(1);
    world.nodes().refuse(1, false);
    world.nodes().pass(200ms);
  }
  world.nodes().hang(4, false);
  CHECK(alice.receive() == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == (is_another_connection ? 4 : 5));
  CHECK(world.host().group().figures().top_ups == (is_another_connection ? 0 : 1));
}

TEST_CASE("INFO tells which nodes hang, how fast the others are, and what was topped up") {
  DoorWorld world;
  DoorClient alice = world.connect();
  world.nodes().hang(2);
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  world.nodes().pass(700ms);
  const std::string nodes = alice("INFO nodes");
  CAPTURE(nodes);
  const auto has = [](const std::string& text, std::string_view field) {
    return text.find(field) != std::string::npos;
  };
  CHECK(has(nodes, "node0:addr=node1:6379,state=ready,rtt_us=2000,silent_ms=0,"));
  CHECK(has(nodes, "node1:addr=node2:6379,state=ready,rtt_us=2000,silent_ms=702,"));
  CHECK(has(alice("INFO frontdoor"), "nodes_granting:5\\r\\n"));
  CHECK(has(alice("INFO locks"), "topped_up:0\\r\\n"));
}

TEST_CASE("who waited for a lock with a label is told of as its holder, here and at the nodes") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 LABEL alice").starts_with("[(integer) 1"));
  bob.send("LOCK.ACQUIRE printer b PX 10000 WAIT 5000 LABEL 'bob of the night shift'");
  world.nodes().pass(2s);
  CHECK(alice("LOCK.HOLDER printer").find("\"alice\", (integer) 200") != std::string::npos);
  CHECK(alice("LOCK.RELEASE printer a") == "(integer) 1");
  CHECK(bob.receive().starts_with("[(integer) 1"));
  CHECK(alice("LOCK.HOLDER printer").find("bob of the night shift") != std::string::npos);
  const auto* lock = world.nodes().node(1).locks().find("printer", world.nodes().now());
  REQUIRE(lock != nullptr);
  CHECK(lock->label().text == "bob of the night shift");
}

TEST_CASE("options of LOCK.ACQUIRE that are none, or too long, are refused and take nothing") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 LABEL") == "-ERR syntax error");
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 LABEL a LABEL b") == "-ERR syntax error");
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 WAIT 1 WAIT 2") == "-ERR syntax error");
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 NAME alice") == "-ERR syntax error");
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 LABEL " + std::string(129, 'x'))
            .starts_with("-ERR a label of 129 bytes is too long: at most 128 are taken"));
  CHECK(alice("LOCK.ACQUIRE printer a PX 10000 WAIT soon").starts_with("-ERR "));
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("CONFIG RESETSTAT sets what a door counts to zero, its nodes' answers among it") {
  DoorWorld world;
  DoorClient alice = world.connect();
  REQUIRE(alice("SET printer 1 NX PX 10000") == "+OK");
  REQUIRE(alice("SET printer 2 NX PX 10000") == "(nil)");
  REQUIRE(alice("DEL printer") == "(integer) 1");
  const auto& stats = world.door().stats();
  const auto& link = world.host().group().link(0);
  REQUIRE(stats.granted + stats.refused_held + stats.released == 3);
  REQUIRE(link.votes().yes == 1);
  REQUIRE(link.round_trips().sum() > 0ns);
  CHECK(alice("CONFIG RESETSTAT") == "+OK");
  CHECK(stats.granted + stats.refused_held + stats.released == 0);
  CHECK(stats.grant_times.sum() == 0ns);
  CHECK(stats.left_at_release.sum() == 0ns);
  CHECK(link.votes().yes == 0);
  CHECK(link.round_trips().sum() == 0ns);
  REQUIRE(alice("SET printer 1 NX PX 10000") == "+OK");
  CHECK(stats.granted == 1);
}

TEST_CASE("what tells the time that a lock has left goes out in time, or not at all (rule D2)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  const auto comes_of = [&](std::string_view question) {
    alice.wire().takes_nothing = true;
    alice.send(question);
    return alice.receive(1s);
  };
  SECTION("by a command") {
    CHECK(comes_of("PTTL printer") == "(closed)");
  }
  SECTION("with who holds it") {
    CHECK(comes_of("LOCK.HOLDER printer") == "(closed)");
  }
  SECTION("by a script") {
    CHECK(comes_of("EVAL \"return redis.call('pttl', KEYS[1])\" 1 printer") == "(closed)");
  }
  SECTION("by a script that releases another") {
    CHECK(alice("SET other alice NX PX 10000") == "+OK");
    CHECK(comes_of("EVAL \"redis.call('del', KEYS[2]) return redis.call('pttl', KEYS[1])\" 2 "
                   "printer other") == "(closed)");
  }
  SECTION("not of one that is free, or is released with it") {
    CHECK(comes_of("PTTL other") == "(none)");
    CHECK(comes_of("EVAL \"local left = redis.call('pttl', KEYS[1]) redis.call('del', KEYS[1]) "
                   "return left\" 1 printer") == "(none)");
  }
  SECTION("nor what tells nothing of the time") {
    CHECK(comes_of("GET printer") == "(none)");
  }
  world.nodes().pass(1s);
  CHECK(world.door().stats().undone_gone == 0);
}
