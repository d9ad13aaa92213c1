// LOCK.*: what coordinators ask of one node (rules F, Q4, R10).
#include "server/commands/families.h"
#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;
using Catch::StartsWith;

namespace {

NodeStart with_fence(const Fence::Start& fence) {
  NodeStart start;
  start.node_id = std::string(40, 'b');
  start.fence = fence;
  start.ledger = {.record = {start.node_id, 1, 60s, fence.bound, fence.fenced},
                  .latest_deadline = {},
                  .max_ttl = 60s,
                  .fence_block = 1'000,
                  .now = Instant(24h)};
  start.admit_from = Instant(24h) + 66'650ms;
  return start;
}

struct FencedFixture : NodeFixture {
  explicit FencedFixture(Fence::Start fence = {.first = 100, .bound = 2'000, .fenced = true})
      : NodeFixture({}, with_fence(fence)) {}
  void write(const Status& written = Done{}) {
    REQUIRE(node().begin_ledger_write(now()));
    node().end_ledger_write(written, now());
  }
};

Fence::Start unfenced() {
  return {.first = 0, .bound = 2'000, .fenced = false};
}

}  // namespace

TEST_CASE("LOCK.ACQUIRE grants with a number that rises, and tells how long a held lock lives") {
  FencedFixture node;
  CHECK(node("LOCK.ACQUIRE printer alice PX 10000") ==
        "[(integer) 1, (integer) 101, (integer) 10000]");
  node.advance(4s);
  CHECK(node("LOCK.ACQUIRE printer bob PX 10000") == "[(integer) 0, (integer) 6000]");
  CHECK(node("LOCK.ACQUIRE printer alice PX 10000") == "[(integer) 0, (integer) 6000]");
  node.advance(6s);
  CHECK(node("lock.acquire printer bob px 10000") ==
        "[(integer) 1, (integer) 102, (integer) 10000]");
}

TEST_CASE("bad words are refused with what to do") {
  FencedFixture node;
  CHECK(node("LOCK.ACQUIRE printer alice EX 10") == "-ERR syntax error");
  CHECK_THAT(node("LOCK.ACQUIRE printer alice PX 0"), Contains("invalid expire time"));
  CHECK_THAT(node("LOCK.ACQUIRE printer alice PX 65001"), Contains("max-ttl"));
  CHECK_THAT(node("LOCK.ACQUIRE printer alice PX x"), Contains("not an integer"));
  CHECK_THAT(node("LOCK.ACQUIRE printer alice"), Contains("wrong number of arguments"));
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN") == "-ERR syntax error");
  CHECK(node("LOCK.EXTEND printer alice PX 10000 FENCE 7") == "-ERR syntax error");
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 10000 TOKEN -1"), Contains("a token is a number"));
  CHECK_THAT(node("LOCK.CONFIRM printer alice 0"), Contains("a token is a number from 1"));
  CHECK_THAT(node("LOCK.CONFIRM printer alice 9007199254740992"), Contains("a token is a number"));
  CHECK_THAT(node("LOCK.FENCE"), Contains("wrong number of arguments"));
  CHECK_THAT(node("LOCK.FENCE LOWER 7"), Contains("unknown subcommand"));
  CHECK_THAT(node("LOCK.ACQUIRE " + std::string(70'000, 'k') + " v PX 100"), Contains("too long"));
}

TEST_CASE("LOCK.* is not for scripts") {
  FencedFixture node;
  CHECK_THAT(node("EVAL \"return redis.call('lock.acquire', KEYS[1], 'v', 'PX', 100)\" 1 k"),
             Contains("not allowed from script"));
}

TEST_CASE("LOCK.EXTEND extends its holder's lock, and never brings a deadline forward (rule Q4)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.EXTEND printer alice PX 20000") ==
        "[(integer) 1, (integer) 101, (integer) 20000]");
  CHECK(node("LOCK.EXTEND printer alice PX 5000") ==
        "[(integer) 1, (integer) 101, (integer) 20000]");
  CHECK(node("LOCK.EXTEND printer bob PX 20000") == "[(integer) 0, (integer) 20000]");
  CHECK(node("LOCK.EXTEND lamp alice PX 20000") == "[(integer) 0]");
  node.advance(20s);
  CHECK(node("LOCK.EXTEND printer alice PX 20000") == "[(integer) 0]");
}

TEST_CASE("a top-up makes the lock with its token, where the key is free (rules Q4, F5)") {
  FencedFixture node;
  CHECK(node("LOCK.EXTEND printer alice PX 20000 TOKEN 500") ==
        "[(integer) 2, (integer) 500, (integer) 20000]");
  CHECK(node.node().stats().granted == 1);
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 20000, (integer) 500]");
  CHECK(node("LOCK.EXTEND printer bob PX 20000 TOKEN 600") == "[(integer) 0, (integer) 20000]");
  node("LOCK.RELEASE printer alice");
  CHECK(node("LOCK.ACQUIRE printer bob PX 1000") == "[(integer) 1, (integer) 501, (integer) 1000]");
  CHECK(node("LOCK.EXTEND lamp carol PX 1000 TOKEN 0") ==
        "[(integer) 2, (integer) 101, (integer) 1000]");
  CHECK(node("LOCK.EXTEND door dave PX 1000 TOKEN 1") ==  // the first token that there is
        "[(integer) 2, (integer) 1, (integer) 1000]");
}

TEST_CASE("an extension with a token raises the stored one, so a later grant is above it") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 1000");
  CHECK(node("LOCK.EXTEND printer alice PX 1000 TOKEN 300") ==
        "[(integer) 1, (integer) 300, (integer) 1000]");
  CHECK(node("LOCK.EXTEND printer alice PX 1000 TOKEN 200") ==
        "[(integer) 1, (integer) 300, (integer) 1000]");
  node("LOCK.RELEASE printer alice");
  CHECK(node("LOCK.ACQUIRE printer bob PX 1000") == "[(integer) 1, (integer) 301, (integer) 1000]");
}

TEST_CASE("LOCK.RELEASE releases its holder's lock alone") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.RELEASE printer bob") == "(integer) 0");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 1");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 0");
}

TEST_CASE("a value that was released for good comes back by nobody (rule Q3)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.RELEASE printer alice FINAL") == "(integer) 1");
  CHECK(node("LOCK.ACQUIRE printer alice PX 10000") == "[(integer) 0, (integer) 0]");
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 500") == "[(integer) 0]");
  CHECK(node("LOCK.EXTEND printer alice PX 10000") == "[(integer) 0]");
  CHECK(node("LOCK.HOLDER printer") == "(nil)");
  CHECK(node.node().grants().fence().largest() == 101);  // a refused top-up raises no counter
  CHECK(node("LOCK.ACQUIRE printer bob PX 10000") ==
        "[(integer) 1, (integer) 102, (integer) 10000]");
  CHECK(node("LOCK.ACQUIRE lamp alice PX 10000") ==
        "[(integer) 1, (integer) 101, (integer) 10000]");
}

TEST_CASE("a final release that comes before its lock keeps it away (rule Q3)") {
  FencedFixture node;
  CHECK(node("lock.release printer alice final") == "(integer) 0");
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 500") == "[(integer) 0]");
  node("LOCK.ACQUIRE printer bob PX 10000");
  CHECK(node("LOCK.RELEASE printer carol FINAL") == "(integer) 0");
  CHECK(node("LOCK.HOLDER printer") == "[\"bob\", (integer) 10000, (integer) 101]");
}

TEST_CASE("the mark of a release stays for max-ttl and the clocks' drift (rules Q3, C1)") {
  FencedFixture node;
  node("LOCK.RELEASE printer alice FINAL");
  node.advance(65'650ms - 1ns);
  CHECK(node("LOCK.EXTEND printer alice PX 100 TOKEN 1") == "[(integer) 0]");
  node.advance(1ns);
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 100 TOKEN 1"), Contains("[(integer) 2"));
}

TEST_CASE("a release without FINAL leaves its value free to come back: the undo of a top-up") {
  FencedFixture node;
  node("LOCK.EXTEND printer alice PX 10000 TOKEN 500");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 1");
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 500") ==
        "[(integer) 2, (integer) 500, (integer) 10000]");
  CHECK(node("LOCK.RELEASE printer alice LAST") == "-ERR syntax error");
  CHECK(node("LOCK.RELEASE printer alice FINAL x") == "-ERR syntax error");
  CHECK(node.node().grants().release_marks().size() == 0);
}

TEST_CASE("a plain SET of a released value is an order of its own, and its lock is extended") {
  FencedFixture node;
  node("LOCK.RELEASE printer alice FINAL");
  CHECK(node("SET printer alice NX PX 10000") == "+OK");
  CHECK(node("LOCK.ACQUIRE printer alice PX 10000") == "[(integer) 0, (integer) 10000]");
  CHECK(node("LOCK.EXTEND printer alice PX 20000") ==
        "[(integer) 1, (integer) 101, (integer) 20000]");
  CHECK(node("LOCK.RELEASE printer alice") == "(integer) 1");
}

TEST_CASE("marks count as memory, are told in INFO, and are given back when they are over") {
  FencedFixture node;
  const std::uint64_t before = node.node().used_memory();
  node("LOCK.RELEASE printer alice FINAL");
  CHECK(node.node().used_memory() > before);
  CHECK_THAT(node("INFO locks"), Contains("release_marks:1\\r"));
  node.advance(65'650ms);
  node.do_due_work();
  CHECK(node.node().used_memory() == before);
  CHECK_THAT(node("INFO locks"), Contains("release_marks:0\\r"));
}

TEST_CASE("LOCK.CONFIRM accepts what is not below the stored number, for this value (rule F3)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.CONFIRM printer alice 100") == "(integer) 0");
  CHECK(node("LOCK.CONFIRM printer bob 400") == "(integer) 0");
  CHECK(node("LOCK.CONFIRM lamp alice 400") == "(integer) 0");
  CHECK(node("LOCK.CONFIRM printer alice 101") == "(integer) 1");
  CHECK(node("LOCK.CONFIRM printer alice 400") == "(integer) 1");
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 10000, (integer) 400]");
  CHECK(node("LOCK.CONFIRM printer alice 399") == "(integer) 0");
  node("LOCK.RELEASE printer alice");
  CHECK(node("LOCK.CONFIRM printer alice 500") == "(integer) 0");
  CHECK(node("LOCK.ACQUIRE printer bob PX 1000") == "[(integer) 1, (integer) 401, (integer) 1000]");
}

TEST_CASE("a confirm above the bound is answered when the raise is durable (rule F1)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.CONFIRM printer alice 5000") == "(none)");
  CHECK(node.node().grants().fence().largest() == 101);
  node.write();
  CHECK(node("LOCK.HOLDER printer") == "(integer) 1");
  CHECK(node("PING") == "[\"alice\", (integer) 10000, (integer) 5000]");
  CHECK(node.node().grants().fence().bound() == 7'000);
}

TEST_CASE("a confirm above the bound is refused if the disk refuses (rule F1)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.CONFIRM printer alice 5000") == "(none)");
  node.write(Failure{"No space left on device"});
  CHECK(node("PING") == "(integer) 0");
  CHECK(node.node().grants().fence().largest() == 101);
}

TEST_CASE(
    "so is a top-up above the bound, and if the disk refuses there is no lock (rules F1, Q4)") {
  FencedFixture node;
  CHECK(node("LOCK.EXTEND printer alice PX 10000 TOKEN 5000") == "(none)");
  CHECK(node.node().locks().size() == 0);
  SECTION("durable") {
    node.write();
    CHECK(node("PING") == "[(integer) 2, (integer) 5000, (integer) 10000]");
  }
  SECTION("refused") {
    node.write(Failure{"No space left on device"});
    CHECK_THAT(node("PING"), StartsWith("-ERR the fencing bound cannot be raised"));
    CHECK(node.node().locks().size() == 0);
  }
}

TEST_CASE("the key is looked at again when the raise is durable (rule F1)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.CONFIRM printer alice 5000") == "(none)");
  TestClient other = node.connect();
  other.send("LOCK.RELEASE printer alice", node.now());
  node.write();
  CHECK(node("PING") == "(integer) 0");
  CHECK(node.node().grants().fence().largest() == 101);
}

TEST_CASE("a token more than 2^32 above the counter is refused (rule F1)") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK_THAT(node("LOCK.CONFIRM printer alice 4294967398"), Contains("above this node's counter"));
  CHECK_THAT(node("LOCK.EXTEND lamp bob PX 100 TOKEN 4294967397"),
             Contains("above this node's counter"));
  CHECK(node("LOCK.CONFIRM printer alice 1000") == "(integer) 1");  // the key's counter, no other
  CHECK(node("LOCK.CONFIRM printer alice 4294968296") == "(none)");
}

TEST_CASE("a plain SET has a number too, that LOCK.HOLDER tells; the same value keeps it (L4)") {
  FencedFixture node;
  CHECK(node("LOCK.HOLDER printer") == "(nil)");
  node("SET printer alice NX PX 10000");
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 10000, (integer) 101]");
  node("SET printer alice XX PX 20000");
  CHECK(node("LOCK.HOLDER printer") == "[\"alice\", (integer) 20000, (integer) 101]");
  node("SET printer bob XX PX 20000");
  CHECK(node("LOCK.HOLDER printer") == "[\"bob\", (integer) 20000, (integer) 102]");
}

TEST_CASE("no way in which a lock ends touches a counter (rule F8)") {
  FencedFixture node;
  for (const char* end : {"DEL printer", "PEXPIRE printer 0", "LOCK.RELEASE printer alice"}) {
    node("LOCK.ACQUIRE printer alice PX 1000");
    node(end);
  }
  node("LOCK.ACQUIRE printer alice PX 1000");
  node.advance(1s);
  CHECK(node("LOCK.ACQUIRE printer alice PX 1000") ==
        "[(integer) 1, (integer) 105, (integer) 1000]");
}

TEST_CASE("an unfenced node grants without a number, and its confirms count (rule F6)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK(node("LOCK.ACQUIRE printer alice PX 1000") == "[(integer) 1, (integer) 0, (integer) 1000]");
  CHECK(node("LOCK.CONFIRM printer alice 700") == "(integer) 1");
  node("LOCK.RELEASE printer alice");
  node("LOCK.ACQUIRE printer bob PX 1000");
  CHECK(node("LOCK.CONFIRM printer bob 700") == "(integer) 0");
  CHECK(node("LOCK.CONFIRM printer bob 701") == "(integer) 1");
  CHECK(node("LOCK.FENCE READ") == "[(integer) 701, (integer) 0]");
}

TEST_CASE("an admission raises every counter, durably, and makes the node fenced (rule F6)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK(node("LOCK.FENCE ADMIT 5000") == "(none)");
  node.write();  // the bound, for the next number and two blocks
  CHECK(node.node().ledger().record().fencing_bound == 7'001);
  CHECK_FALSE(node.node().ledger().record().fenced);
  node.write();  // the mark
  CHECK(node("LOCK.FENCE READ") == "+OK");
  CHECK(node("PING") == "[(integer) 5000, (integer) 1]");
  CHECK(node("LOCK.ACQUIRE printer alice PX 1000") == "+PONG");
  CHECK(node("PING") == "[(integer) 1, (integer) 5001, (integer) 1000]");
}

TEST_CASE("an admitted node gives a number with its next grant, also when its block ended there") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  node("LOCK.FENCE ADMIT 2000");
  node.write();  // the bound
  node.write();  // the mark
  node("PING");
  node("LOCK.ACQUIRE printer alice PX 1000");
  CHECK(node("PING") == "[(integer) 1, (integer) 2001, (integer) 1000]");
}

TEST_CASE("an admission that the disk refuses leaves the node unfenced (rule F6)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK(node("LOCK.FENCE ADMIT 500") == "(none)");
  node.write(Failure{"No space left on device"});
  CHECK_THAT(node("PING"), Contains("not admitted"));
  CHECK_FALSE(node.node().grants().fence().is_fenced());
}

TEST_CASE("no confirm counts before every lock from before has run out (rule F7)") {
  FencedFixture node(unfenced());  // with restart-delay off, it grants
  node.advance(66'640ms);
  CHECK(node("LOCK.ACQUIRE printer alice PX 1000") == "[(integer) 1, (integer) 0, (integer) 1000]");
  node.advance(10ms - 1ns);
  CHECK_THAT(node("LOCK.CONFIRM printer alice 700"), Contains("too early") && Contains("1 ms"));
  CHECK(node("LOCK.FENCE READ") == "[(integer) 1, (integer) 0]");
  node.advance(1ns);
  CHECK(node("LOCK.CONFIRM printer alice 700") == "(integer) 1");
}

TEST_CASE("no admission before every lock from before has run out (rule F7)") {
  FencedFixture node(unfenced());
  node.advance(66'649ms);
  CHECK_THAT(node("LOCK.FENCE ADMIT 5"), Contains("too early") && Contains("1 ms"));
  CHECK_THAT(node("LOCK.FENCE ADMIT 0"), Contains("too early") && Contains("1 ms"));
  CHECK_THAT(node("LOCK.STATUS"),
             Contains("\"admit_in_ms\", (integer) 1") || Contains("\"admit_in_ms\": (integer) 1"));
}

TEST_CASE("no admission moves the counters of a fenced node (rule F1)") {
  FencedFixture node;
  for (const char* floor : {"50", "100", "150", "9007199254740991", "9007199254740991 BEYOND"}) {
    CHECK_THAT(node(fmt::format("LOCK.FENCE ADMIT {}", floor)),
               StartsWith("-ERR already fenced: "));
  }
  CHECK(node("LOCK.FENCE READ") == "[(integer) 100, (integer) 1]");
  CHECK_FALSE(node.node().begin_ledger_write(node.now()));
}

TEST_CASE("the second of two admissions that meet finds the node fenced (rules F1, F6)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK(node("LOCK.FENCE ADMIT 500") == "(none)");
  TestClient other = node.connect();
  other.send("LOCK.FENCE ADMIT 700", node.now());
  node.write();
  CHECK(node("PING") == "+OK");
  CHECK_THAT(other.receive(), StartsWith("-ERR already fenced: "));
  CHECK(node("LOCK.FENCE READ") == "+PONG");
}

TEST_CASE("a floor beyond the leap bound is admitted only when it is said so (rules F1, F6)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK_THAT(node("LOCK.FENCE ADMIT 4294967297"),
             Contains("LOCK.FENCE ADMIT 4294967297 BEYOND says that it is meant"));
  CHECK(node("LOCK.FENCE ADMIT 4294967297 FURTHER") == "-ERR syntax error");
  CHECK(node("LOCK.FENCE ADMIT 4294967297 BEYOND") == "(none)");
  node.write();  // the bound
  node.write();  // the mark
  CHECK(node("LOCK.FENCE READ") == "+OK");
  CHECK(node("PING") == "[(integer) 4294967297, (integer) 1]");
}

TEST_CASE("a floor at the leap bound is admitted as it is (rule F1)") {
  FencedFixture node(unfenced());
  node.advance(66'650ms);
  CHECK(node("LOCK.FENCE ADMIT 4294967296") == "(none)");
}

TEST_CASE("a command that waited for the disk is counted once") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 10000");
  CHECK(node("LOCK.CONFIRM printer alice 5000") == "(none)");
  node.write();
  CHECK_THAT(node("INFO commandstats"), Contains("integer"));  // the confirm's own answer
  CHECK_THAT(node("PING"), Contains("cmdstat_lock.confirm:calls=1,"));
}

TEST_CASE("a recovering node refuses all of it but its state and its counter (rule R10)") {
  NodeStart start = with_fence({.first = 100, .bound = 2'000, .fenced = true});
  start.grant_from = Instant(24h) + 10s;
  NodeFixture node({}, start);
  for (const char* line :
       {"LOCK.ACQUIRE k v PX 100", "LOCK.EXTEND k v PX 100", "LOCK.EXTEND k v PX 100 TOKEN 7",
        "LOCK.RELEASE k v", "LOCK.RELEASE k 0123456789abcdef PREFIX", "LOCK.CONFIRM k v 7",
        "LOCK.HOLDER k", "LOCK.HOLDER k VOTE", "SET k v IFEQ v PX 100"}) {
    CAPTURE(line);
    CHECK(node(line) == "-ERR recovering after a restart, no new locks for 10000 ms");
  }
  CHECK(node("LOCK.FENCE READ") == "[(integer) 100, (integer) 1]");
  CHECK_THAT(node("LOCK.STATUS"), Contains("recovering") && Contains("(integer) 10000"));
}

TEST_CASE("a recovering node is not admitted (rules R10, F7)") {
  NodeStart start = with_fence(unfenced());
  start.grant_from = Instant(24h) + 10s;
  NodeFixture node({}, start);
  CHECK(node("LOCK.FENCE ADMIT 7") == "-ERR recovering after a restart, no new locks for 10000 ms");
}

TEST_CASE("a final release at a recovering node is no vote, and leaves its mark (rules R10, Q3)") {
  NodeStart start = with_fence({.first = 100, .bound = 2'000, .fenced = true});
  start.grant_from = Instant(24h) + 10s;
  NodeFixture node({}, start);
  CHECK_THAT(node("LOCK.RELEASE k v FINAL"), Contains("recovering"));
  node.advance(10s);
  CHECK(node("LOCK.EXTEND k v PX 100 TOKEN 7") == "[(integer) 0]");
}

TEST_CASE("marks of the last run refuse in the next (rules Q3, R9)") {
  FencedFixture before;
  before("LOCK.RELEASE printer alice FINAL");
  std::vector<SavedMark> marks;
  before.node().grants().save(
      before.now().monotonic, [](const SavedLock&) {},
      [&](const SavedMark& mark) { marks.push_back(mark); });
  REQUIRE(marks.size() == 1);

  Settings settings;
  CollectedLog log;
  NodeStart start;
  start.hash_seed = 12345;
  start.started_at = Instant(24h);
  Node node(all_families(), settings, start,
            {[] { return ProcessFacts{}; }, log, nullptr, nullptr});
  node.grants().restore(marks[0]);
  Now now{Instant(24h) + 60s, WallTime(0s)};
  node.begin_run(now);
  TestClient client(node, now);
  client.send("LOCK.EXTEND printer alice PX 100 TOKEN 7", now);
  CHECK(client.receive() == "[(integer) 0]");
}

TEST_CASE("LOCK.STATUS tells who the node is, and how it stands") {
  FencedFixture node;
  node("LOCK.ACQUIRE printer alice PX 1000");
  const std::string status = node("LOCK.STATUS");
  for (const char* name :
       {"node_id", "state", "cause", "delay_left_ms", "locks", "counter", "bound", "fenced",
        "admit_in_ms", "max_ttl_ms", "largest_ttl_ms", "version"}) {
    CAPTURE(name);
    CHECK_THAT(status, Contains(fmt::format("\"{}\"", name)));
  }
  CHECK_THAT(status, Contains(std::string(40, 'b')) && Contains("serving"));
  CHECK_THAT(status, Contains("\"fenced\", (integer) 1") && Contains("\"labels\", (integer) 1") &&
                         Contains("\"admit_in_ms\", (integer) 66650"));
  FencedFixture other(unfenced());
  other.advance(1h);
  CHECK_THAT(other("LOCK.STATUS"),
             Contains("\"fenced\", (integer) 0") && Contains("\"admit_in_ms\", (integer) 0"));
}
