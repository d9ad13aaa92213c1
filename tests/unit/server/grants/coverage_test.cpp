// The node and its ledger: nobody is told of a lock before the ledger covers it (rules R4, R5, R8).
#include "server/commands/families.h"
#include "tests/support/busy_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

namespace {

NodeStart with_largest_ttl(Duration largest, std::uint64_t bound = 1'000'000) {
  NodeStart start;
  start.fence = {.first = 0, .bound = bound, .fenced = true};
  start.ledger = {.record = {std::string(40, 'a'), 1, largest, bound, true},
                  .latest_deadline = {},
                  .max_ttl = 60s,
                  .fence_block = 1'000,
                  .now = Instant(24h)};
  return start;
}

// A node with a ledger whose writes are done when the test says so.
struct LedgerFixture : NodeFixture {
  explicit LedgerFixture(Duration largest = 60s, std::uint64_t bound = 1'000'000)
      : NodeFixture({}, with_largest_ttl(largest, bound), &page) {}

  bool begin_write() { return node().begin_ledger_write(now()).has_value(); }
  void end_write(const Status& written = Done{}) { node().end_ledger_write(written, now()); }
  void write() {
    REQUIRE(begin_write());
    end_write();
  }
  Instant in(Duration d) { return now().monotonic + d; }

  PageInMemory page;
};

}  // namespace

TEST_CASE("a grant is in the ledger before its reply exists (rule R4)") {
  LedgerFixture node;
  CHECK(node("SET printer alice NX PX 30000") == "+OK");
  CHECK(node.page.latest == node.in(30s));
  CHECK(node("SET lamp bob NX PX 10000") == "+OK");
  CHECK(node.page.writes == 1);
  CHECK(node("PEXPIRE lamp 40000") == "(integer) 1");
  CHECK(node.page.latest == node.in(40s));
}

TEST_CASE("a script tells what it leaves behind, not what it set on the way (rule R4)") {
  LedgerFixture node;
  CHECK(node("EVAL \"redis.call('setnx', KEYS[1], 'v') return redis.call('pexpire', KEYS[1], 50)\" "
             "1 printer") == "(integer) 1");
  CHECK(node.page.latest == node.in(50ms));
  CHECK(node("EVAL \"redis.call('set', KEYS[1], 'v', 'PX', 30000) error('no')\" 1 lamp")
            .starts_with("-"));
  CHECK(node.page.latest == node.in(30s));
  CHECK(node("EVAL \"redis.call('set', KEYS[1], 'v', 'PX', 50000) redis.call('del', KEYS[1])\" 1 "
             "door") == "(nil)");
  CHECK(node.page.latest == node.in(30s));
}

TEST_CASE("a lock is covered however many keys its script names and gives up (rule R4)") {
  LedgerFixture node;
  CHECK(node("EVAL \"redis.call('set', KEYS[1], 'v', 'PX', 30000) for i = 1, 1200 do "
             "local key = string.rep('k', 1000) .. i redis.call('set', key, 'v', 'PX', 5000) "
             "redis.call('del', key) end return 'taken'\" 1 printer") == "\"taken\"");
  CHECK(node.page.latest == node.in(30s));
}

TEST_CASE("EXEC tells what it leaves behind, and waits for the disk as one (rules R4, R8)") {
  LedgerFixture node(1s);
  node("MULTI");
  node("SET printer alice PX 30000");
  node("SET lamp alice PX 900");
  node("DEL printer");
  CHECK(node("EXEC") == "[+OK, +OK, (integer) 1]");
  CHECK(node.page.latest == node.in(900ms));
  node("MULTI");
  node("SET printer alice PX 30000");
  node("GET printer");
  CHECK(node("EXEC") == "(none)");
  node.write();
  CHECK(node("PING") == R"([+OK, "alice"])");
  CHECK(node.page.latest == node.in(30s));
}

TEST_CASE("of EXEC that waits for the disk no large reply is kept: its client is closed then") {
  LedgerFixture node(1s);
  TestClient greedy = node.connect();
  node("SET k " + std::string(60'000, 'v') + " PX 900");
  greedy.send("MULTI", node.now());
  greedy.send("SET printer alice PX 30000", node.now());
  for (int i = 0; i < 10; ++i) greedy.send("GET k", node.now());
  while (greedy.receive() != "(none)") {
  }
  greedy.send("EXEC", node.now());
  CHECK(greedy.receive() == "(none)");
  CHECK_FALSE(greedy.session().is_closing());
  node.write();
  CHECK(greedy.session().cut() == protocol::Session::Cut::reply_too_large);
  CHECK(node("GET printer") == "\"alice\"");
}

TEST_CASE("a ledger that cannot be written refuses the grant, and leaves no lock (rule R4)") {
  LedgerFixture node;
  node.page.fails = true;
  CHECK_THAT(node("SET printer alice NX PX 30000"),
             Contains("no lock is granted") && Contains("No space left"));
  CHECK(node.node().stats().error_replies == 1);
  CHECK(node("EXISTS printer") == "(integer) 0");
  CHECK_THAT(node("LOCK.ACQUIRE printer alice PX 30000"), Contains("no lock is granted"));
  CHECK_THAT(node("EVAL \"return redis.call('set', KEYS[1], 'v', 'PX', 500)\" 1 printer"),
             Contains("no lock is granted"));
  CHECK(node("EXISTS printer") == "(integer) 0");
  CHECK(node.log().lines ==
        std::vector<std::string>{"no lock is granted or extended: No space left on device"});
  node.page.fails = false;
  CHECK(node("SET printer alice NX PX 30000") == "+OK");
}

TEST_CASE("a lock that lives as long as the longest before waits for no disk (rule R8)") {
  LedgerFixture node(30s);
  CHECK(node("SET printer alice NX PX 30000") == "+OK");
  CHECK(node("SET scanner alice NX PX 30001") == "(none)");
}

TEST_CASE("a lock that cannot be written is deleted where the ledger covers nothing any more") {
  LedgerFixture node;
  node("CONFIG SET notify-keyspace-events KEA");
  TestClient listener = node.connect();
  listener.send("PSUBSCRIBE __keyspace*", node.now());
  listener.receive();
  CHECK(node("SET lamp bob NX PX 10") == "+OK");
  node.advance(10ms);  // just to the end of what is covered
  node.page.fails = true;
  CHECK_THAT(node("SET printer alice NX PX 30000"), Contains("no lock is granted"));
  CHECK(node.node().locks().find("printer", node.now().monotonic) == nullptr);
  std::string told;
  for (std::string one = listener.receive(); one != "(none)"; one = listener.receive()) told += one;
  CHECK_THAT(told, Contains("printer\", \"del\""));
}

TEST_CASE("an extension that cannot be written leaves the lock as it was told (rule R4)") {
  LedgerFixture node;
  CHECK(node("SET printer alice NX PX 10000") == "+OK");
  node.page.fails = true;
  CHECK_THAT(node("PEXPIRE printer 30000"), Contains("no lock is granted or extended"));
  CHECK(node("PTTL printer") == "(integer) 10000");
  CHECK(node("PEXPIRE printer 5000") == "(integer) 1");  // needs no write
}

TEST_CASE("the latest deadline is lowered within 20 ms after its lock is gone (rule R5)") {
  LedgerFixture node;
  node("SET printer alice NX PX 30000");
  node("SET lamp bob NX PX 5000");
  node.advance(1s);
  node("DEL printer");
  REQUIRE(node.node().next_work());
  CHECK(*node.node().next_work() <= node.in(20ms));
  node.advance(20ms);
  node.do_due_work();
  CHECK(node.page.latest == node.in(5s - 1020ms));
  node("DEL lamp");
  node.advance(20ms);
  node.do_due_work();
  CHECK(node.page.latest == Instant{});
}

TEST_CASE("nothing is lowered before what an earlier run is owed is over (rule R3)") {
  PageInMemory page;
  NodeStart start = with_largest_ttl(60s);
  start.snapshot_from = Instant(24h) + 10s;  // restart-delay off: it grants all the same
  start.ledger.latest_deadline = Instant(24h) + 10s;
  NodeFixture node({}, start, &page);
  node("SET printer alice NX PX 2000");
  node("DEL printer");
  node.advance(9s);
  node.node().do_due_work(node.now());  // for whatever else
  CHECK(page.writes == 0);
  node.advance(1s);
  node.do_due_work();
  CHECK((page.writes == 1 && page.latest < Instant(24h) + 10s));
}

TEST_CASE("nothing is written to the ledger while the start still writes it (rule R9)") {
  Settings settings;
  CollectedLog log;
  PageInMemory page;
  Now now{Instant(24h), WallTime(0s)};
  NodeStart start = with_largest_ttl(60s);
  start.ledger.latest_deadline = Instant(24h) + 30s;
  Node node(all_families(), settings, start, {[] { return ProcessFacts{}; }, log, nullptr, &page});
  REQUIRE(node.grants().restore({"printer", "alice", Instant(24h) + 1s, 1}));
  now.monotonic += 2s;
  node.do_due_work(now);  // gives the lock back
  node.do_due_work(now);
  CHECK(page.writes == 0);
  CHECK_FALSE(node.next_work());
  node.begin_run(now);
  REQUIRE(node.next_work());
  node.do_due_work(now);
  CHECK(page.latest == Instant{});
}

TEST_CASE("a TTL above any before waits for the disk, and others go on (rule R8)") {
  LedgerFixture node(1s);
  CHECK(node("SET printer alice NX PX 30000") == "(none)");
  CHECK(node.page.writes == 0);
  TestClient other = node.connect();
  other.send("SET lamp bob NX PX 1000", node.now());
  CHECK(other.receive() == "+OK");
  other.send("SET printer bob NX PX 500", node.now());
  CHECK(other.receive() == "(nil)");
  REQUIRE(node.begin_write());
  CHECK_FALSE(node.begin_write());  // one at a time
  node.end_write();
  CHECK(node("PTTL printer") == "+OK");  // the reply that waited, then this one
  CHECK(node.page.latest == node.in(30s));
}

TEST_CASE("what such a client sends meanwhile waits with it, in its order (rule R8)") {
  LedgerFixture node(1s);
  CHECK(node("SET printer alice NX PX 30000") == "(none)");
  CHECK(node("GET printer") == "(none)");
  node.write();
  CHECK(node("PING") == "+OK");
  CHECK(node("PING") == "\"alice\"");
}

TEST_CASE("whose grant waits for the disk is not let go before that has answered (rule R8)") {
  LedgerFixture node(1s);
  TestClient other = node.connect();
  other.send("SET printer alice NX PX 30000", node.now());
  CHECK(node.node().has_unfinished_request(other.session()));
  node.write();
  CHECK_FALSE(node.node().has_unfinished_request(other.session()));
}

TEST_CASE("a TTL that the disk refuses is not granted (rules R7, R8)") {
  LedgerFixture node(1s);
  CHECK(node("SET printer alice NX PX 30000") == "(none)");
  REQUIRE(node.begin_write());
  node.end_write(Failure{"No space left on device"});
  CHECK_THAT(node("PING"), Contains("no lock is granted") && Contains("No space left"));
  CHECK(node.log().lines == std::vector<std::string>{"No space left on device"});
  CHECK(node("EXISTS printer") == "+PONG");
  CHECK(node("PING") == "(integer) 0");
  TestClient other = node.connect();
  other.send("SET printer bob NX PX 30000", node.now());  // refused at once, for a second
  CHECK_THAT(other.receive(), Contains("no lock is granted"));
  other.send("SET printer bob NX PX 900", node.now());
  CHECK(other.receive() == "+OK");
}

TEST_CASE("a key that is gone when the raise is durable is not told to the ledger (rule R8)") {
  LedgerFixture node(1s);
  CHECK(node("SET printer alice NX PX 30000") == "(none)");
  TestClient other = node.connect();
  other.send("DEL printer", node.now());
  CHECK(other.receive() == "(integer) 1");
  node.write();
  CHECK(node.page.latest == Instant{});
  CHECK(node("PING") == "+OK");
}

TEST_CASE("what is pulled back is told to nobody, nor is another lock of the key (rules R4, R8)") {
  LedgerFixture node(1s);
  CHECK(node("LOCK.ACQUIRE printer alice PX 30000") == "(none)");
  TestClient other = node.connect();
  other.send("LOCK.RELEASE printer alice", node.now());
  CHECK(other.receive() == "(integer) 1");
  other.send("LOCK.ACQUIRE printer bob PX 30000", node.now());
  CHECK(other.receive() == "(none)");
  REQUIRE(node.begin_write());
  node.page.fails = true;  // the raise is durable, and then the disk breaks
  node.end_write();
  CHECK_THAT(node("PING"), Contains("no lock is granted"));
  CHECK_THAT(other.receive(), Contains("no lock is granted"));
}

TEST_CASE("a script whose lock lives longer than any before waits too (rule R8)") {
  LedgerFixture node(1s);
  CHECK(node("EVAL \"return redis.call('set', KEYS[1], 'v', 'PX', 30000)\" 1 printer") == "(none)");
  node.write();
  CHECK(node("PING") == "+OK");
}

TEST_CASE("a client that went away while its grant waited is no harm (rule R8)") {
  LedgerFixture node(1s);
  TestClient other = node.connect();
  other.send("SET printer bob NX PX 30000", node.now());
  REQUIRE(node.begin_write());
  node.node().close_session(other.session().id());
  node.end_write();
  CHECK(node.page.latest == node.in(30s));
  CHECK(node("GET printer") == "\"bob\"");
}

TEST_CASE("locks without a deadline are outside of the ledger's promise (rule L3)") {
  Settings settings;
  settings.require_ttl = false;
  PageInMemory page;
  NodeFixture node(settings, with_largest_ttl(1s), &page);
  CHECK(node("SET printer alice") == "+OK");
  CHECK(page.writes == 0);
}

TEST_CASE("the fencing bound is raised in the background, and grants go on (rule F1)") {
  LedgerFixture node(60s, 1'000);
  for (int i = 0; i < 501; ++i) {
    node("LOCK.ACQUIRE printer alice PX 1000");
    node("LOCK.RELEASE printer alice");
  }
  REQUIRE(node.begin_write());
  CHECK(node("LOCK.ACQUIRE printer alice PX 1000") ==
        "[(integer) 1, (integer) 502, (integer) 1000]");
  node.end_write();
  CHECK(node.node().grants().fence().bound() == 2'501);
}

TEST_CASE(
    "a holder is not told that it still holds a lock which the ledger does not cover yet (R8)") {
  LedgerFixture node(1s);
  CHECK(node("LOCK.ACQUIRE printer alice PX 30000") == "(none)");
  TestClient other = node.connect();  // of the same holder, which asks for less
  other.send("LOCK.EXTEND printer alice PX 20000", node.now());
  CHECK(other.receive() == "(none)");
  node.write();
  CHECK(node.page.latest == node.in(30s));
  CHECK(other.receive() == "[(integer) 1, (integer) 1, (integer) 30000]");
}

TEST_CASE("nor is one who changes the fields of a hash which it does not cover yet (R8)") {
  LedgerFixture node(1s);
  CHECK(node("HINCRBY printer alice 1") == "(none)");  // made for max-ttl, 60 s
  TestClient other = node.connect();
  other.send("HINCRBY printer alice 1", node.now());
  CHECK(other.receive() == "(none)");
  TestClient onlooker = node.connect();
  onlooker.send("HGET printer alice", node.now());
  CHECK(onlooker.receive() == "\"2\"");
  node.write();
  CHECK(node.page.latest == node.in(65s));
  CHECK(other.receive() == "(integer) 2");
}

namespace {

// A script that takes the door for a TTL, overruns its time, and ends when it goes on.
std::string overrunning(Duration ttl) {
  return fmt::format(
      "EVAL \"redis.call('set', KEYS[1], 'v', 'PX', {}) redis.call('INFO') for i = 1, 300000 do "
      "end "
      "return 'taken'\" 1 door",
      ttl / 1ms);
}

struct BusyLedgerFixture {
  PageInMemory page;
  BusyFixture busy{with_largest_ttl(10s), &page};
  TestClient carol{busy.node, busy.now};

  void end_write(const Status& written = Done{}) { busy.node.end_ledger_write(written, busy.now); }
  void begin_write() { REQUIRE(busy.node.begin_ledger_write(busy.now)); }
  void finish_script() {
    for (int slice = 0; slice < 1000 && busy.node.has_suspended(); ++slice) busy.pass(0ns);
    REQUIRE_FALSE(busy.node.has_suspended());
  }
};

}  // namespace

TEST_CASE("what a script may have told of is in the ledger when it is suspended (rule R4)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  CHECK_THAT(busy.ask(world.carol, "SUBSCRIBE news"), Contains("subscribe"));
  busy.ask(
      busy.alice,
      "EVAL \"redis.call('set', KEYS[1], 'v', 'PX', 5000) redis.call('publish', 'news', 'mine') "
      "redis.call('INFO') for i = 1, 300000 do end redis.call('set', KEYS[1], 'v', 'PX', 50000) "
      "redis.call('INFO') for i = 1, 300000 do end return redis.call('del', KEYS[1])\" 1 door");
  REQUIRE(busy.node.has_suspended());
  CHECK_THAT(world.carol.receive(), Contains("mine"));
  CHECK(world.page.latest == busy.now.monotonic + 5s);
  SECTION("a slice later too, as far as no bound has to be raised") {
    for (int i = 0; i < 1000 && world.page.latest == busy.now.monotonic + 5s; ++i) busy.pass(0ns);
    REQUIRE(busy.node.has_suspended());
    CHECK(world.page.latest == busy.now.monotonic + 10s);
  }
  world.finish_script();
  CHECK(busy.alice.receive() == "(integer) 1");
}

TEST_CASE("nor is it missed where a script before had more keys (rule R4)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  busy.ask(busy.alice,
           "EVAL \"for i = 1, 3 do redis.call('set', KEYS[i], 'v', 'PX', 5000) end "
           "redis.call('INFO') for i = 1, 300000 do end\" 3 a b c");
  world.finish_script();
  busy.ask(busy.bob, overrunning(7s));
  REQUIRE(busy.node.has_suspended());
  CHECK(world.page.latest == busy.now.monotonic + 7s);
}

TEST_CASE(
    "nor is it missed where so many keys were named that those released were forgotten (R4)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  busy.ask(busy.alice,
           "EVAL \"local function visit(from, to) for i = from, to do "
           "local key = string.rep('k', 1000) .. i "
           "redis.call('set', key, 'v', 'PX', 5000) redis.call('del', key) end end "
           "visit(1, 500) redis.call('INFO') for i = 1, 300000 do end "
           "visit(501, 1200) redis.call('set', KEYS[1], 'v', 'PX', 7000) "
           "redis.call('INFO') for i = 1, 300000 do end return 'taken'\" 1 door");
  REQUIRE(busy.node.has_suspended());
  CHECK(world.page.latest == Instant{});
  for (int i = 0; i < 1000 && world.page.latest == Instant{}; ++i) busy.pass(0ns);
  REQUIRE(busy.node.has_suspended());
  CHECK(world.page.latest == busy.now.monotonic + 7s);
  world.finish_script();
  CHECK(busy.alice.receive() == "\"taken\"");
}

TEST_CASE("a write that fails while a script is suspended does not uncover its locks (rule R4)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  CHECK(busy.ask(world.carol, "SET lamp carol NX PX 30000") == "(none)");
  CHECK(busy.ask(busy.alice, overrunning(5s)) == "(none)");
  world.begin_write();
  world.end_write(Failure{"No space left on device"});
  CHECK(world.carol.receive() == "(none)");
  world.finish_script();
  CHECK_THAT(world.carol.receive(), Contains("no lock is granted"));
  CHECK(busy.alice.receive() == "\"taken\"");
  CHECK(world.page.latest == busy.now.monotonic + 5s);
}

TEST_CASE("a lock that a suspended script took over is not taken back with another's (rule R4)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  CHECK(busy.ask(world.carol, "SET door carol NX PX 30000") == "(none)");
  CHECK(busy.ask(busy.alice, overrunning(5s)) == "(none)");
  world.begin_write();
  world.end_write(Failure{"No space left on device"});
  world.finish_script();
  CHECK(busy.alice.receive() == "\"taken\"");
  CHECK_THAT(world.carol.receive(), Contains("no lock is granted"));
  CHECK(busy.ask(busy.bob, "PTTL door") == "(integer) 5000");
}

TEST_CASE("a script that was suspended waits for the ledger whatever others waited for (rule R8)") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  CHECK(busy.ask(world.carol, "SET lamp carol NX PX 12000") == "(none)");
  CHECK(busy.ask(busy.alice, overrunning(50s)) == "(none)");
  world.begin_write();
  world.end_write();  // of 16,384 ms
  world.finish_script();
  CHECK(world.carol.receive() == "+OK");
  CHECK(world.page.latest == busy.now.monotonic + 12s);
  CHECK(busy.alice.receive() == "(none)");
  world.begin_write();
  world.end_write();
  CHECK(busy.alice.receive() == "\"taken\"");
  CHECK(world.page.latest == busy.now.monotonic + 50s);
}

TEST_CASE("a write that ends while a script is suspended wakes nobody for what it has half done") {
  BusyLedgerFixture world;
  BusyFixture& busy = world.busy;
  CHECK(busy.ask(busy.bob, "SET door bob NX PX 5000") == "+OK");
  CHECK(busy.ask(busy.bob, "LOCK.WAIT door 60000") == "(none)");
  CHECK(busy.ask(world.carol, "SET lamp carol NX PX 12000") == "(none)");
  CHECK(busy.ask(busy.alice,
                 "EVAL \"redis.call('del', KEYS[1]) redis.call('INFO') for i = 1, 300000 do end "
                 "return redis.call('set', KEYS[1], 'v', 'PX', 5000)\" 1 door") == "(none)");
  world.begin_write();
  world.end_write();
  world.finish_script();
  CHECK(world.carol.receive() == "+OK");
  CHECK(busy.alice.receive() == "+OK");
  CHECK(busy.bob.receive() == "(none)");
}

TEST_CASE("a TTL that was lowered a moment ago is raised again when it is asked for (rule R8)") {
  LedgerFixture node(60s);
  node("SET lamp bob NX PX 1000");
  node.advance(10min);
  node.node().do_due_work(node.now());
  REQUIRE(node.node().ledger().largest_ttl() == 1024ms);
  CHECK(node("SET printer alice NX PX 60000") == "(none)");  // before the lowering was written
  node.write();
  CHECK(node("PING") == "+OK");
}
