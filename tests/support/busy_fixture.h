// A node whose scripts overrun when the test's script says so.
#pragma once

#include "server/commands/families.h"
#include "tests/support/node_fixture.h"

#include <string>
#include <string_view>
#include <utility>

namespace redlock::server {

// Strikes when the script asks for INFO, as the shell's timer does after busy-reply-threshold.
struct BusyFixture final : ScriptWatch {
  Settings settings;
  CollectedLog log;
  Now now{Instant(24h), WallTime(0s)};
  lua::Engine* running = nullptr;
  Duration stopwatch{};
  Node node;
  TestClient alice{node, now};
  TestClient bob{node, now};

  explicit BusyFixture(NodeStart start = {}, LatestDeadlinePage* ledger = nullptr,
                       Settings with = {})
      : settings(std::move(with)),
        node(all_families(), settings, std::move(start),
             {[this] { return interrupt(); }, log, this, ledger, nullptr,
              [this] { return Instant(stopwatch); }}) {
    node.begin_run(now);
  }

  void script_began(lua::Engine& engine) override { running = &engine; }
  void script_ended() override { running = nullptr; }
  ProcessFacts interrupt() {
    if (running != nullptr) running->interrupt();
    return {};
  }
  std::string ask(TestClient& client, std::string_view line) {
    client.send(line, now);
    while (client.session().has_given_way()) node.do_due_work(now);
    return client.receive();
  }
  void pass(Duration d) {
    now.monotonic += d;
    node.do_due_work(now);
  }
};

}  // namespace redlock::server
