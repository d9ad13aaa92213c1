// Sessions of a node: whatever clients send, whole or in pieces, each is answered in RESP, and time
// and a ledger that fails change nothing about that.
//
// The input is lines, so that a corpus can be read:
//
//   A SET k v NX PX 1000     client A to D: a request, as redis-cli splits it
//   a *1\r\n$4\r\nPI         the same client: these bytes, with their escapes
//   -A                       it goes, and comes anew
//   +500                     so many milliseconds pass
//   F, W                     a write of the ledger fails, or is done
#include "server/node/node.h"

#include "base/text/number.h"
#include "base/text/quoted_words.h"
#include "base/text/words.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"
#include "server/commands/families.h"
#include "server/shell/script_watchdog.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace redlock::server;

constexpr std::size_t kClients = 4;
constexpr std::size_t kLinesMax = 100;
constexpr int kTurnsMax = 20;

struct QuietLog final : LogSink {
  void log(LogLevel, std::string_view) override {}
};

struct Page final : LatestDeadlinePage {
  bool fails = false;

  Status write_latest_deadline(Instant) override {
    if (fails) return Failure{"No space left on device"};
    return Done{};
  }
};

// In real time, so that no script keeps the fuzzer, whatever CONFIG SET says: one that takes longer
// than the first is suspended, and its slices are turns; one that takes longer
// than the second is ended.
constexpr Duration kScriptSuspended = 2ms;
constexpr Duration kScriptEnded = 200ms;

NodeStart node_with_a_ledger() {
  NodeStart start;
  start.started_at = Instant(24h);
  start.run_id = std::string(40, 'a');
  start.fence = {.first = 0, .bound = 100'000, .fenced = true};
  start.ledger = {.record = {std::string(40, 'a'), 1, 1s, 100'000, true},
                  .latest_deadline = {},
                  .max_ttl = 60s,
                  .fence_block = 1'000,
                  .now = Instant(24h)};
  return start;
}

class World {
 public:
  World() {
    settings_.script_memory_limit = 1 << 20;
    settings_.maxclients = kClients + 1;
    settings_.enable_debug_command = Settings::DebugCommand::yes;
    for (Client& client : clients_) open(client);
    node_.begin_run(now_);
  }

  // False: the node was shut down.
  bool take_line(std::string_view line) {
    if (line.empty()) return true;
    const char first = line.front();
    line.remove_prefix(1);
    if (first >= 'A' && first < 'A' + static_cast<int>(kClients)) {
      request(clients_[static_cast<std::size_t>(first - 'A')], line);
    } else if (first >= 'a' && first < 'a' + static_cast<int>(kClients)) {
      raw(clients_[static_cast<std::size_t>(first - 'a')], line);
    } else if (first == '-') {
      come_anew(line);
    } else if (first == '+') {
      pass(std::chrono::milliseconds(
          std::clamp<std::int64_t>(parse_int64(line).value_or(1), 0, 1'000'000)));
    } else if (first == 'F' || first == 'W') {
      page_.fails = first == 'F';
      write_ledger();
    }
    turn();
    return !node_.stop_request();
  }

 private:
  struct Client : protocol::Transport {
    protocol::Session* session = nullptr;
    protocol::ReplyParser parser = {};
    std::string told = {};
  };

  void open(Client& client) {
    client.parser = {};
    client.told.clear();
    client.session = &node_.open_session({"127.0.0.1:1", "127.0.0.1:2"}, now_);
    client.session->transport = &client;
  }

  void request(Client& client, std::string_view line) {
    const auto words = split_quoted_words(line);
    if (!words || words->empty()) return;
    protocol::OutputBuffer bytes;
    const std::vector<std::string_view> views(words->begin(), words->end());
    protocol::write_request(views, bytes);
    node_.receive(*client.session, bytes.view(), now_);
  }

  void raw(Client& client, std::string_view line) {
    const auto words = split_quoted_words("\"" + std::string(line) + "\"");
    if (words && words->size() == 1) node_.receive(*client.session, words->front(), now_);
  }

  void come_anew(std::string_view who) {
    const auto number = static_cast<std::size_t>(take_byte(who) - 'A');
    if (number >= kClients || node_.has_unfinished_request(*clients_[number].session)) return;
    node_.close_session(clients_[number].session->id());
    open(clients_[number]);
  }

  void pass(Duration length) {
    now_.monotonic += length;
    now_.wall += length;
  }

  void write_ledger() {
    if (!node_.begin_ledger_write(now_)) return;
    node_.end_ledger_write(page_.fails ? Status(Failure{"No space left"}) : Status(Done{}), now_);
  }

  // As the shell does it; a script that goes on and on is ended by its time.
  void turn() {
    for (int i = 0; i < kTurnsMax; ++i) {
      const auto next = node_.next_work();
      if (!next || *next > now_.monotonic) break;
      if (node_.has_suspended()) pass(500ms);
      node_.do_due_work(now_);
    }
    node_.sessions().for_each_touched([](protocol::Session& session) { look(session); });
    for (Client& client : clients_) {
      if (!client.session->is_closing() || node_.has_unfinished_request(*client.session)) continue;
      node_.close_session(client.session->id());
      open(client);
    }
  }

  static void look(protocol::Session& session) {
    Client& client = *static_cast<Client*>(session.transport);
    client.told += session.output().view();
    session.output().clear();
    auto state = client.parser.parse(client.told);
    for (; state == protocol::ParsedReply::State::complete;
         state = client.parser.parse(client.told)) {
      client.told.erase(0, client.parser.consumed());
    }
    INVARIANT(state == protocol::ParsedReply::State::incomplete,
              "what a client is told is no RESP");
    INVARIANT(client.told.empty(), "half a reply");
  }

  Settings settings_;
  QuietLog log_;
  Page page_;
  ScriptWatchdog watch_{kScriptSuspended, kScriptEnded};
  Now now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))};
  Node node_{all_families(),
             settings_,
             node_with_a_ledger(),
             {[] { return ProcessFacts{}; }, log_, &watch_, &page_}};
  std::array<Client, kClients> clients_;
};

}  // namespace

void run(std::string_view input) {
  World world;
  for (std::size_t line = 0; line < kLinesMax && !input.empty(); ++line) {
    if (!world.take_line(take_until(input, '\n'))) return;
  }
}

}  // namespace redlock::fuzz
