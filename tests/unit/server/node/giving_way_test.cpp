// One client that asks for much, and the others: who gives way, and when.
#include "lua/scripts/known_scripts.h"
#include "protocol/catalogue/glob.h"
#include "server/observe/observers.h"
#include "server/settings/piece.h"
#include "tests/support/slow_node.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

TEST_CASE("a client that sends much gives way after five milliseconds, and goes on in its turns") {
  SlowNode world;
  world.reading_takes = 1ms;  // 64 words of work
  world.send_many(world.alice, "GET printer", 1000);
  const int first = world.answers(world.alice);
  CHECK(first < 200);
  CHECK(world.alice.session().has_given_way());
  CHECK(world.is_due());

  SECTION("another is answered between its turns") {
    world.reading_takes = 0ms;
    CHECK(world.ask(world.bob, "PING") == "+PONG");
    world.reading_takes = 1ms;
  }
  SECTION("what it sends meanwhile comes behind, and in order") {
    world.alice.send("PING", world.now);
    CHECK(world.alice.receive() == "(none)");
    CHECK(world.turns() > 4);
    const int rest = 1000 - first;
    for (int i = 0; i < rest; ++i) CHECK(world.alice.receive() == "(nil)");
    CHECK(world.alice.receive() == "+PONG");
    CHECK(world.alice.receive() == "(none)");
  }
  SECTION("two of them take turns") {
    world.send_many(world.bob, "GET printer", 1000);
    world.answers(world.alice);
    world.answers(world.bob);
    std::string order;
    for (int i = 0; i < 6; ++i) {
      world.turn();
      if (world.answers(world.alice) > 0) order += 'a';
      if (world.answers(world.bob) > 0) order += 'b';
    }
    CHECK((order == "ababab" || order == "bababa"));
  }
  world.turns();
  CHECK(world.alice.session().backlog_bytes() == 0);
  CHECK_FALSE(world.alice.session().is_waiting());
}

TEST_CASE("a client that gave way and is closed has its requests executed, a killed one has not") {
  SlowNode world;
  world.reading_takes = 1ms;
  world.send_many(world.alice, "GET printer", 1000);
  CHECK(world.node.has_unfinished_request(world.alice.session()));
  SECTION("killed") {
    world.alice.session().close_after_output();
    CHECK_FALSE(world.node.has_unfinished_request(world.alice.session()));
    CHECK(world.turns() <= 1);
  }
  SECTION("gone") {
    world.node.close_session(world.alice.session().id());
    CHECK(world.turns() == 1);
  }
}

TEST_CASE("one whose command took long waits behind others for a while, however it asks") {
  SlowNode world;
  world.reading_takes = 1ms;  // two readings around a command that is timed
  world.alice.send("EVAL 'return 1' 0", world.now);
  CHECK(world.alice.receive() == "(integer) 1");
  world.reading_takes = 0ms;
  CHECK_FALSE(world.is_due());

  world.alice.send("PING", world.now);
  CHECK(world.alice.receive() == "(none)");
  CHECK(world.is_due());
  CHECK(world.ask(world.bob, "PING") == "+PONG");
  world.turns();
  CHECK(world.alice.receive() == "+PONG");
  world.now.monotonic += TurnOrder::kWaitsBehind / 2;
  world.alice.send("PING", world.now);
  CHECK(world.alice.receive() == "(none)");
  world.turns();
  CHECK(world.alice.receive() == "+PONG");
  world.now.monotonic += TurnOrder::kWaitsBehind / 2;
  world.alice.send("PING", world.now);
  CHECK(world.alice.receive() == "+PONG");
}

TEST_CASE("between two that work for long the sockets are looked at") {
  SlowNode world;
  world.reading_takes = 1ms;
  world.alice.send("EVAL 'return 1' 0", world.now);
  world.alice.send("EVAL 'return 2' 0", world.now);
  CHECK(world.answers(world.alice) == 1);
  world.turn();  // the first has only just worked
  CHECK(world.answers(world.alice) == 0);
  world.turn();
  CHECK(world.answers(world.alice) == 1);
}

TEST_CASE("of many clients' scripts one is executed between two looks at the sockets") {
  SlowNode world;
  world.ask(world.alice, "MULTI");
  world.send_many(world.alice, "GET printer", 65);
  CHECK(world.answers(world.alice) == 65);
  constexpr std::string_view kQuick = "EVAL \"return redis.call('del', KEYS[1])\" 1 printer";
  world.ask(world.bob, kQuick);
  world.reading_takes = 1ms;
  std::vector<TestClient> hostile;
  for (int i = 0; i < 10; ++i) {
    hostile.emplace_back(world.node, world.now);
    hostile.back().send("EVAL 'return 1' 0", world.now);
  }
  const auto answered = [&] {
    return std::count_if(hostile.begin(), hostile.end(),
                         [](TestClient& client) { return client.receive() != "(none)"; });
  };
  CHECK(answered() == 1);
  // A script that was quick so far is not among them, but what may be as long is.
  CHECK(world.ask(world.bob, "SET printer bob NX PX 60000") == "+OK");
  world.bob.send(kQuick, world.now);
  CHECK(world.bob.receive() == "(integer) 1");
  world.alice.send("EXEC", world.now);
  CHECK(world.alice.receive() == "(none)");
  world.turn();
  CHECK(answered() == 0);
  for (int i = 0; i < 9; ++i) {
    world.turn();
    CHECK(answered() == 1);
    hostile.emplace_back(world.node, world.now);  // behind those who wait
    hostile.back().send("EVAL 'return 1' 0", world.now);
    CHECK(answered() == 0);
  }
  world.turn();
  CHECK(world.alice.receive() != "(none)");
}

TEST_CASE("of many clients' requests of many words one is executed between two looks") {
  SlowNode world;
  std::string many = "SUBSCRIBE";
  const auto words = GENERATE(as<std::size_t>{}, kWordsUntimed + 1, kWordsUntimed);
  for (std::size_t i = 1; i < words; ++i) many += fmt::format(" channel{}", i);
  world.reading_takes = 1ms;
  std::vector<TestClient> listeners;
  for (int i = 0; i < 5; ++i) {
    listeners.emplace_back(world.node, world.now);
    listeners.back().send(many, world.now);
  }
  const auto told = [&] {
    return std::count_if(listeners.begin(), listeners.end(), [&](TestClient& client) {
      return world.answers(client) == static_cast<int>(words) - 1;
    });
  };
  if (words <= kWordsUntimed) {  // they take microseconds, and nobody reads a clock for them
    CHECK(told() == 5);
    return;
  }
  CHECK(told() == 1);
  CHECK(world.ask(world.bob, "PING") == "+PONG");
  world.turn();
  CHECK(told() == 0);  // the first has only just worked
  for (int i = 0; i < 4; ++i) {
    world.turn();
    CHECK(told() == 1);
  }
  CHECK_FALSE(world.is_due());
}

TEST_CASE("a monitor sees a script once that waited for its turn") {
  SlowNode world;
  TestClient monitor(world.node, world.now);
  CHECK(world.ask(monitor, "MONITOR") == "+OK");
  world.reading_takes = 1ms;
  world.alice.send(std::vector<std::string>(65, "EXISTS"), world.now);
  world.bob.send("EVAL 'return 1' 0", world.now);
  CHECK(world.bob.receive() == "(none)");
  world.turns();
  CHECK(world.bob.receive() == "(integer) 1");
  CHECK(world.answers(monitor) == 2);
}

TEST_CASE("a monitor's own transaction that is answered later is shown, and answered once") {
  SlowNode world;
  CHECK(world.ask(world.alice, "MONITOR") == "+OK");
  world.alice.send("MULTI", world.now);
  world.send_many(world.alice, "PING", 1000);
  world.turns();
  world.answers(world.alice);
  world.reading_takes = 1ms;
  world.alice.send("EXEC", world.now);
  world.turns();
  world.reading_takes = 0ms;
  CHECK(world.answers(world.alice) == 1000 + 2);  // each PING and EXEC as shown, and the answer
  world.alice.send("PING", world.now);
  world.turns();
  CHECK(world.alice.receive() == "+PONG");
}

TEST_CASE("those who wait for their turn have it, also when others never stop to work for long") {
  SlowNode world;
  world.reading_takes = 1ms;
  world.alice.send("EVAL 'return 1' 0", world.now);
  world.alice.send("PING", world.now);
  CHECK(world.answers(world.alice) == 1);
  for (int i = 0; i < 4; ++i) {
    TestClient hostile(world.node, world.now);
    hostile.send(std::vector<std::string>(65, "EXISTS"),
                 world.now);  // is timed, and waits for none
    world.turn();
  }
  CHECK(world.answers(world.alice) == 1);
}

TEST_CASE("what takes little alone, and much together, waits for its turn") {
  SlowNode world;
  world.reading_takes = 300us;
  std::vector<TestClient> hostile;
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    hostile.emplace_back(world.node, world.now);
    const Now now = world.now;
    hostile.back().send("COMMAND DOCS get", {Instant(25h), now.wall});
    answered += world.answers(hostile.back());
  }
  CHECK(answered < 5);
  CHECK(answered > 1);
}

TEST_CASE("of commands on a large hash some are executed between two looks at the sockets") {
  SlowNode world;
  std::string large = "HSET hash";
  for (int i = 0; i < 3000; ++i) large += fmt::format(" field{0} {0}", i);
  world.ask(world.alice, large);
  world.ask(world.alice, "HSET small field 1");
  const std::string_view request =
      GENERATE("HINCRBY hash field7 1", "HGET hash field7", "HSET hash field7 8");
  std::vector<TestClient> hostile;
  int answered = 0;
  for (int i = 0; i < 50; ++i) {
    hostile.emplace_back(world.node, world.now);
    hostile.back().send(request, world.now);
    answered += world.answers(hostile.back());
  }
  CHECK(answered > 1);
  CHECK(answered < 10);
  CHECK(world.ask(world.bob, "HINCRBY small field 1") == "(integer) 2");  // of a lock: at once
  CHECK(world.turns() > 40);
  for (TestClient& client : hostile) answered += world.answers(client);
  CHECK(answered == 50);
}

TEST_CASE("a script that took long is trusted again once it was quick") {
  SlowNode world;
  const auto is_at_once = [&] {
    world.reading_takes = 1ms;
    world.alice.send(std::vector<std::string>(65, "EXISTS"), world.now);
    world.answers(world.alice);
    world.reading_takes = 0ns;
    world.bob.send("EVAL 'return 1' 0", world.now);
    const bool is_answered = world.answers(world.bob) == 1;
    world.turns();
    world.answers(world.bob);
    world.now.monotonic += 1s;
    return is_answered;
  };
  CHECK_FALSE(is_at_once());  // never seen
  CHECK(is_at_once());
  world.reading_takes = 1ms;
  world.ask(world.bob, "EVAL 'return 1' 0");
  world.turns();
  world.now.monotonic += 1s;
  CHECK_FALSE(is_at_once());
  CHECK(is_at_once());
}

TEST_CASE("a script of a transaction may be forgotten by what comes behind it") {
  SlowNode world;
  for (const char* line : {"MULTI", "EVAL 'return 1' 0", "SCRIPT FLUSH"}) {
    world.ask(world.alice, line);
  }
  CHECK(world.ask(world.alice, "EXEC") == "[(integer) 1, +OK]");
  CHECK(world.node.scripts().engine().find_loaded("return 1") == nullptr);
}

TEST_CASE("the scripts of lock libraries are quick before they ran") {
  SlowNode world;
  world.alice.send({"SCRIPT", "LOAD", std::string(lua::known_scripts().front().body)}, world.now);
  world.alice.send({"SCRIPT", "LOAD", "return 1"}, world.now);
  lua::Engine& engine = world.node.scripts().engine();
  CHECK(engine.find_loaded(lua::known_scripts().front().body)->is_quick());
  CHECK_FALSE(engine.find_loaded("return 1")->is_quick());
}

TEST_CASE("clients that send a request at a time never give way") {
  SlowNode world;
  for (int i = 0; i < 1000; ++i) CHECK(world.ask(world.alice, "GET printer") == "(nil)");
  CHECK_FALSE(world.is_due());
}

TEST_CASE("KEYS of many keys goes on in pieces") {
  SlowNode world;
  constexpr int kKeys = 3 * kStepsOfPiece / kStepsOfKey;
  world.fill(kKeys);
  world.alice.send("KEYS *", world.now);
  CHECK(world.alice.receive() == "(none)");
  CHECK(world.ask(world.bob, "PING") == "+PONG");
  SECTION("and answers all of them") {
    CHECK(world.turns() >= 2);
    const std::string found = world.alice.receive();
    CHECK(std::count(found.begin(), found.end(), ',') == kKeys - 1);
    CHECK(world.ask(world.alice, "PING") == "+PONG");
    CHECK(world.ask(world.bob, "INFO commandstats").find("cmdstat_keys:calls=1,") !=
          std::string::npos);
  }
  SECTION("which are nobody's when its client has gone") {
    world.node.close_session(world.alice.session().id());
    CHECK(world.turns() <= 2);
  }
}

TEST_CASE("a transaction of one request of many words waits for its turn") {
  SlowNode world;
  std::string names;
  for (int i = 0; i < 100; ++i) names += fmt::format(" name{}", i);
  world.ask(world.alice, "MULTI");
  world.ask(world.alice, "SUBSCRIBE" + names);
  world.turns();
  world.reading_takes = 1ms;
  world.bob.send("EVAL 'return 1' 0", world.now);
  world.reading_takes = 0ms;
  world.alice.send("EXEC", world.now);
  CHECK(world.alice.receive() == "(none)");
  world.turns();
  CHECK(world.alice.receive() != "(none)");
}

TEST_CASE("KEYS of many keys is refused where nothing may come between") {
  SlowNode world;
  world.fill(3 * kStepsOfPiece / kStepsOfKey);
  CHECK(world.ask(world.alice, "EVAL \"return redis.call('KEYS', '*')\" 0")
            .starts_with("-ERR KEYS would hold everybody up"));
  world.ask(world.alice, "MULTI");
  world.ask(world.alice, "KEYS *");
  CHECK(world.ask(world.alice, "EXEC").starts_with("[-ERR KEYS would hold everybody up"));
  CHECK_FALSE(world.is_due());
}

TEST_CASE("a pattern that is hard to match shortens a piece of KEYS, and of SCAN") {
  SlowNode world;
  constexpr int kKeys = 200;
  world.fill(kKeys, 60'000);
  const std::string hard = "*" + std::string(40, 'x') + "y";
  world.alice.send("KEYS " + hard, world.now);
  CHECK(world.turns() > 4);
  CHECK(world.alice.receive() == "[]");
  const std::string part = world.ask(world.alice, "SCAN 0 COUNT 100000 MATCH " + hard);
  CHECK_FALSE(part.starts_with("[\"0\""));
  CHECK(world.ask(world.alice, "SCAN 0 COUNT 100000 MATCH *").starts_with("[\"0\""));
}

namespace {

// A message that is told to many, after its first piece.
struct ManyListeners : SlowNode {
  std::vector<TestClient> listeners;

  ManyListeners() {
    constexpr int kListeners = 3000;
    for (int i = 0; i < kListeners; ++i) {
      listeners.emplace_back(node, now);
      ask(listeners.back(), i % 2 == 0 ? "SUBSCRIBE news" : "PSUBSCRIBE n*");
    }
    alice.send("PUBLISH news first", now);
    CHECK(alice.receive() == "(none)");
    CHECK(ask(bob, "PING") == "+PONG");
  }
};

}  // namespace

TEST_CASE("a message to many listeners is told in pieces") {
  ManyListeners world;
  SECTION("all of them get it once, its publisher is told how many") {
    CHECK(world.turns() >= 2);
    CHECK(world.alice.receive() == "(integer) 3000");
    for (TestClient& listener : world.listeners) {
      CHECK(world.answers(listener) == 1);
    }
  }
  SECTION("what others publish meanwhile comes behind") {
    world.bob.send("PUBLISH news second", world.now);
    CHECK(world.bob.receive() == "(none)");
    world.turns();
    CHECK(world.bob.receive() == "(integer) 3000");
    for (TestClient& listener : world.listeners) {
      CHECK(listener.receive().find("first") != std::string::npos);
      CHECK(listener.receive().find("second") != std::string::npos);
      CHECK(listener.receive() == "(none)");
    }
  }
  SECTION("a script's comes behind, too, and does not wait") {
    CHECK(world.ask(world.bob, "EVAL \"return redis.call('PUBLISH', 'news', 'third')\" 0") ==
          "(integer) 0");
    world.turns();
    CHECK(world.listeners.back().receive().find("first") != std::string::npos);
    CHECK(world.listeners.back().receive().find("third") != std::string::npos);
  }
  SECTION("of the next pattern all are told, when the one at which a piece ended is gone") {
    world.turn();
    world.ask(world.bob, "PSUBSCRIBE ne*");
    std::size_t left = 0;
    for (TestClient& listener : world.listeners) {
      if (!listener.session().output().empty()) continue;
      world.node.close_session(listener.session().id());
      ++left;
    }
    CHECK(left > 0);
    world.turns();
    CHECK(world.answers(world.bob) == 1);
  }
  SECTION("listeners that leave in the middle are not told") {
    for (TestClient& listener : world.listeners) world.node.close_session(listener.session().id());
    world.turns();
    CHECK_FALSE(world.alice.receive() == "(none)");
  }
}

TEST_CASE("patterns that are hard to match do not hold up what publishes") {
  SlowNode world;
  constexpr int kPatterns = 100;
  for (int i = 0; i < kPatterns; ++i) {
    world.ask(world.alice, fmt::format("PSUBSCRIBE *{}{}", std::string(100, 'x'), i));
  }
  const std::string channel(4000, 'x');
  world.bob.send("PUBLISH " + channel + " hello", world.now);
  CHECK(world.bob.receive() == "(none)");
  CHECK(world.turns() > kPatterns / 8);
  CHECK(world.bob.receive() == "(integer) 0");
}

TEST_CASE("messages that are not told wait in a bounded room") {
  SlowNode world;
  std::vector<TestClient> listeners;
  for (int i = 0; i < 3000; ++i) {
    listeners.emplace_back(world.node, world.now);
    world.ask(listeners.back(), "SUBSCRIBE news");
  }
  const std::string script =
      "EVAL \"for i = 1, 20 do redis.call('PUBLISH', 'news', "
      "string.rep('x', 60000)) end\" 0";
  std::string answer;
  for (int i = 0; i < 100 && !answer.starts_with("-"); ++i) {
    answer = world.ask(world.bob, script);
  }
  CHECK(answer.starts_with("-ERR messages are published faster than their listeners can be told"));
  CHECK(world.node.pubsub().bytes() < 2 * kUnfinishedBytesMax);
  world.alice.send("PUBLISH news patient", world.now);
  CHECK(world.alice.receive() == "(none)");
  for (TestClient& listener : listeners) world.node.close_session(listener.session().id());
  world.turns();
  CHECK(world.alice.receive() == "(integer) 0");
}

TEST_CASE("a long transaction goes on in pieces, while others are told that it is busy") {
  SlowNode world;
  world.ask(world.alice, "MULTI");
  constexpr int kCommands = 20'000;
  world.send_many(world.alice, "GET printer", kCommands);
  CHECK(world.answers(world.alice) == kCommands);
  world.reading_takes = 10ms;  // 64 words
  world.alice.send("EXEC", world.now);
  CHECK(world.alice.receive() == "(none)");
  world.reading_takes = 1ms;
  CHECK(world.ask(world.bob, "GET printer").starts_with("-BUSY"));
  CHECK(world.ask(world.bob, "SCRIPT KILL").starts_with("-UNKILLABLE"));
  CHECK(world.turns() > 10);
  const std::string replies = world.alice.receive();
  CHECK(std::count(replies.begin(), replies.end(), ',') == kCommands - 1);
  world.alice.send("PING", world.now);  // the next behind the others
  CHECK(world.alice.receive() == "(none)");
  CHECK(world.turns() == 1);
  CHECK(world.alice.receive() == "+PONG");
  CHECK(world.ask(world.bob, "GET printer") == "(nil)");
  CHECK(world.log.lines.size() == 1);
  CHECK(world.log.lines[0].starts_with("a transaction runs longer than busy-reply-threshold"));
}
