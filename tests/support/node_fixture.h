// A node to talk to in tests, without a socket: lines in, answers out, time as the test says.
//
//   NodeFixture node;
//   CHECK(node("SET printer alice NX PX 10000") == "+OK");
//   node.advance(10s);
#pragma once

#include "base/invariant.h"
#include "base/text/quoted_words.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"
#include "server/commands/families.h"
#include "server/node/node.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

struct CollectedLog final : LogSink {
  std::vector<std::string> lines;
  void log(LogLevel, std::string_view text) override { lines.emplace_back(text); }
};

// One client of a node: speaks RESP through its session.
class TestClient {
 public:
  explicit TestClient(Node& node, Now now, protocol::Peer peer = {})
      : node_(node), session_(&node.open_session(std::move(peer), now)) {}

  void send(std::string_view line, Now now) {
    const auto words = split_quoted_words(line);
    INVARIANT(words.has_value(), "a test's line with open quotes");
    send(*words, now);
  }
  void send(const std::vector<std::string>& words, Now now) {
    protocol::OutputBuffer bytes;
    const std::vector<std::string_view> views(words.begin(), words.end());
    protocol::write_request(views, bytes);
    node_.receive(*session_, bytes.view(), now);
  }
  // The next answer that has come, in Reply::to_string's form; "(none)" if there is none.
  std::string receive() {
    pending_ += session_->output().view();
    session_->output().clear();
    auto parsed = protocol::parse_reply(pending_);
    if (parsed.state != protocol::ParsedReply::State::complete) return "(none)";
    pending_.erase(0, parsed.consumed);
    return parsed.reply.to_string();
  }
  protocol::Session& session() { return *session_; }

 private:
  Node& node_;
  protocol::Session* session_;
  std::string pending_;
};

// A ledger's page on a disk that a test may fill up.
struct PageInMemory final : LatestDeadlinePage {
  Status write_latest_deadline(Instant deadline) override {
    ++writes;
    if (fails) return Failure{"No space left on device"};
    latest = deadline;
    return Done{};
  }
  Instant latest{};
  int writes = 0;
  bool fails = false;
};

// A fixture's node that starts after a crash, and grants nothing for so long.
inline NodeStart recovering_for(Duration delay) {
  NodeStart start;
  start.delay = delay;
  start.grant_from = Instant(24h) + delay;
  return start;
}

class NodeFixture {
 public:
  explicit NodeFixture(Settings settings = {}, NodeStart start = {},
                       LatestDeadlinePage* ledger = nullptr,
                       bool runs_known_scripts_natively = true)
      : settings_(std::move(settings)),
        now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))},
        node_(all_families(), settings_, started(std::move(start)),
              {[] { return ProcessFacts{}; }, log_, nullptr, ledger,
               [](Duration length) { slept = length; },
               [this] { return stopwatch_ += reading_takes; }, nullptr, nullptr,
               runs_known_scripts_natively}),
        client_(node_, now_) {
    node_.begin_run(now_);
  }

  std::string operator()(std::string_view line) {
    client_.send(line, now_);
    if (client_.session().has_given_way()) do_due_work();
    return client_.receive();
  }
  void advance(Duration d) {
    now_.monotonic += d;
    now_.wall += d;
  }
  // All the work that is due, as the shell would do it in turns.
  void do_due_work() {
    for (int turn = 0; turn < 100'000; ++turn) {
      const auto next = node_.next_work();
      if (!next || *next > now_.monotonic) return;
      node_.do_due_work(now_);
    }
  }

  // Between two readings of the stopwatch: so long does each command that is timed take.
  Duration reading_takes{};
  // What DEBUG SLEEP last asked any node for; the time of the test stands all the same.
  static inline Duration slept{};

  Node& node() { return node_; }
  Now& now() { return now_; }
  CollectedLog& log() { return log_; }
  TestClient connect(protocol::Peer peer = {}) { return TestClient(node_, now_, std::move(peer)); }

 private:
  static NodeStart started(NodeStart start) {
    start.started_at = Instant(24h);
    start.run_id = std::string(40, 'a');
    return start;
  }

  Settings settings_;
  CollectedLog log_;
  Now now_;
  Instant stopwatch_{};
  Node node_;
  TestClient client_;
};

}  // namespace redlock::server
