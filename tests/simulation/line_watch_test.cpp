// What the world says that a node owes to those who wait, before anybody believes what it finds.
#include "tests/simulation/line_watch.h"

#include "server/commands/families.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr Instant kStart(100s);

// Two wait for the key "a" since kStart; a lock is on it until `held_until`.
struct Lines {
  Scenario scenario;
  Agenda agenda;
  Story story{Story::Telling::nothing};
  Referee referee{agenda, story};
  LineWatch lines{scenario, referee, 1};
  server::Settings settings;

  struct Silent final : LogSink {
    void log(LogLevel, std::string_view) override {}
  } log;
  std::optional<server::Node> node;

  explicit Lines(Instant held_until) {
    hold(held_until);
    for (const ConnectionId connection : {1U, 2U}) {
      ask(connection, "LOCK.WAIT", "60000", "PUSH", "+OK\r\n", kStart);
    }
    lines.end_turn(*node, kStart);
  }
  void hold(Instant until) {
    server::NodeStart facts;
    facts.node_id = std::string(40, 'a');
    facts.started_at = kStart;
    node.emplace(server::all_families(), settings, facts,
                 server::Node::Environment{[] { return server::ProcessFacts{}; }, log});
    node->grants().restore({"a", "value", until, 1, server::LockKind::text});
  }
  void ask(ConnectionId connection, std::string_view name, std::string_view third,
           std::string_view fourth, std::string_view reply, Instant now) {
    std::string request = "*4\r\n";
    for (const std::string_view word : {name, std::string_view("a"), third, fourth}) {
      request += fmt::format("${}\r\n{}\r\n", word.size(), word);
    }
    lines.on_requests(connection, request);
    lines.on_replies(connection, reply, now);
  }
  void call(ConnectionId connection, Instant now) {
    lines.on_replies(connection, ">3\r\n$9\r\nlock.free\r\n$1\r\na\r\n:1\r\n", now);
    lines.end_turn(*node, now);
  }
  std::string_view look(Instant now) {
    lines.check(now);
    return referee.violation() ? breach_name(referee.violation()->breach) : "none";
  }
};

TEST_CASE("the first in a line is to be called as soon as the lock is over") {
  Lines world(kStart + 1s);
  CHECK(world.look(kStart + 1s + LineWatch::kMargin) == "none");
  CHECK(world.look(kStart + 1s + LineWatch::kMargin + 1ns) == "untold");
}

TEST_CASE("while a lock is extended nobody has to be called") {
  Lines world(kStart + 1s);
  world.hold(kStart + 5s);
  world.lines.end_turn(*world.node, kStart + 500ms);
  CHECK(world.look(kStart + 4s) == "none");
}

TEST_CASE("the next in a line is to be called when the called one's time is over") {
  Lines world(kStart + 1s);
  world.call(1, kStart + 1s);
  const Instant due = kStart + 1s + world.settings.wake_next_after;
  CHECK(world.look(due + LineWatch::kMargin) == "none");
  CHECK(world.look(due + LineWatch::kMargin + 1ns) == "untold");
}

TEST_CASE("nobody is owed a call when all have had theirs") {
  Lines world(kStart + 1s);
  world.call(1, kStart + 1s);
  world.call(2, kStart + 1s + world.settings.wake_next_after);
  CHECK(world.look(kStart + 2s) == "none");
  CHECK(world.lines.called() == 2);
  CHECK(world.lines.called_before_others() == 1);
}

TEST_CASE("the next is to be called at once when the called one is gone") {
  Lines world(kStart + 1s);
  world.call(1, kStart + 1s);
  const Instant gone = kStart + 1s + 2ms;
  SECTION("its connection ends") {
    world.lines.on_close(1, gone);
  }
  SECTION("it cancels") {
    world.ask(1, "LOCK.WAIT", "0", "PUSH", "+OK\r\n", gone);
  }
  SECTION("it has the lock, and gives it back in the same turn") {
    world.ask(1, "LOCK.ACQUIRE", "v", "PX", "*3\r\n:1\r\n:7\r\n:100\r\n", gone);
  }
  world.lines.end_turn(*world.node, gone);
  CHECK(world.look(gone + LineWatch::kMargin) == "none");
  CHECK(world.look(gone + LineWatch::kMargin + 1ns) == "untold");
}

TEST_CASE("who is refused the lock keeps its time") {
  Lines world(kStart + 1s);
  world.call(1, kStart + 1s);
  world.ask(1, "LOCK.ACQUIRE", "v", "PX", "*2\r\n:0\r\n:100\r\n", kStart + 1s + 2ms);
  CHECK(world.look(kStart + 1s + world.settings.wake_next_after) == "none");
}

TEST_CASE("a node that was paused has its time anew") {
  Lines world(kStart + 1s);
  world.lines.note_pause_end(kStart + 9s);
  CHECK(world.look(kStart + 9s + LineWatch::kMargin) == "none");
  CHECK(world.look(kStart + 9s + LineWatch::kMargin + 1ns) == "untold");
}

TEST_CASE("whoever waits is to be told by its timeout") {
  Lines world(kStart + 100s);
  CHECK(world.look(kStart + 60s + LineWatch::kMargin) == "none");
  CHECK(world.look(kStart + 60s + LineWatch::kMargin + 1ns) == "untold");
}

TEST_CASE("a push may go out in pieces") {
  Lines world(kStart + 1s);
  world.lines.on_replies(1, ">3\r\n$9\r\nlock.fr", kStart + 1s);
  world.call(2, kStart + 1s);
  world.lines.on_replies(1, "ee\r\n$1\r\na\r\n:1\r\n", kStart + 1s);
  world.lines.end_turn(*world.node, kStart + 1s);
  CHECK(world.look(kStart + 2s) == "none");
}

}  // namespace
}  // namespace redlock::simulation
