// A front door over five real nodes: what its clients are told, and what the nodes hold.
#include "coordinator/front_door/served/door_errors.h"
#include "tests/support/door_world.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;

namespace {

const std::string kExtend =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],"
    "ARGV[2]) else return 0 end\" 1 ";
// redis-py's, which adds to what is left.
const std::string kAddTtl =
    "EVAL \"local token = redis.call('get', KEYS[1]) if not token or token ~= ARGV[1] then return "
    "0 end local expiration = redis.call('pttl', KEYS[1]) if not expiration then expiration = 0 "
    "end if expiration < 0 then return 0 end redis.call('pexpire', KEYS[1], expiration + ARGV[2]) "
    "return 1\" 1 ";

Duration left_at(DoorWorld& world, unsigned node, std::string_view key) {
  const server::Lock* lock = world.nodes().node(node).locks().find(key, world.nodes().now());
  return lock == nullptr ? Duration::zero() : lock->deadline() - world.nodes().now();
}

}  // namespace

TEST_CASE("the single-node recipe takes a lock at a quorum, and gives it back") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("PING") == "+PONG");
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(world.held_at("printer") == 5);
  CHECK(bob("SET printer bob NX PX 10000") == "(nil)");
  CHECK(bob("GET printer") == "\"alice\"");
  CHECK(bob(kReleaseCall + "printer bob") == "(integer) 0");
  CHECK(alice(kExtend + "printer alice 20000") == "(integer) 1");
  CHECK(alice(kReleaseCall + "printer alice") == "(integer) 1");
  world.nodes().pass(100ms);
  CHECK(world.held_at("printer") == 0);
  CHECK(bob("GET printer") == "(nil)");
  CHECK(bob("SET printer bob NX PX 10000") == "+OK");
}

TEST_CASE("two nodes that are down cost nothing; three make it an error that names them") {
  DoorWorld world;
  DoorClient alice = world.connect();
  world.nodes().refuse(4);
  world.nodes().hang(5);
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(alice("GET printer") == "\"alice\"");
  CHECK(alice(kExtend + "printer alice 20000") == "(integer) 1");
  CHECK(alice(kReleaseCall + "printer alice") == "(integer) 1");
  world.nodes().hang(3);
  const std::string error = alice("SET scanner alice NX PX 10000");
  CHECK(error.starts_with("-ERR NOQUORUM 2 of 5 nodes answered: "));
  CHECK(error.find("node3:6379") != std::string::npos);
  CHECK(alice("GET printer").starts_with("-ERR NOQUORUM"));
}

TEST_CASE("the nodes hold a lock for longer than its client asked for (rule D2)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  const coordinator::DoorTimes times;
  CHECK(left_at(world, 1, "printer") > coordinator::padded(10s, times) - 10ms);
  CHECK(alice("PTTL printer") == "(integer) 9996");
  world.nodes().pass(11s);
  CHECK(world.held_at("printer") == 5);
  CHECK(alice("PTTL printer") == "(integer) 1");
  CHECK(alice("SET printer bob NX PX 10000") == "(nil)");
  world.nodes().pass(1s);
  CHECK(alice("SET printer bob NX PX 10000") == "+OK");
}

TEST_CASE("an OK that comes too late for its client is none, and its lock is given back (D2)") {
  coordinator::FrontDoor::Options options;
  options.times.acquire_time = 3ms;
  DoorWorld world(5, 1, options, 2ms);
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000").starts_with("-ERR "));
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("an OK that the kernel does not take ends the connection, and its lock (rule D2)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send("SET printer alice NX PX 10000");
  alice.wire().takes_nothing = true;
  CHECK(alice.receive(1s) == "(closed)");
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
  CHECK(world.door().stats().undone_gone == 1);
}

TEST_CASE("a lock whose client goes before it is told is undone; a release goes on (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send("SET printer alice NX PX 10000");
  world.host().act();
  alice.hang_up();
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);

  DoorClient bob = world.connect();
  CHECK(bob("SET printer bob NX PX 10000") == "+OK");
  bob.send(kReleaseCall + "printer bob");
  bob.hang_up();
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);

  DoorClient carol = world.connect();
  CHECK(carol("SET printer carol NX PX 10000") == "+OK");
  carol.hang_up();
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 5);  // she was told
}

TEST_CASE("an undo leaves alone what somebody extended before it came (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send("SET printer alice NX PX 10000");
  alice.wire().takes_nothing = true;
  world.host().act();
  world.nodes().run_until([&] { return world.held_at("printer") == 5; }, 1s);
  const Instant now = world.nodes().now();
  for (const unsigned number : {1u, 2u, 3u}) {  // by another door, that has read it there
    world.nodes().node(number).grants().extend("printer", later(now, 20s), now);
  }
  CHECK(alice.receive(1s) == "(closed)");
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 3);
  CHECK(world.connect()("SET printer bob NX PX 10000") == "(nil)");
}

TEST_CASE("what stands behind a command of a client that has gone is executed (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  alice.send("GET printer");
  alice.send(kReleaseCall + "printer alice");
  alice.hang_up();
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("a client that has gone keeps the door from nobody (rule D5)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  alice.send("GET printer");
  SECTION("what only takes a lock asks no node") {
    for (int i = 0; i < 10; ++i) alice.send("SET lock-" + std::to_string(i) + " alice NX PX 10000");
    alice.hang_up();
    world.nodes().pass(1s);
  }
  SECTION("of very much nothing is executed") {
    for (int i = 0; i < 200; ++i) alice.send("PEXPIRE lock-" + std::to_string(i) + " 10000");
    const auto runs = world.door().stats().runs;
    alice.hang_up();
    world.nodes().pass(1ms);
    CHECK(world.door().sessions().all().empty());
    world.nodes().pass(1s);
    CHECK(world.door().stats().runs <= runs + 2);  // the one that was under way
  }
  CHECK(world.nodes().calls("lock.acquire") == 0);
  CHECK(world.door().sessions().all().empty());
}

TEST_CASE("a value may come twice: an undo never hits the next holder's (rule D1)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  for (int i = 0; i < 5; ++i) {
    CHECK(alice("SET printer 1 NX PX 10000") == "+OK");
    CHECK(bob("SET printer 1 NX PX 10000") == "(nil)");
    CHECK(alice(kReleaseCall + "printer 1") == "(integer) 1");
  }
  CHECK(bob("SET printer 1 NX PX 10000") == "+OK");
  world.nodes().pass(5s);
  CHECK(world.held_at("printer") == 5);
}

TEST_CASE("what a script makes of the time that is left goes by no guess (rule D4)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(bob("PEXPIRE printer 30000") == "(integer) 1");
  CHECK(alice("EVAL \"local left = redis.call('pttl', KEYS[1]) "
              "if left > 20000 and left < 40000 then return 0 end "
              "return redis.call('del', KEYS[1])\" 1 printer") == "(integer) 0");
  CHECK(world.held_at("printer") == 5);
}

TEST_CASE("a deadline that is later than a door believes is brought forward all the same (D4)") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(bob("PEXPIRE printer 30000") == "(integer) 1");
  CHECK(alice("PEXPIRE printer 15000") == "(integer) 1");
  CHECK(bob("PTTL printer") == "(integer) 14996");
  CHECK(alice("LOCK.EXTEND printer alice PX 12000") ==
        "[(integer) 1, (integer) 1, (integer) 12000]");
}

TEST_CASE("locks of the nodes' own clients are held for everybody, and changed by no door (D1)") {
  DoorWorld world;
  for (unsigned number = 1; number <= 5; ++number) {
    server::Node& node = world.nodes().node(number);
    server::TestClient direct(node, world.nodes().now_of_both_clocks());
    direct.send("SET printer direct NX PX 10000", world.nodes().now_of_both_clocks());
    direct.session().transport = nullptr;
    node.close_session(direct.session().id());
  }
  DoorClient alice = world.connect();
  CHECK(alice("GET printer") == "\"direct\"");
  CHECK(alice("SET printer alice NX PX 10000") == "(nil)");
  const std::string refusal = "-ERR held by a client of the nodes themselves: end it there";
  CHECK(alice("DEL printer") == refusal);
  CHECK(alice(kExtend + "printer direct 20000") == refusal);
  CHECK(alice(kReleaseCall + "printer alice") == "(integer) 0");
}

TEST_CASE("the deadline of a held lock is moved both ways (rule D4)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  CHECK(alice("SET printer alice XX PX 2000") == "+OK");
  CHECK(left_at(world, 1, "printer") < 4s);
  CHECK(alice(kAddTtl + "printer alice 5000") == "(integer) 1");
  const Duration left = left_at(world, 1, "printer");
  CHECK(left > 8s);
  CHECK(left < 9s);
}

TEST_CASE("a lock that one door takes another extends and releases") {
  DoorWorld world(5, 2);
  DoorClient here = world.connect(1);
  DoorClient there = world.connect(2);
  for (int i = 0; i < 20; ++i) {
    CHECK(here("SET printer 1 NX PX 10000") == "+OK");
    CHECK(there("SET printer 1 NX PX 10000") == "(nil)");
    CHECK(there(kExtend + "printer 1 20000") == "(integer) 1");
    CHECK(there(kAddTtl + "printer 1 5000") == "(integer) 1");
    CHECK(there(kReleaseCall + "printer 1") == "(integer) 1");
    CHECK(here(kReleaseCall + "printer 1") == "(integer) 0");
  }
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("releases for which little of the TTL was left are counted apart") {
  DoorWorld world;
  DoorClient alice = world.connect();
  const auto hold_for = [&](Duration length) {
    REQUIRE(alice("SET printer 1 NX PX 10000") == "+OK");
    world.nodes().pass(length);
    CHECK(alice(kReleaseCall + "printer 1") == "(integer) 1");
  };
  hold_for(7900ms);
  CHECK(world.door().stats().released_late == 0);
  hold_for(8100ms);
  CHECK(world.door().stats().released_late == 1);
  REQUIRE(alice("SET printer 1 NX PX 10000") == "+OK");
  world.nodes().pass(8s);
  CHECK(alice("PEXPIRE printer 10000") == "(integer) 1");
  world.nodes().pass(7s);
  CHECK(alice("DEL printer") == "(integer) 1");
  CHECK(world.door().stats().released == 3);
  CHECK(world.door().stats().released_late == 1);
  const auto left = world.door().stats().left_at_release;
  CHECK(left.buckets()[DurationBuckets::bucket_of(2100ms)].count == 2);
  CHECK(left.buckets()[DurationBuckets::bucket_of(2600ms)].count == 1);
  CHECK(left.sum() > 6900ms);
  CHECK(left.sum() < 7s);
}

TEST_CASE("a late release is counted, whoever has looked at the lock meanwhile") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  const auto hold = [&](const std::string& look, const std::string& release, Duration length) {
    const std::uint64_t before = world.door().stats().released_late;
    REQUIRE(alice("SET printer 1 NX PX 10000") == "+OK");
    REQUIRE(alice("SET other 1 NX PX 10000") == "+OK");
    world.nodes().pass(length / 2);
    bob(look);
    world.nodes().pass(length / 2);
    alice(release);
    alice("DEL printer other");
    return world.door().stats().released_late - before;
  };
  CHECK(hold("PING", "DEL printer", 9s) == 2);
  CHECK(hold("SET printer 2 NX PX 10000", "DEL printer", 9s) == 2);
  CHECK(hold("GET printer", "DEL printer", 9s) == 2);
  CHECK(hold("LOCK.HOLDER printer", "DEL printer", 9s) == 2);
  CHECK(hold("PING", "DEL printer other", 9s) == 2);
  CHECK(hold("PING", "DEL printer", 10500ms) >= 1);  // beyond its TTL
  CHECK(hold("GET printer", "DEL printer other", 5s) == 0);
}

TEST_CASE("what a script was told in a second run is what the nodes were asked for (rule D2)") {
  // It moves a deadline by what it reads, and another changes that in between.
  const std::string kMoves =
      "local ttl = redis.call('get', KEYS[2]) if not ttl then return {0, 0} end ";
  const std::string kEnds = " redis.call('del', KEYS[2]) return {1, tonumber(ttl)}";
  unsigned told_longer = 0;
  for (const std::string& moves :
       {kMoves + "redis.call('pexpire', KEYS[1], ttl)" + kEnds,
        kMoves + "redis.call('del', KEYS[1]) redis.call('set', KEYS[3], 'me', 'NX', 'PX', ttl)" +
            kEnds}) {
    for (Duration later = 0ms; later < 8ms; later += 500us) {
      DoorWorld world(5, 2);
      DoorClient alice = world.connect(1);
      DoorClient bob = world.connect(2);
      REQUIRE(alice("SET a me NX PX 2000") == "+OK");
      REQUIRE(bob("SET ttl 3000 NX PX 20000") == "+OK");
      alice.send(std::vector<std::string>{"EVAL", moves, "3", "a", "ttl", "made"});
      world.nodes().pass(later);
      REQUIRE(bob("DEL ttl") != "(none)");
      bob("SET ttl 25000 NX PX 20000");
      const protocol::Reply reply = [&] {
        alice.wait_for_answer();
        return alice.take_reply();
      }();
      if (!reply.is(protocol::Reply::Kind::array) || reply.items()[0].integer() == 0) continue;
      const auto ttl = std::chrono::milliseconds(reply.items()[1].integer());
      if (ttl > 3s) ++told_longer;
      world.nodes().pass(ttl - 100ms);
      CHECK(std::max(world.held_at("a"), world.held_at("made")) >= 3);
    }
  }
  CHECK(told_longer > 0);  // somebody came in between
}

TEST_CASE("what only the first run of a script wanted is undone, or told") {
  const std::string kIf = "if not redis.call('get', KEYS[1]) then return 0 end ";
  const std::string kTakes = kIf + "redis.call('set', KEYS[2], 'me', 'NX', 'PX', 10000) ";
  const std::string kExtends = kIf + "redis.call('pexpire', KEYS[2], 20000) ";
  const std::string kEnds = "redis.call('del', KEYS[1]) return 1";
  std::set<std::string> answers;
  for (const bool takes : {true, false}) {
    for (Duration later = 0ms; later < 8ms; later += 500us) {
      DoorWorld world(5, 2);
      DoorClient alice = world.connect(1);
      DoorClient bob = world.connect(2);
      REQUIRE(bob("SET if 1 NX PX 20000") == "+OK");
      if (!takes) REQUIRE(alice("SET made me NX PX 10000") == "+OK");
      alice.send(
          std::vector<std::string>{"EVAL", (takes ? kTakes : kExtends) + kEnds, "2", "if", "made"});
      world.nodes().pass(later);
      bob("DEL if");
      const std::string answer = alice.receive();
      world.nodes().pass(100ms);
      answers.insert(answer);
      if (takes && answer != "(integer) 1") CHECK(world.held_at("made") == 0);
      if (!takes && answer == "(integer) 0") {
        alice.send("PTTL made");
        alice.wait_for_answer();
        CHECK(alice.take_reply().integer() <= 10'000);
      }
    }
  }
  CHECK(answers == std::set<std::string>{"(integer) 0", "(integer) 1",
                                         "-" + std::string(coordinator::kDoneInPart)});
}

TEST_CASE("what an earlier commit took is told in time, or undone (rule D2)") {
  const std::string kTakes =
      "local there = redis.call('get', KEYS[1]) "
      "redis.call('set', KEYS[2], 'me', 'NX', 'PX', 10000) "
      "if there then redis.call('del', KEYS[1]) end return 1";
  unsigned in_between = 0;
  for (Duration later = 0ms; later < 8ms; later += 500us) {
    DoorWorld world(5, 2);
    DoorClient alice = world.connect(1);
    DoorClient bob = world.connect(2);
    REQUIRE(bob("SET if 1 NX PX 20000") == "+OK");
    alice.wire().takes_nothing = true;
    alice.send(std::vector<std::string>{"EVAL", kTakes, "2", "if", "made"});
    world.nodes().pass(later);
    // Who released something, too, has done what stays: that lock goes on (rule D5).
    if (bob("DEL if") == "(integer) 0") continue;
    ++in_between;
    world.nodes().pass(2s);
    CHECK(world.held_at("made") == 0);
  }
  CHECK(in_between > 0);
}

TEST_CASE("several keys are taken all or none, released all (rule D7)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  const std::string take =
      "EVAL \"if redis.call('exists', KEYS[1], KEYS[2]) > 0 then return 0 end for _, key in "
      "ipairs(KEYS) do redis.call('set', key, ARGV[1], 'PX', 10000) end return 2\" 2 a b ";
  CHECK(bob("SET b bob NX PX 10000") == "+OK");
  CHECK(alice(take + "alice") == "(integer) 0");
  world.nodes().pass(100ms);
  CHECK(world.held_at("a") == 0);
  CHECK(bob("DEL b") == "(integer) 1");
  CHECK(alice(take + "alice") == "(integer) 2");
  CHECK(world.held_at("a") == 5);
  CHECK(world.held_at("b") == 5);
  CHECK(alice("DEL a b c") == "(integer) 2");
  CHECK(alice("MGET a b") == "[(nil), (nil)]");
}

TEST_CASE("transactions, watches, and the session's own commands between MULTI and EXEC") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("SET a alice NX PX 10000") == "+QUEUED");
  CHECK(alice("CLIENT SETNAME alice") == "+QUEUED");
  CHECK(alice("CLIENT GETNAME") == "+QUEUED");
  CHECK(alice("GET a") == "+QUEUED");
  CHECK(alice("EXEC") == "[+OK, +OK, \"alice\", \"alice\"]");
  CHECK(alice("WATCH a") == "+OK");
  CHECK(bob("DEL a") == "(integer) 1");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("SET a again PX 10000") == "+QUEUED");
  CHECK(alice("EXEC") == "(nil)");
  CHECK(alice("GET a") == "(nil)");
  CHECK(alice("WATCH a") == "+OK");
  CHECK(alice("EXEC too many words").starts_with("-EXECABORT"));
  CHECK(bob("SET a bob PX 10000") == "+OK");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("GET a") == "+QUEUED");
  CHECK(alice("NOSUCH") == "-ERR unknown command 'NOSUCH', with args beginning with: ");
  CHECK(alice("EXEC").starts_with("-EXECABORT"));
  CHECK(alice("EXEC") == "-ERR EXEC without MULTI");
}

TEST_CASE("LOCK.* at a front door has a quorum's tokens, which rise (rule F3)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(alice("LOCK.ACQUIRE printer alice PX 10000") ==
        "[(integer) 1, (integer) 1, (integer) 10000]");
  CHECK(bob("LOCK.ACQUIRE printer bob PX 10000").starts_with("[(integer) 0, (integer) 99"));
  CHECK(bob("LOCK.HOLDER printer").starts_with("[\"alice\", (integer) 99"));
  CHECK(bob("LOCK.HOLDER printer").ends_with("(integer) 1]"));
  CHECK(alice("LOCK.EXTEND printer alice PX 20000") ==
        "[(integer) 1, (integer) 1, (integer) 20000]");
  CHECK(bob("LOCK.EXTEND printer bob PX 20000") == "[(integer) 0]");
  CHECK(bob("LOCK.RELEASE printer bob") == "(integer) 0");
  CHECK(alice("LOCK.RELEASE printer alice") == "(integer) 1");
  CHECK(alice("LOCK.HOLDER printer") == "(nil)");
  CHECK(bob("LOCK.ACQUIRE printer bob PX 10000") == "[(integer) 1, (integer) 2, (integer) 10000]");
  CHECK(bob("LOCK.CONFIRM printer bob 1").starts_with("-ERR not served by a front door"));
  CHECK(bob("LOCK.STATUS").find("\"quorum\", (integer) 3") != std::string::npos);
}

TEST_CASE("what a door will not take it refuses in words that are right of a door") {
  DoorWorld world;
  const std::string key(65'536, 'k');
  const std::string value(70'000, 'v');
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"SET", key, "v", "NX", "PX", "1000"},
       "a key of 65536 bytes is too long: at most 65535 are"},
      {{"SET", "k", value, "NX", "PX", "1000"}, "a value of 70000 bytes is too large: value-size-"},
      {{"LOCK.ACQUIRE", "k", value, "PX", "1000"},
       "a value of 70000 bytes is too large: value-size"},
      {{"PUBLISH", key, "text"}, "a channel of 65536 bytes is too long"},
      {{"SET", "k", "v", "NX"}, "(require-ttl is yes)"},
      {{"SET", "k", "v", "NX", "PX", "999999"}, "is above this front door's max-ttl"},
      {{"EVAL", "setmetatable({}, setmetatable({}, {}))", "0"}, "cannot be one in scripts here"},
      {{"CONFIG", "REWRITE"}, "the configuration file is the operator's"},
      {std::vector<std::string>(16'385, "DEL"), "16385 words, of which 16384 are taken at once"}};
  for (const auto& [request, words] : refused) {
    DoorClient alice = world.connect();
    CAPTURE(request[0]);
    alice.send(request);
    const std::string answer = alice.receive();
    CHECK_THAT(answer, Catch::StartsWith("-") && Catch::Contains(words));
    CHECK(answer.find("this node") == std::string::npos);
  }
  DoorClient bob = world.connect();
  CHECK(bob("MULTI") == "+OK");
  const std::vector<std::string> long_one = {"SET", "k", std::string(10 << 20, 'v')};
  bob.send(long_one);
  CHECK(bob.receive() == "+QUEUED");
  bob.send(long_one);
  CHECK(bob.receive() == "-ERR this transaction is too long");
}
