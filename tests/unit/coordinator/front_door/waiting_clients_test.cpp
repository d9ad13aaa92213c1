// Lines of a front door beside those of others (rule Q7), and what a turn of them costs.
#include "coordinator/front_door/waiting_clients.h"

#include "tests/support/door_world.h"
#include "tests/unit/coordinator/group/fake_nodes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using coordinator::WaitingClients;
using Form = WaitingClients::Form;
using Told = WaitingClients::Told;

TEST_CASE("of those who wait at several doors one alone is called, who came first (rule Q7)") {
  const unsigned door_of_holder = GENERATE(1u, 3u);  // its release, or the nodes tell the first
  CAPTURE(door_of_holder);
  DoorWorld world(5, 3);
  DoorClient holder = world.connect(door_of_holder);
  DoorClient first = world.connect(1);
  DoorClient second = world.connect(2);
  CHECK(holder("LOCK.ACQUIRE printer holder PX 30000").starts_with("[(integer) 1"));
  first.send("LOCK.ACQUIRE printer first PX 30000 WAIT 60000");
  world.nodes().pass(300ms);
  second.send("LOCK.ACQUIRE printer second PX 30000 WAIT 60000");
  world.nodes().pass(300ms);
  const auto attempts = world.nodes().calls("lock.acquire");
  const auto waits = world.nodes().calls("lock.wait");
  CHECK(holder("LOCK.RELEASE printer holder") == "(integer) 1");
  CHECK(first.receive(8ms).starts_with("[(integer) 1, "));
  world.nodes().pass(100ms);
  CHECK(world.nodes().calls("lock.acquire") == attempts + 5);
  CHECK(world.nodes().calls("lock.wait") == waits);
  CHECK(first("LOCK.RELEASE printer first") == "(integer) 1");
  CHECK(second.receive(8ms).starts_with("[(integer) 1, "));
}

TEST_CASE("a line stands at the nodes with the ticket of who is first in it now (rule Q7)") {
  DoorWorld world(5, 3);
  DoorClient holder = world.connect(3);
  DoorClient early = world.connect(1);
  DoorClient late = world.connect(1);
  DoorClient other = world.connect(2);
  CHECK(holder("LOCK.ACQUIRE printer holder PX 30000").starts_with("[(integer) 1"));
  const auto release = [&] { CHECK(holder("LOCK.RELEASE printer holder") == "(integer) 1"); };
  const auto take = [&](DoorClient& client) {
    client.send("LOCK.ACQUIRE printer w PX 30000 WAIT 60000");
    world.nodes().pass(50ms);
  };
  SECTION("one who comes to take the lock does not stand behind who only watches") {
    early.send("LOCK.WAIT printer 60000 AT 9000000000000-1");
    world.nodes().pass(50ms);
    take(late);
    take(other);
    release();
    CHECK(late.receive(8ms).starts_with("[(integer) 1, "));
    CHECK(other.receive(8ms) == "(none)");
  }
  SECTION("who leaves takes his ticket along") {
    take(early);
    take(other);
    take(late);
    early.hang_up();
    world.nodes().pass(50ms);
    release();
    CHECK(other.receive(8ms).starts_with("[(integer) 1, "));
    CHECK(late.receive(8ms) == "(none)");
  }
}

TEST_CASE("who leaves while it tries is waited for no longer, whatever it has sent behind (D5)") {
  DoorWorld world;
  DoorClient client = world.connect();
  client.send("LOCK.ACQUIRE printer me PX 10000 WAIT 60000");
  client.send("PING");
  world.host().act();
  world.host().act();
  client.hang_up();
  CHECK(world.door().sessions().all().empty());
  world.nodes().pass(1s);
  CHECK(world.held_at("printer") == 0);
}

namespace {

// The lines of a door alone, at five redlock-nodes.
struct Lines {
  Lines() { world.pass(20ms); }

  std::vector<WaitingClients::News> act() {
    waiting.act(world.now_of_both_clocks(), world.now());
    return waiting.take_told();
  }
  // In how many turns it has nothing to do any more.
  std::size_t turns() {
    std::size_t turns = 0;
    for (; waiting.has_work(); ++turns) act();
    return turns;
  }
  void watch(std::size_t keys, Duration length = 60s) {
    for (std::size_t key = 0; key < keys; ++key) {
      REQUIRE(waiting.add(1, Form::push, fmt::format("key{}", key), world.now() + length));
    }
  }

  NodeWorld world;
  NodeWorld::Client& client = world.new_client();
  WaitingClients waiting{client.group()};
};

}  // namespace

TEST_CASE("however many keys one watches, a turn looks at some, and first at who wants to take") {
  Lines lines;
  lines.watch(10 * coordinator::kLinesAtOnce);
  REQUIRE(lines.waiting.add(2, Form::acquire, "printer", lines.world.now() + 60s));
  REQUIRE(lines.waiting.add(3, Form::acquire, "key500", lines.world.now() + 60s));
  const auto told = lines.act();
  REQUIRE(told.size() == 2);
  CHECK(told[0].key == "printer");
  CHECK(told[1].key == "key500");
  CHECK(told[1].told == Told::try_now);
  lines.world.pass(5ms);
  CHECK(lines.world.calls("lock.wait") == 5 * coordinator::kLinesAtOnce);
  CHECK(lines.turns() >= 9);
}

TEST_CASE("what happens to a line before its turn costs one look, however often it happens") {
  Lines lines;
  for (int i = 0; i < 1000; ++i) lines.watch(1);
  CHECK(lines.turns() == 1);
}

TEST_CASE("of waits that end together a turn ends some") {
  Lines lines;
  lines.watch(3 * coordinator::kEndsAtOnce, 10ms);
  lines.world.pass(10ms);
  std::size_t ended = 0;
  for (std::size_t turn = 1; turn <= 3; ++turn) {
    CHECK(lines.waiting.next_deadline() <= lines.world.now());
    ended += static_cast<std::size_t>(
        std::ranges::count(lines.act(), Told::over, &WaitingClients::News::told));
    CHECK(ended == turn * coordinator::kEndsAtOnce);
  }
  CHECK(lines.waiting.count() == 0);
}

TEST_CASE("of the many who watch one key a turn tells some, and each is told once") {
  Lines lines;
  constexpr auto kMany = static_cast<WaitingClients::SessionId>(3 * coordinator::kToldAtOnce);
  for (WaitingClients::SessionId session = 1; session <= kMany; ++session) {
    REQUIRE(lines.waiting.add(session, Form::push, "printer", lines.world.now() + 60s));
  }
  REQUIRE(lines.waiting.add(kMany + 1, Form::acquire, "printer", lines.world.now() + 60s));
  CHECK(lines.act().size() == 1);
  lines.waiting.note_release("printer");
  for (int turn = 0; turn < 3; ++turn) {
    const auto told = lines.act();
    CHECK(told.size() == coordinator::kToldAtOnce);
    CHECK(std::ranges::count(told, Told::free, &WaitingClients::News::told) ==
          static_cast<std::ptrdiff_t>(told.size()));
  }
  CHECK(lines.waiting.count() == 1);
  CHECK(lines.act().empty());
}

TEST_CASE("of very many waits that end together a turn ends a part: those over do not pile up") {
  Lines lines;
  lines.watch(2 * coordinator::kEndsPart * coordinator::kEndsAtOnce / 5, 10ms);
  for (WaitingClients::SessionId session = 2; session <= 5; ++session) {
    for (std::size_t key = 0; key < lines.waiting.count_of(1); ++key) {
      REQUIRE(lines.waiting.add(session, Form::push, fmt::format("key{}", key),
                                lines.world.now() + 10ms));
    }
  }
  lines.world.pass(10ms);
  const std::size_t all = lines.waiting.count();
  lines.act();
  CHECK(all - lines.waiting.count() == all / coordinator::kEndsPart);
}

TEST_CASE("however many are told of one key, those who wait for others are told with them") {
  Lines lines;
  constexpr auto kMany = static_cast<WaitingClients::SessionId>(2 * coordinator::kToldAtOnce);
  const Instant end = lines.world.now() + 60s;
  const auto come = [&](WaitingClients::SessionId session, const std::string& key) {
    REQUIRE(lines.waiting.add(session, Form::push, key, end));
  };
  for (WaitingClients::SessionId session = 1; session <= kMany; ++session) come(session, "busy");
  const auto tells_of = [](const std::vector<WaitingClients::News>& told, std::string_view key) {
    return std::ranges::count(told, key, &WaitingClients::News::key);
  };
  SECTION("where some wait to take it, whose line comes before others'") {
    REQUIRE(lines.waiting.add(kMany + 1, Form::acquire, "busy", end));
    come(kMany + 2, "quiet");
    lines.act();
    lines.waiting.note_release("quiet");
    lines.waiting.note_release("busy");
    const auto told = lines.act();
    CHECK(tells_of(told, "busy") == coordinator::kToldAtOnce);
    CHECK(tells_of(told, "quiet") == 1);
  }
  SECTION("or in the next turn") {
    come(kMany + 2, "quiet");
    lines.act();
    lines.waiting.note_release("busy");
    lines.waiting.note_release("quiet");
    CHECK(tells_of(lines.act(), "quiet") == 0);
    CHECK(tells_of(lines.act(), "quiet") == 1);
  }
}

TEST_CASE(
    "while a line's first tries its nodes are asked nothing, and at the end all is given up") {
  Lines lines;
  lines.client.group().acquire({.name = "printer", .ttl = 60s}, lines.world.now(),
                               [](const coordinator::AcquireResult&) {});
  lines.world.pass(5ms);
  const auto waits = [&] {
    lines.world.pass(5ms);
    return lines.world.node(1).waiters().count();
  };
  const auto asked = [&] { return lines.world.calls("lock.wait"); };
  REQUIRE(lines.waiting.add(1, Form::push, "printer", lines.world.now() + 60s));
  lines.act();
  CHECK(waits() == 1);
  CHECK(asked() == 5);
  REQUIRE(lines.waiting.add(2, Form::acquire, "printer", lines.world.now() + 60s));
  CHECK(lines.act().size() == 1);
  CHECK(waits() == 1);
  CHECK(asked() == 5);
  SECTION("it goes on with the ticket of its first") {
    lines.waiting.wait_on(2, "printer", false);
    lines.act();
    CHECK(waits() == 1);
    CHECK(asked() == 15);
  }
  SECTION("the door stops") {
    lines.waiting.end_all();
    CHECK(lines.act().size() == 1);
    CHECK(waits() == 1);
    lines.waiting.leave(2, "printer");
    CHECK(lines.act().empty());
    CHECK(waits() == 0);
    CHECK_FALSE(lines.waiting.has_work());
  }
}

TEST_CASE("what the nodes pass on is not counted as a turn of the line's own (Q7)") {
  Lines lines;
  WaitingClients::SessionId first = 1;
  for (WaitingClients::SessionId session = 1; session <= 20; ++session) {
    REQUIRE(lines.waiting.add(session, Form::acquire, "printer", lines.world.now() + 60s));
  }
  CHECK(lines.act().size() == 1);
  const auto pass_on = [&](bool is_own) {
    lines.waiting.leave(first++, "printer");
    if (is_own) lines.waiting.note_release("printer");
    std::vector<WaitingClients::News> told = lines.act();
    if (!is_own) {
      CHECK(told.empty());
      lines.world.pass(5ms);
      told = lines.act();
    }
    return told.size() == 1 && told[0].told == Told::try_now;
  };
  for (unsigned turn = 0; turn < 5; ++turn) CHECK(pass_on(true));
  CHECK(pass_on(false));
  for (unsigned turn = 0; turn < coordinator::kOwnTurnsMax; ++turn) CHECK(pass_on(true));
  CHECK_FALSE(pass_on(true));
}

TEST_CASE("where the nodes cannot tell when a lock is free, who waits is told to try, again") {
  coordinator::FakeNodes world;
  world.start();
  world.acquire("printer");
  WaitingClients waiting(world.group());
  const auto act = [&] {
    waiting.act({world.now(), {}}, world.now());
    return waiting.take_told();
  };
  REQUIRE(waiting.add(1, Form::acquire, "printer", world.now() + 60s));
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto told = act();
    REQUIRE(told.size() == 1);
    CHECK(told[0].told == Told::try_now);
    waiting.wait_on(1, "printer", false);
    CHECK(act().empty());
    world.advance(coordinator::kRetryWindow);
  }
}
