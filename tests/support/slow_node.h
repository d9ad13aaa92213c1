// SlowNode: a node that works for as long as a test says, with two clients.
//
//   SlowNode world;
//   world.reading_takes = 1ms;                  // from now on, at each look at the clock
//   world.alice.send("EVAL 'return 1' 0", world.now);
//   world.turns();                              // until nothing more is to be done at once
#pragma once

#include "protocol/resp/request_writer.h"
#include "server/commands/families.h"
#include "tests/support/node_fixture.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {

// The clock moves when it is read. One that reads it often takes long, as if it worked.
struct SlowNode {
  Settings settings;
  CollectedLog log;
  Now now{Instant(24h), WallTime(0s)};
  Duration reading_takes{};
  Node node;
  TestClient alice{node, now};
  TestClient bob{node, now};

  SlowNode()
      : node(all_families(), settings, start(),
             {[] { return ProcessFacts{}; }, log, nullptr, nullptr, nullptr,
              [this] { return now.monotonic += reading_takes; }}) {
    node.begin_run(now);
  }
  static NodeStart start() {
    NodeStart start;
    start.started_at = Instant(24h);
    return start;
  }

  std::string ask(TestClient& client, std::string_view line) {
    client.send(line, now);
    if (client.session().has_given_way()) turns();
    return client.receive();
  }
  void send_many(TestClient& client, std::string_view line, int count) {
    protocol::OutputBuffer bytes;
    const auto words = split_quoted_words(line);
    const std::vector<std::string_view> views(words->begin(), words->end());
    for (int i = 0; i < count; ++i) protocol::write_request(views, bytes);
    node.receive(client.session(), bytes.view(), now);
    turn();  // the sockets come before who goes on
  }
  int answers(TestClient& client) {
    int count = 0;
    while (client.receive() != "(none)") ++count;
    return count;
  }
  bool is_due() const { return node.next_work() == Instant{}; }
  void turn() { node.do_due_work(now); }
  // Until nothing more is to be done at once.
  int turns() {
    int count = 0;
    for (; is_due(); ++count) turn();
    return count;
  }
  void fill(int keys, std::size_t key_bytes = 0) {
    for (int i = 0; i < keys; ++i) {
      const std::string key = fmt::format("{:x>{}}", i, key_bytes);
      node.receive(bob.session(),
                   fmt::format("*5\r\n$3\r\nSET\r\n${}\r\n{}\r\n$1\r\nv\r\n$2\r\nPX\r\n"
                               "$5\r\n60000\r\n",
                               key.size(), key),
                   now);
      bob.session().output().clear();
    }
  }
};

}  // namespace redlock::server
