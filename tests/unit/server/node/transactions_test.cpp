// MULTI, EXEC, WATCH: several commands as one, or none of them.
#include "tests/support/busy_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

// alice asks by node("…"); bob is another client.
struct TransactionFixture : NodeFixture {
  using NodeFixture::NodeFixture;

  TestClient other = connect();

  std::string bob(std::string_view line) {
    other.send(line, now());
    return other.receive();
  }
};

constexpr std::string_view kAborted =
    "-EXECABORT Transaction discarded because of previous errors.";

}  // namespace

TEST_CASE("what is queued happens at EXEC, all at once") {
  TransactionFixture node;
  CHECK(node("MULTI") == "+OK");
  CHECK(node("SET printer alice NX PX 10000") == "+QUEUED");
  CHECK(node("GET printer") == "+QUEUED");
  CHECK(node("GET absent") == "+QUEUED");
  CHECK(node.bob("GET printer") == "(nil)");
  CHECK(node("EXEC") == R"([+OK, "alice", (nil)])");
  CHECK(node.bob("GET printer") == "\"alice\"");
}

TEST_CASE("a reply of EXEC is what its command saw, whatever those behind it did") {
  TransactionFixture node;
  node("SET printer alice PX 10000");
  node("MULTI");
  node("GET printer");
  node("SET printer bob PX 10000");
  node("DEL printer");
  CHECK(node("EXEC") == R"(["alice", +OK, (integer) 1])");
}

TEST_CASE("an error of a command that runs does not stop the others") {
  TransactionFixture node;
  node("MULTI");
  node("SET printer alice");
  node("SET lamp bob PX 10000");
  const std::string replies = node("EXEC");
  CHECK(replies.starts_with("[-ERR a lock needs a TTL"));
  CHECK(replies.ends_with(", +OK]"));
}

TEST_CASE("EXEC that is refused itself watches nothing any more") {
  TransactionFixture node;
  node("WATCH printer");
  node("MULTI");
  CHECK(node("EXEC now").starts_with("-EXECABORT"));
  node.bob("SET printer bob PX 10000");
  node("MULTI");
  node("GET printer");
  CHECK(node("EXEC") == R"(["bob"])");
}

TEST_CASE("a command that is refused while queueing aborts EXEC") {
  TransactionFixture node;
  const std::string_view refused = GENERATE("GET", "NOSUCH x", "CLIENT NOSUCH", "SHUTDOWN",
                                            "LOCK.WAIT printer 1000", "LOCK.CONFIRM printer v 1");
  node("MULTI");
  CHECK(node("SET printer alice PX 10000") == "+QUEUED");
  CHECK(node(refused).starts_with("-ERR"));
  CHECK(node("SET lamp alice PX 10000") == "+QUEUED");
  CHECK(node("EXEC") == kAborted);
  CHECK(node("EXISTS printer lamp") == "(integer) 0");
  CHECK(node("EXEC") == "-ERR EXEC without MULTI");
}

TEST_CASE("what Redis says to those who mix up the words of a transaction") {
  TransactionFixture node;
  CHECK(node("EXEC") == "-ERR EXEC without MULTI");
  CHECK(node("DISCARD") == "-ERR DISCARD without MULTI");
  node("MULTI");
  CHECK(node("MULTI") == "-ERR MULTI calls can not be nested");
  CHECK(node("WATCH printer") == "-ERR WATCH inside MULTI is not allowed");
  CHECK(node("EXEC") == "[]");
  node("MULTI");
  CHECK(node("EXEC now") ==
        "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
        "command");
  CHECK(node("EXEC") == "-ERR EXEC without MULTI");
}

TEST_CASE("DISCARD and RESET forget what is queued; QUIT does not wait for EXEC") {
  TransactionFixture node;
  node("MULTI");
  node("SET printer alice PX 10000");
  CHECK(node("DISCARD") == "+OK");
  node("MULTI");
  node("SET printer alice PX 10000");
  CHECK(node("RESET") == "+RESET");
  CHECK(node("EXEC") == "-ERR EXEC without MULTI");
  CHECK(node("EXISTS printer") == "(integer) 0");
  node.bob("MULTI");
  CHECK(node.bob("QUIT") == "+OK");
  CHECK(node.other.session().is_closing());
}

TEST_CASE("a transaction that is longer than the node takes is aborted, and keeps no memory") {
  TransactionFixture node;
  node("MULTI");
  const std::string line = "GET " + std::string(1 << 20, 'k');
  for (int i = 0; i < 15; ++i) REQUIRE(node(line) == "+QUEUED");
  CHECK(node(line) == "-ERR this transaction is too long");
  CHECK(node("EXEC") == kAborted);
}

TEST_CASE("above maxmemory nothing is queued, and EXEC of what was does nothing") {
  Settings settings;
  settings.maxmemory = 1'000'000;
  TransactionFixture node(settings);
  node("MULTI");
  node("SET printer alice PX 10000");
  node.bob("MULTI");
  node.bob("GET printer");
  node.node().settings().maxmemory = 1;
  CHECK(node("EXEC") ==
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > "
        "'maxmemory'.");
  CHECK(node("EXISTS printer") == "(integer) 0");
  CHECK(node.bob("GET lamp") == "-OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(node.bob("EXEC") == kAborted);
}

TEST_CASE("EXEC runs at one instant: a lock that it takes runs from there (rule C4)") {
  TransactionFixture node;
  node("MULTI");
  node("SET printer alice PX 10000");
  node.advance(5s);
  node("EXEC");
  node.advance(10s - 1ns);
  CHECK(node("GET printer") == "\"alice\"");
  node.advance(1ns);
  CHECK(node("GET printer") == "(nil)");
}

TEST_CASE("a TTL that the same transaction sets counts as the key's own (rule L2)") {
  TransactionFixture node;
  node("MULTI");
  node("SETNX printer alice");
  node("PEXPIRE printer 10000");
  CHECK(node("EXEC") == "[(integer) 1, (integer) 1]");
  CHECK(node.node().stats().ttl_imposed == 0);
  node("MULTI");
  node("SETNX lamp alice");
  node("EXEC");
  CHECK(node.node().stats().ttl_imposed == 1);
}

TEST_CASE("a transaction of many keys is done in their number, not in its square") {
  constexpr int kKeys = 100'000;  // squared it would be a minute
  TransactionFixture node;
  constexpr int kKeysAtOnce = 5'000;
  TestClient alice = node.connect();
  alice.send("MULTI", node.now());
  for (int first = 0; first < kKeys; first += kKeysAtOnce) {
    std::vector<std::string> mset = {"MSET"};
    for (int i = 0; i < kKeysAtOnce; ++i) {
      mset.insert(mset.end(), {fmt::format("k{}", first + i), "v"});
    }
    alice.send(mset, node.now());
  }
  for (int i = 1; i < kKeys; ++i) alice.send(fmt::format("PEXPIRE k{} 9000", i), node.now());
  alice.session().output().clear();
  alice.send("EXEC", node.now());
  CHECK(alice.session().output().view().starts_with("*100019\r\n+OK\r\n"));
  CHECK(node.node().stats().ttl_imposed == 1);  // of k0 alone
}

TEST_CASE("what a script that overruns gets without asking counts once it has ended (rule L2)") {
  BusyFixture busy;
  busy.ask(busy.alice,
           "EVAL \"redis.call('setnx', KEYS[1], 'v') redis.call('INFO') "
           "for i = 1, 300000 do end\" 1 door");
  REQUIRE(busy.node.has_suspended());
  CHECK(busy.node.stats().ttl_imposed == 0);
  for (int slice = 0; slice < 1000 && busy.node.has_suspended(); ++slice) busy.pass(0ns);
  REQUIRE_FALSE(busy.node.has_suspended());
  CHECK(busy.node.stats().ttl_imposed == 1);
}

TEST_CASE("every command of the node can be queued and answers in EXEC, or is refused") {
  TransactionFixture node;
  for (const protocol::CommandSpec* spec : node.node().commands().specs()) {
    CAPTURE(spec->name);
    if (spec->has(protocol::kNotQueued)) continue;
    std::string line(spec->name);
    const std::size_t bar = line.find('|');
    if (bar != std::string::npos) line[bar] = ' ';
    const int words_of_name = bar == std::string::npos ? 1 : 2;
    for (int word = words_of_name; word < std::abs(spec->arity); ++word) line += " 1";
    TestClient client = node.connect();
    client.send("MULTI", node.now());
    client.send(line, node.now());
    client.send("EXEC", node.now());
    CHECK(client.receive() == "+OK");
    CHECK(client.receive() != "(none)");
    CHECK(client.receive() != "(none)");
    CHECK(client.receive() == "(none)");
    REQUIRE_FALSE(node.node().stop_request());
    node.advance(1ms);  // the end of CLIENT PAUSE 1
    node.do_due_work();
  }
}

// --- WATCH

TEST_CASE("whatever happens to a watched key makes EXEC do nothing") {
  TransactionFixture node;
  node("SET printer alice PX 10000");
  const std::string_view change =
      GENERATE("SET printer bob PX 10000", "SET printer alice PX 10000", "PEXPIRE printer 5000",
               "DEL printer", "LOCK.RELEASE printer alice", "LOCK.EXTEND printer alice PX 20000",
               "PEXPIRE printer 0", "EVAL \"redis.call('DEL', KEYS[1])\" 1 printer");
  CHECK(node("WATCH printer") == "+OK");
  node.bob(change);
  node("MULTI");
  node("SET lamp alice PX 10000");
  CHECK(node("EXEC") == "(nil)");
  CHECK(node("EXISTS lamp") == "(integer) 0");
  node("MULTI");
  CHECK(node("EXEC") == "[]");  // one EXEC ends the watch
}

TEST_CASE("a watched key that comes and goes at once makes EXEC do nothing") {
  TransactionFixture node;
  node("WATCH absent");
  CHECK(node.bob("SET absent alice PXAT 1") == "+OK");
  node("MULTI");
  CHECK(node("EXEC") == "(nil)");
}

TEST_CASE("what leaves a watched key as it is does not stop EXEC") {
  TransactionFixture node;
  node("SET printer alice PX 10000");
  const std::string_view harmless = GENERATE(
      "GET printer", "SET printer bob NX PX 10000", "SET lamp bob PX 10000", "DEL absent",
      "PEXPIRE printer 5000 NX", "LOCK.RELEASE printer carol", "LOCK.EXTEND printer carol PX 9000");
  node("WATCH printer absent");
  node.bob(harmless);
  node("MULTI");
  CHECK(node("EXEC") == "[]");
}

TEST_CASE("a watched key that ran out makes EXEC do nothing, whoever notices it") {
  TransactionFixture node;
  node("SET printer alice PX 10000");
  node("WATCH printer");
  node.advance(10s);
  SECTION("EXEC itself") {}
  SECTION("another who looks") {
    node.bob("GET printer");
  }
  SECTION("the wheel") {
    node.advance(1s);
    node.do_due_work();
  }
  node("MULTI");
  CHECK(node("EXEC") == "(nil)");
}

TEST_CASE("a key that was over already when it was watched has not changed by that") {
  TransactionFixture node;
  node("SET printer alice PX 10000");
  node.advance(10s);
  node("WATCH printer");
  node.bob("GET printer");
  node.advance(1s);
  node.do_due_work();
  node("MULTI");
  CHECK(node("EXEC") == "[]");
}

TEST_CASE("a key that appears is a change of the key that was not there") {
  TransactionFixture node;
  node("WATCH printer");
  node.bob("SET printer bob PX 10000");
  node("MULTI");
  CHECK(node("EXEC") == "(nil)");
}

TEST_CASE("a client's own change counts, but for those of the transaction") {
  TransactionFixture node;
  node("WATCH printer");
  node("SET printer alice PX 10000");
  node("MULTI");
  CHECK(node("EXEC") == "(nil)");
  node("WATCH printer");
  node("MULTI");
  node("DEL printer");
  node("SET printer alice PX 10000");
  CHECK(node("EXEC") == "[(integer) 1, +OK]");
}

TEST_CASE("UNWATCH, DISCARD and RESET end a watch, a broken one too") {
  TransactionFixture node;
  node("WATCH printer");
  node.bob("SET printer bob PX 10000");
  SECTION("UNWATCH") {
    CHECK(node("UNWATCH") == "+OK");
  }
  SECTION("DISCARD") {
    node("MULTI");
    node("DISCARD");
  }
  SECTION("RESET") {
    node("RESET");
  }
  node("MULTI");
  CHECK(node("EXEC") == "[]");
  CHECK(node.node().watches().count() == 0);
}

TEST_CASE("two who watch a key: the first EXEC that changes it stops the second") {
  TransactionFixture node;
  for (const std::string_view word : {"WATCH counter", "MULTI", "SET counter 1 PX 10000"}) {
    node(word);
    node.bob(word);
  }
  CHECK(node("EXEC") == "[+OK]");
  CHECK(node.bob("EXEC") == "(nil)");
}

TEST_CASE("the null of EXEC is RESP3's for those who speak it") {
  TransactionFixture node;
  TestClient& bob = node.other;
  node.bob("HELLO 3");
  node.bob("WATCH printer");
  node("SET printer alice PX 10000");
  node.bob("MULTI");
  bob.send("EXEC", node.now());
  CHECK(bob.session().output().view() == "_\r\n");
}

TEST_CASE("what one client watches takes kWatchedBytesMax, and no more") {
  TransactionFixture node;
  const std::size_t key_bytes = GENERATE(as<std::size_t>{}, 1'000, 60'000, 500'000);
  const auto watch = [&](std::size_t number) {
    return node(fmt::format("WATCH {:0{}}", number, key_bytes));
  };
  constexpr std::string_view kTooMuch =
      "-ERR this connection watches too much already: its watches may take 1048576 bytes together";
  std::size_t watched = 0;
  while (watch(watched) == "+OK") REQUIRE(++watched * key_bytes < kWatchedBytesMax);
  CHECK(watch(watched) == kTooMuch);
  CHECK(watch(0) == "+OK");  // again is the same as once
  CHECK(node.node().watches().bytes() > kWatchedBytesMax - 2 * key_bytes);
  CHECK(node.bob("WATCH another") == "+OK");  // the limit is each client's own
  node("UNWATCH");
  CHECK(watch(watched) == "+OK");
}

TEST_CASE("nothing is kept of a watcher that is gone, or that has ended its watch") {
  TransactionFixture node;
  node.bob("WATCH printer lamp");
  CHECK(node.node().watches().count() == 2);
  SECTION("gone") {
    node.node().close_session(node.other.session().id());
  }
  SECTION("ended, when it was broken") {
    node("SET printer alice PX 10000");
    CHECK(node.other.session().watch_is_broken);
    CHECK(node.node().watches().count() == 1);  // for as long as it does not end it
    node.bob("UNWATCH");
  }
  CHECK(node.node().watches().count() == 0);
  CHECK(node.node().watches().bytes() == 0);
  node("SET lamp alice PX 10000");
  CHECK_FALSE(node.node().locks().notes().has_changed());
}

// --- a script that is suspended inside EXEC

namespace {

// Suspended at INFO, and done in a slice or two after it.
constexpr std::string_view kLongScript =
    "EVAL \"redis.call('INFO') for i = 1, 3000 do end return redis.call('GET', 'printer')\" 0";

}  // namespace

TEST_CASE("a transaction whose script overruns goes on when the script has ended") {
  BusyFixture busy;
  busy.ask(busy.alice, "MULTI");
  busy.ask(busy.alice, "SET printer alice PX 10000");
  busy.ask(busy.alice, kLongScript);
  busy.ask(busy.alice, kLongScript);  // the second is suspended, too
  busy.ask(busy.alice, "SET printer carol PX 10000");
  CHECK(busy.ask(busy.alice, "EXEC") == "(none)");
  CHECK(busy.ask(busy.bob, "GET printer").starts_with("-BUSY"));
  CHECK(busy.node.has_unfinished_request(busy.alice.session()));
  for (int slice = 0; slice < 20; ++slice) busy.pass(20ms);
  CHECK(busy.alice.receive() == R"([+OK, "alice", "alice", +OK])");
  CHECK_FALSE(busy.node.has_unfinished_request(busy.alice.session()));
  CHECK(busy.ask(busy.bob, "PTTL printer") == "(integer) 9600");  // from EXEC's instant
}

TEST_CASE("while a script overruns EXEC is refused, and MULTI and WATCH are served") {
  BusyFixture busy;
  busy.ask(busy.alice, "EVAL \"redis.call('INFO') while true do end\" 0");
  CHECK(busy.ask(busy.bob, "WATCH printer") == "+OK");
  CHECK(busy.ask(busy.bob, "MULTI") == "+OK");
  CHECK(busy.ask(busy.bob, "GET printer").starts_with("-BUSY"));
  CHECK(busy.ask(busy.bob, "DISCARD") == "+OK");
  CHECK(busy.ask(busy.bob, "MULTI") == "+OK");
  CHECK(busy.ask(busy.bob, "EXEC") ==
        "-EXECABORT Transaction discarded because of: BUSY Redis is busy running a script. You can "
        "only call SCRIPT KILL or SHUTDOWN NOSAVE.");
}

TEST_CASE("SCRIPT KILL ends the script, not the transaction around it") {
  BusyFixture busy;
  busy.ask(busy.alice, "MULTI");
  busy.ask(busy.alice, "EVAL \"redis.call('INFO') while true do end\" 0");
  busy.ask(busy.alice, "SET printer alice PX 10000");
  busy.ask(busy.alice, "EXEC");
  CHECK(busy.ask(busy.bob, "SCRIPT KILL") == "+OK");
  const std::string replies = busy.alice.receive();
  CHECK(replies.starts_with("[-ERR Script killed by user"));
  CHECK(replies.ends_with("+OK]"));
  CHECK(busy.ask(busy.bob, "GET printer") == "\"alice\"");
}

TEST_CASE("each script of a transaction has script-time-limit for itself") {
  BusyFixture busy;
  busy.ask(busy.alice, "MULTI");
  busy.ask(busy.alice, "EVAL \"redis.call('INFO') while true do end\" 0");
  busy.ask(busy.alice, "EVAL \"redis.call('INFO') while true do end\" 0");
  busy.ask(busy.alice, "EXEC");
  busy.pass(5s);
  busy.pass(4s);
  CHECK(busy.alice.receive() == "(none)");
  busy.pass(1s);
  const std::string replies = busy.alice.receive();
  CHECK(replies.starts_with("[-ERR script stopped"));
  CHECK(replies.find(", -ERR script stopped") != std::string::npos);
}
