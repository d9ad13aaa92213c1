// Many clients of one key at a front door (rule D10), and the limits of what one client may want.
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/key_lines.h"
#include "tests/support/door_world.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using coordinator::KeyLines;

TEST_CASE("who is first of all its lines has its turn, and none waits in a ring") {
  KeyLines lines;
  const Instant now(24h);
  CHECK(lines.enter(1, {"a", "b"}, now));
  CHECK_FALSE(lines.enter(2, {"b", "c"}, now));
  CHECK_FALSE(lines.enter(3, {"c", "a"}, now + 1ms));
  CHECK(lines.enter(4, {"d"}, now));
  CHECK(lines.waiting_since("c", now) == std::vector<KeyLines::Number>{2});
  CHECK(lines.waiting_since("c", now + 1ms) == std::vector<KeyLines::Number>{2, 3});
  CHECK(lines.leave(1) == std::vector<KeyLines::Number>{2});
  CHECK(lines.stands_in(2, {"b"}));
  CHECK_FALSE(lines.stands_in(2, {"a"}));
  CHECK(lines.leave(2) == std::vector<KeyLines::Number>{3});
  CHECK(lines.leave(3).empty());
  CHECK(lines.leave(3).empty());
  CHECK(lines.lines() == 1);
}

TEST_CASE("a hundred who ask of a held lock at once cost the nodes one or two readings (D10)") {
  DoorWorld world;
  DoorClient holder = world.connect();
  CHECK(holder("SET printer holder NX PX 10000") == "+OK");
  std::vector<DoorClient> pollers;
  for (int i = 0; i < 100; ++i) pollers.push_back(world.connect());
  for (DoorClient& poller : pollers) poller.send("SET printer poller NX PX 10000");
  for (DoorClient& poller : pollers) CHECK(poller.receive() == "(nil)");
  CHECK(world.door().stats().readings <= 2);
  CHECK(world.nodes().calls("lock.acquire") == 5);
  for (DoorClient& poller : pollers) poller.send("GET printer");
  for (DoorClient& poller : pollers) CHECK(poller.receive() == "\"holder\"");
  CHECK(world.door().stats().readings <= 4);
}

TEST_CASE("of a hundred who want a free lock at once one gets it, and each node is asked once") {
  DoorWorld world;
  std::vector<DoorClient> all;
  for (int i = 0; i < 100; ++i) all.push_back(world.connect());
  for (DoorClient& one : all) one.send("SET printer 1 NX PX 10000");
  int got = 0;
  for (DoorClient& one : all) got += one.receive() == "+OK" ? 1 : 0;
  CHECK(got == 1);
  CHECK(world.nodes().calls("lock.acquire") == 5);
}

TEST_CASE("those who wait get the lock in their order, one attempt a grant (rule D10)") {
  DoorWorld world;
  DoorClient holder = world.connect();
  CHECK(holder("LOCK.ACQUIRE printer holder PX 30000").starts_with("[(integer) 1"));
  std::vector<DoorClient> waiters;
  for (int i = 0; i < 50; ++i) {
    waiters.push_back(world.connect());
    waiters.back().send(fmt::format("LOCK.ACQUIRE printer w{} PX 30000 WAIT 60000", i));
    world.nodes().pass(1ms);
  }
  world.nodes().pass(50ms);
  const std::uint64_t before = world.nodes().calls("lock.acquire");
  CHECK(holder("SET printer late NX PX 1000") == "(nil)");
  CHECK(holder("LOCK.RELEASE printer holder") == "(integer) 1");
  for (int i = 0; i < 50; ++i) {
    DoorClient& waiter = waiters[static_cast<std::size_t>(i)];
    const Instant begin = world.nodes().now();
    CHECK(waiter.receive().starts_with(fmt::format("[(integer) 1, (integer) {}", i + 2)));
    CHECK(world.nodes().now() - begin <= 2ms);  // asked for at once, without a word of the nodes
    CHECK(waiter(fmt::format("LOCK.RELEASE printer w{}", i)) == "(integer) 1");
  }
  CHECK(world.nodes().calls("lock.acquire") - before == 250);
}

TEST_CASE("a door passes eight releases in a row on by itself, then nodes say who is first (Q7)") {
  DoorWorld world(5, 2);
  DoorClient holder = world.connect(1);
  CHECK(holder("LOCK.ACQUIRE printer holder PX 30000").starts_with("[(integer) 1"));
  std::vector<DoorClient> own;
  const auto come = [&] {
    own.push_back(world.connect(1));
    own.back().send(fmt::format("LOCK.ACQUIRE printer w{} PX 30000 WAIT 60000", own.size() - 1));
    world.nodes().pass(2ms);
  };
  come();
  DoorClient other = world.connect(2);  // came second of all
  other.send("LOCK.ACQUIRE printer other PX 30000 WAIT 60000");
  world.nodes().pass(2ms);
  while (own.size() < 12) come();
  world.nodes().pass(50ms);
  CHECK(holder("LOCK.RELEASE printer holder") == "(integer) 1");
  for (std::size_t i = 0; i < 8; ++i) {
    CAPTURE(i);
    REQUIRE(own[i].receive(5ms).starts_with("[(integer) 1, "));
    world.nodes().pass(50ms);  // the other has found it held, and waits anew
    CHECK(own[i](fmt::format("LOCK.RELEASE printer w{}", i)) == "(integer) 1");
  }
  CHECK(other.receive(50ms).starts_with("[(integer) 1, "));
  CHECK(other("LOCK.RELEASE printer other") == "(integer) 1");
  CHECK(own[8].receive(50ms).starts_with("[(integer) 1, "));
}

TEST_CASE("a wait ends with its time, with its client, and with a release at a node") {
  DoorWorld world(5, 2);
  DoorClient holder = world.connect(1);
  DoorClient waiter = world.connect(2);
  DoorClient gone = world.connect(2);
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  CHECK(waiter("LOCK.ACQUIRE printer waiter PX 1000 WAIT 100").starts_with("[(integer) 0, "));
  CHECK(waiter("LOCK.ACQUIRE printer waiter PX 1000 WAIT 1").starts_with("[(integer) 0, "));
  gone.send("LOCK.ACQUIRE printer gone PX 1000 WAIT 60000");
  waiter.send("LOCK.ACQUIRE printer waiter PX 1000 WAIT 60000");
  world.nodes().pass(1s);
  gone.hang_up();
  CHECK(holder("DEL printer") == "(integer) 1");
  CHECK(waiter.receive(1s).starts_with("[(integer) 1, "));
}

TEST_CASE("what waits counts as its client's memory until it is answered (maxmemory-clients)") {
  DoorWorld world;
  DoorClient holder = world.connect();
  DoorClient waiter = world.connect();
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  const std::string value(60'000, 'v');
  waiter.send(
      std::vector<std::string>{"LOCK.ACQUIRE", "printer", value, "PX", "1000", "WAIT", "60000"});
  world.nodes().pass(1s);
  CHECK(waiter.session().kept_bytes > value.size());
  CHECK(holder("DEL printer") == "(integer) 1");
  CHECK(waiter.receive().starts_with("[(integer) 1, "));
  CHECK(waiter.session().kept_bytes == 0);
  CHECK(waiter("LOCK.RELEASE printer wrong") == "(integer) 0");
  CHECK(waiter.session().kept_bytes == 0);
}

TEST_CASE("who waits for a lock that nobody holds, and no node can give, costs next to nothing") {
  DoorWorld world;
  for (unsigned number = 1; number <= 5; ++number) world.nodes().lose_ledger(number, 0s);
  DoorClient waiter = world.connect();
  CHECK(waiter("LOCK.ACQUIRE printer waiter PX 1000 WAIT 2000").starts_with("-ERR no fencing"));
  CHECK(world.nodes().calls("lock.acquire") < 500);
}

// The nodes' word that it is free is still to come.
void release_silently(DoorWorld& world, const std::string& key) {
  for (unsigned number = 1; number <= 5; ++number) {
    world.nodes().node(number).grants().release(key, world.nodes().now());
  }
}

TEST_CASE("a LOCK.ACQUIRE that does not wait takes nothing before those who do (rule D10)") {
  DoorWorld world;
  DoorClient holder = world.connect();
  DoorClient first = world.connect();
  DoorClient second = world.connect();
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  first.send("LOCK.ACQUIRE printer first PX 1000 WAIT 60000");
  world.nodes().pass(100ms);
  CHECK(second("LOCK.ACQUIRE printer second PX 1000").starts_with("[(integer) 0, "));
  release_silently(world, "printer");
  CHECK(holder("SET printer late NX PX 1000") == "(nil)");
  CHECK(holder("SET printer late PX 1000 IFNE NX") == "+OK");  // that is no plain try
  release_silently(world, "printer");
  second.send("LOCK.ACQUIRE printer second PX 1000 WAIT 0");
  world.host().act();
  CHECK(holder("LOCK.ACQUIRE printer late PX 1000") == "[(integer) 0, (integer) 1]");
  CHECK(second.receive(1s) == "[(integer) 0, (integer) 1]");
  CHECK(first.receive(1min).starts_with("[(integer) 1, "));
}

TEST_CASE("LOCK.WAIT at a front door tells when a lock is free") {
  DoorWorld world(5, 2);
  DoorClient holder = world.connect(1);
  DoorClient waiter = world.connect(2);
  CHECK(waiter("LOCK.WAIT printer 0") == "(integer) 1");
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  CHECK(waiter("LOCK.WAIT printer 0") == "(integer) 0");
  CHECK(waiter("LOCK.WAIT printer 50") == "(integer) 0");
  waiter.send("LOCK.WAIT printer 60000");
  CHECK(waiter.receive(1s) == "(none)");
  CHECK(holder("DEL printer") == "(integer) 1");
  CHECK(waiter.receive(1s) == "(integer) 1");
  CHECK(waiter("HELLO 3").starts_with("{"));
  CHECK(waiter("LOCK.WAIT printer 1000 PUSH") == "+OK");
  CHECK(waiter.receive(1s) == ">[\"lock.free\", \"printer\", (integer) 1]");
}

TEST_CASE("what a client of a front door waits for goes in pieces, when it leaves and at RESET") {
  constexpr int kKeys = 200;
  DoorWorld world;
  DoorClient holder = world.connect();
  DoorClient waiter = world.connect();
  CHECK(waiter("HELLO 3").starts_with("{"));
  for (int i = 0; i < kKeys; ++i) {
    CHECK(holder(fmt::format("SET key{} holder NX PX 30000", i)) == "+OK");
    CHECK(waiter(fmt::format("LOCK.WAIT key{} 20000 PUSH", i)) == "+OK");
    CHECK(waiter(fmt::format("LOCK.WAIT key{} 20000 PUSH", i)) == "+OK");  // the same wait
  }
  const auto wishes = [&] { return world.door().wishes_of(waiter.session()); };
  const std::size_t each = wishes() / kKeys;
  CHECK(wishes() == kKeys * each);
  CHECK(world.door().forget_some(waiter.session(), 10 * each) == 10 * each);
  CHECK(wishes() == (kKeys - 10) * each);
  CHECK(world.door().forget_some(waiter.session(), 1) > 0);  // else all the rest went at once
  CHECK(wishes() == (kKeys - 11) * each);
  waiter.send("RESET");
  CHECK(wishes() > 0);
  CHECK(holder("PING") == "+PONG");
  CHECK(waiter.receive() == "+RESET");
  CHECK(wishes() == 0);
  CHECK(holder("DEL key7") == "(integer) 1");
  CHECK(waiter.receive(1s) == "(none)");
}

TEST_CASE("a ticket puts a front door's LOCK.WAIT before those who came earlier (rule Q7)") {
  DoorWorld world(5, 3);
  DoorClient holder = world.connect(3);
  DoorClient first = world.connect(1);
  DoorClient second = world.connect(2);
  DoorClient third = world.connect(1);
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  first.send("LOCK.WAIT printer 60000");
  world.nodes().pass(5ms);
  second.send("LOCK.WAIT printer 60000 AT 2-2");
  world.nodes().pass(5ms);
  SECTION("its door's line stands where the ticket says") {
    CHECK(holder("DEL printer") == "(integer) 1");
    CHECK(second.receive(5ms) == "(integer) 1");
    CHECK(first.receive(0ms) == "(none)");
    CHECK(first.receive(50ms) == "(integer) 1");
  }
  SECTION("a smaller one takes its line along, though the door waited before") {
    third.send("LOCK.WAIT printer 60000 AT 1-1");
    world.nodes().pass(5ms);
    CHECK(holder("DEL printer") == "(integer) 1");
    CHECK(third.receive(5ms) == "(integer) 1");
    CHECK(first.receive(0ms) == "(integer) 1");
    CHECK(second.receive(0ms) == "(none)");
    CHECK(second.receive(50ms) == "(integer) 1");
  }
  CHECK(third("LOCK.WAIT printer 1 AT").starts_with("-ERR syntax error"));
  CHECK(third("LOCK.WAIT printer 1 AT soon").starts_with("-ERR a ticket is two numbers"));
}

TEST_CASE("what one command may use is bounded, and the error says so") {
  DoorWorld world;
  DoorClient alice = world.connect();
  std::string keys = "EXISTS";
  for (int i = 0; i < 64; ++i) keys += fmt::format(" k{}", i);
  CHECK(alice(keys) == "(integer) 0");
  CHECK(alice(keys + " one-more") == fmt::format("-{}", coordinator::kTooManyKeys));
  CHECK(alice("SET k v NX PX 65000")
            .starts_with("-ERR a TTL of 65000 ms is above this front door's max-ttl ("));
  CHECK(alice("SET k v NX").starts_with("-ERR a lock needs a TTL"));
  CHECK(alice("CONFIG SET max-ttl 1h").starts_with("-ERR max-ttl is not for a front door's"));
  CHECK(alice(keys.replace(0, 6, "WATCH")) ==
        "-ERR a connection may watch 32 keys at a front door");
  const std::string value(64 * 1024 - 32, 'v');
  alice.send(std::vector<std::string>{"SET", "k", value, "NX", "PX", "10000"});
  CHECK(alice.receive() == "+OK");
  alice.send(std::vector<std::string>{"SET", "k2", value + "v", "NX", "PX", "10000"});
  CHECK(alice.receive().starts_with("-ERR a value of "));
  std::vector<std::string> long_request(18, std::string(1u << 20, 'v'));
  long_request[0] = "EXISTS";
  alice.send(long_request);
  CHECK(alice.receive() == "-ERR this request is longer than a front door takes");
  CHECK(alice("PING") == "+PONG");
}

TEST_CASE("no error of a front door has a word that client libraries react to") {
  using namespace coordinator;
  const std::vector<NamedNode> nodes = {{"a:1", {}}, {"b:2", {}}};
  for (const std::string_view own :
       {"ERR unknown command 'LOCK.ACQUIRE'", "NOAUTH Authentication required.",
        "OOM command not allowed", "ERR max number of clients reached", "LOADING Redis is loading",
        "MOVED 1 a:1", "READONLY You can't write against a read only replica.",
        "BUSY Redis is busy running a script.", "ERR syntax error"}) {
    const Answer answer{.kind = AnswerKind::error, .text = std::string(own)};
    for (const std::string& text :
         {no_quorum_text(nodes, {answer, answer}, Doubt::may_be_done),
          cannot_be_told_text(nodes, {answer, answer}, Doubt::may_be_done),
          unfenced_text(nodes, {answer, answer})}) {
      CHECK_FALSE(has_telling_word(text));
      CHECK(text.starts_with("ERR "));
      CHECK(text.size() <= kDoorErrorBytesMax);
      CHECK(text.find('\n') == std::string::npos);
    }
  }
  for (const std::string_view text :
       {kHeldByDirectClient, kTooManyValues, kTooManyKeys, kChangesTooOften, kDoneInPart,
        kClientGone, kDoorStops, kTooManyWait, kScriptTooLong, kLeftOut, kCounterIsToken}) {
    CHECK(text.starts_with("ERR "));
    CHECK_FALSE(has_telling_word(text));
  }
  CHECK_FALSE(has_telling_word(too_late_text(812ms, 500ms)));
  CHECK_FALSE(has_telling_word(runs_out_text(1s)));
  const Answer recovering{.kind = AnswerKind::recovering,
                          .text = "ERR recovering after a restart, no new locks for 4200 ms"};
  CHECK(no_quorum_text(nodes, {recovering, Answer{.kind = AnswerKind::yes}}, Doubt::none) ==
        "ERR NOQUORUM 1 of 2 nodes answered: a:1 recovering after a restart, no new locks for "
        "4200 ms");
}

TEST_CASE("a door that stops gives back what it is taking, tells those who wait, and ends") {
  DoorWorld world;
  DoorClient holder = world.connect();
  DoorClient waiter = world.connect();
  DoorClient watcher = world.connect();
  DoorClient taker = world.connect();
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  waiter.send("LOCK.ACQUIRE printer waiter PX 1000 WAIT 60000");
  watcher.send("LOCK.WAIT printer 60000");
  world.nodes().pass(1s);
  taker.send("SET scanner taker NX PX 30000");
  world.host().act();
  world.door().stop();
  CHECK(taker.receive().starts_with("-ERR this front door is stopping"));
  CHECK(waiter.receive().starts_with("-ERR this front door is stopping"));
  CHECK(watcher.receive() == "(integer) 0");
  CHECK(world.nodes().run_until([&] { return world.door().is_stopped(); }, 100ms));
  CHECK(world.host().group().releases_under_way() == 0);
  world.nodes().pass(100ms);
  CHECK(world.held_at("scanner") == 0);
  CHECK(world.held_at("printer") == 5);
}

TEST_CASE("who is called when a door stops is told once, and takes nothing (D6)") {
  const std::string stopping = "-" + std::string(coordinator::kDoorStops);
  // At each instant of a hand-over: called, begun, asked, half answered, had.
  for (Duration after = 0us; after <= 6ms; after += 250us) {
    DoorWorld world;
    DoorClient holder = world.connect();
    DoorClient first = world.connect();
    DoorClient second = world.connect();
    CHECK(holder("SET printer holder NX PX 30000") == "+OK");
    first.send("LOCK.ACQUIRE printer first PX 1000 WAIT 60000");
    second.send("LOCK.ACQUIRE printer second PX 1000 WAIT 60000");
    world.nodes().pass(1s);
    holder.send("DEL printer");
    world.nodes().pass(after);
    CAPTURE(after.count());
    world.door().stop();
    world.nodes().pass(100ms);
    CHECK(world.door().is_stopped());
    const std::string told = first.take();
    CAPTURE(told);
    const bool has_lock = told.starts_with("[(integer) 1, ");
    if (!has_lock) CHECK(told == stopping);
    CHECK(second.take() == stopping);
    CHECK(first.take() == "(none)");
    CHECK(second.take() == "(none)");
    CHECK(world.held_at("printer") == (has_lock ? 5 : 0));
  }
}

TEST_CASE("who is called when a door stops and has not asked yet does not begin to (D6)") {
  DoorWorld world;
  DoorClient waiter = world.connect();
  waiter.send("LOCK.ACQUIRE printer waiter PX 1000 WAIT 60000");
  world.host().act();
  world.door().stop();
  world.nodes().pass(100ms);
  CHECK(world.door().is_stopped());
  CHECK(waiter.take() == "-" + std::string(coordinator::kDoorStops));
  CHECK(waiter.take() == "(none)");
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("a door that stops executes the releases that it has received (D6)") {
  DoorWorld world;
  DoorClient holder = world.connect();
  CHECK(holder("SET printer holder NX PX 30000") == "+OK");
  world.door().stop();
  world.host().act();
  CHECK(world.door().is_stopped());
  holder.send("DEL printer");
  CHECK_FALSE(world.door().is_stopped());
  world.nodes().pass(100ms);
  CHECK(world.door().is_stopped());
  CHECK(holder.take() == "(integer) 1");
  CHECK(world.held_at("printer") == 0);
}

TEST_CASE("what a monitor asks of a door itself is shown to it, and answered once") {
  DoorWorld world;
  DoorClient monitor = world.connect();
  CHECK(monitor("MONITOR") == "+OK");
  monitor.send("WATCH printer");
  CHECK(monitor.receive().find("\"WATCH\" \"printer\"") != std::string::npos);
  CHECK(monitor.receive() == "+OK");
  monitor.send("MULTI");
  CHECK(monitor.receive() == "+OK");
  CHECK(monitor.receive().find("\"MULTI\"") != std::string::npos);
  monitor.send("EXEC");
  CHECK(monitor.receive().find("\"EXEC\"") != std::string::npos);
  CHECK(monitor.receive() == "[]");
  monitor.send("PING");
  CHECK(monitor.receive() == "+PONG");
}

TEST_CASE("who waits for thousands of keys leaves others a place in line (D10)") {
  DoorWorld world;
  DoorClient greedy = world.connect();
  DoorClient other = world.connect();
  greedy("HELLO 3");
  for (std::size_t key = 0; key < coordinator::kPushLinesMax; ++key) {
    REQUIRE(greedy(fmt::format("LOCK.WAIT key{} 60000 PUSH AT 1-{}", key, key)) == "+OK");
  }
  const std::string too_many = "-" + std::string(coordinator::kTooManyWait);
  CHECK(greedy("LOCK.WAIT another 60000 PUSH") == too_many);
  CHECK(greedy("LOCK.WAIT key7 60000 PUSH") == "+OK");
  std::vector<DoorClient> single;
  for (std::size_t key = coordinator::kPushLinesMax + 1; key < coordinator::kLinesMax; ++key) {
    single.push_back(world.connect());
    single.back().send(fmt::format("LOCK.WAIT key{} 60000", key));
  }
  other.send("LOCK.ACQUIRE another other PX 1000 WAIT 60000");
  DoorClient late = world.connect();
  CHECK(late("LOCK.ACQUIRE third late PX 1000 WAIT 60000") == too_many);
  CHECK(other.receive().starts_with("[(integer) 1, "));
}

TEST_CASE("who waits for the longest names leaves others a place in line (D10)") {
  DoorWorld world;
  DoorClient greedy = world.connect();
  greedy("HELLO 3");
  const std::string name(60'000, 'k');
  const auto wait = [&](std::size_t key, Duration time) {
    if (time > 0s) world.connect()(fmt::format("SET {}{} 1 NX PX 60000", name, key));
    return greedy(fmt::format("LOCK.WAIT {}{} {} PUSH", name, key, time / 1ms));
  };
  const std::string too_many = "-" + std::string(coordinator::kTooManyWait);
  constexpr std::size_t kLines = coordinator::kLineBytesMax / 2 / 60'002;
  for (std::size_t key = 10; key < 10 + kLines; ++key) REQUIRE(wait(key, 60s) == "+OK");
  CHECK(wait(10 + kLines, 60s) == too_many);
  CHECK(wait(10, 60s) == "+OK");
  DoorClient other = world.connect();
  other.send(fmt::format("LOCK.ACQUIRE {}other other PX 1000 WAIT 60000", name));
  CHECK(other.receive().starts_with("[(integer) 1, "));
  CHECK(wait(10, 0s) == "+OK");
  world.nodes().pass(10ms);
  CHECK(wait(10 + kLines, 60s) == "+OK");
}

TEST_CASE("whom the nodes never give a lock waits for none, and is in nobody's way (D10)") {
  server::Settings settings;
  settings.value_size_limit = 1024;
  DoorWorld world(5, 1, {}, 1ms, settings);
  DoorClient alice = world.connect();
  alice.send(fmt::format("LOCK.ACQUIRE printer {} PX 1000 WAIT 60000", std::string(2000, 'v')));
  CHECK(alice.receive(1s).find("value-size-limit is 1") != std::string::npos);
  CHECK(world.connect()("LOCK.ACQUIRE printer bob PX 1000").starts_with("[(integer) 1, "));
}

TEST_CASE("while the first who waits cannot be given the lock others may try (D10)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  for (unsigned node = 1; node <= 3; ++node) world.nodes().hang(node);
  alice.send("LOCK.ACQUIRE printer alice PX 10000 WAIT 60000");
  alice.receive(1s);
  CHECK(bob("SET printer bob NX PX 10000").starts_with("-ERR NOQUORUM"));
  for (unsigned node = 1; node <= 3; ++node) world.nodes().hang(node, false);
  CHECK(alice.receive().starts_with("[(integer) 1, "));
  CHECK(bob("SET printer bob NX PX 10000") == "(nil)");
}

TEST_CASE("what was voted before a client came is no answer to it (D10)") {
  DoorWorld world(5, 2);
  DoorClient holder = world.connect(2);
  DoorClient alice = world.connect();
  DoorClient bob = world.connect();
  CHECK(holder("SET printer holder NX PX 10000") == "+OK");
  world.nodes().pass(10ms);
  const auto release_at = [&](unsigned node) {
    world.nodes().node(node).grants().release("printer", world.nodes().now());
  };
  for (const unsigned node : {4U, 5U}) world.nodes().hang(node);
  for (const unsigned node : {2U, 3U}) release_at(node);
  alice.send("SET printer alice NX PX 10000");
  world.nodes().pass(10ms);
  release_at(1);  // by now it is free
  bob.send("SET printer bob NX PX 10000");
  world.nodes().pass(489ms);  // too late to try once more
  for (const unsigned node : {4U, 5U}) world.nodes().hang(node, false);
  CHECK(alice.receive() == "(nil)");
  CHECK(bob.receive() == "+OK");
}
