// ScratchNode: runs what a client sends on the records of its keys,
// and tells the difference (rule D4).
//
// It is a lock node whole, so every reply and every error text is the node's own; but its table
// holds nothing except the records that a run is given, and nothing once the run is over. So a run
// leaves nothing behind, and may be thrown away and done again on other records. What it publishes
// is held back for the same reason.
//
//   RunResult run = scratch.run(requests, records, now);
//   for (const TouchedKey& key : run.touched) change_between(key.before, key.after) …
//
// Keys are found by running: one that was touched and not given counted as free.
//
// Pure but for the script watch that it is handed. Thread safety: none.
#pragma once

#include "base/time.h"
#include "coordinator/front_door/messages/door_message.h"
#include "coordinator/front_door/records/record_change.h"
#include "protocol/resp/reply.h"
#include "protocol/session/transaction.h"
#include "server/node/node.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

// A run may be done again and again, and nobody else is served meanwhile: a script gets so long,
// and so does a transaction; then it is ended with an error.
inline constexpr Duration kScriptTimeMax = 100ms;
// Of one command, script or transaction: more would hold up everybody's turn. A run that touches
// more tells of one more, and no others.
inline constexpr std::size_t kKeysMax = 64;
// What the messages of one run may take, as they are kept until its changes are made.
inline constexpr std::size_t kHeldMessagesBytesMax = 1024 * 1024;

struct KnownRecord {
  std::string_view key;
  std::optional<SeenRecord> record;    // nullopt: the key is free
  const std::string* value = nullptr;  // the whole record, of one that is held at the nodes
};

struct TouchedKey {
  std::string key;
  std::optional<SeenRecord> before;
  std::optional<SeenRecord> after;

  ChangeKind change() const { return change_between(before, after); }
};

struct RunResult {
  // One for each request. Kind::none for what is the session's own (door_commands.h): it runs in
  // the session's node, once. Beyond kTransactionBytesMax all are dropped, and too_large is alone.
  std::vector<protocol::Reply> replies = {};
  std::vector<TouchedKey> touched = {};    // each once, in the order in which they were
  std::vector<DoorMessage> messages = {};  // to be told if its changes are made (rule D11)
  // For the audit: what it did to others' locks, as far as it can tell whose they are.
  std::vector<server::BrokenLock> broken = {};
  // It took too long and was ended in the middle: none of its changes counts.
  bool is_cut_short = false;
  // Something asked how long a lock still lives; something moved a deadline, perhaps by a condition
  // on the one before. Else the run would be the same whatever is left of the deadlines.
  bool reads_deadlines = false;
  bool moves_deadlines = false;
};

// nullptr: it is not among them.
const KnownRecord* find_record(std::span<const KnownRecord> records, const std::string& key);
// What a run that only looks at a key has done to it: nothing.
TouchedKey looked_at(std::span<const KnownRecord> records, const std::string& key);

// For a run of what the session sent; nullptr: its user may do everything.
inline std::shared_ptr<const protocol::User> restricted_user(const protocol::Session& session) {
  return session.is_restricted() ? session.shared_user() : nullptr;
}

class ScratchNode final : private server::Elsewhere {
 public:
  // All outlive it. watch: ends a script that has run for kScriptTimeMax, and never suspends one;
  // nullptr: scripts may run for ever. ttl_bound: see Node::Environment.
  struct Parts {
    server::Settings& settings;
    LogSink& log;
    server::ScriptWatch* watch;
    const std::string& ttl_bound;
    const server::Stopwatch& stopwatch;         // empty: runs may take any time
    const server::PubSub* listeners = nullptr;  // of the door, for whom messages are; none: nobody
    protocol::AccessLog* access_log = nullptr;  // of the door; none: refusals are told to nobody
  };
  ScratchNode(Parts parts, std::uint64_t hash_seed, Instant started_at);
  ScratchNode(const ScratchNode&) = delete;
  ScratchNode& operator=(const ScratchNode&) = delete;

  // The requests one after the other, at one instant (rule C4). REQUIRES: the sessions' node has
  // found them well formed.
  // user: whose they are, and by whose rights their scripts are judged; nullptr: of one who may do
  // everything. What was sent itself was judged by the sessions' node, whose users know commands by
  // the same numbers, as both nodes have the same table.
  RunResult run(protocol::Transaction& requests, std::span<const KnownRecord> records, Now now,
                const std::shared_ptr<const protocol::User>& user = nullptr);

  // By the clock that runs are held to; without one it stands still.
  Instant now() const { return stopwatch_ ? stopwatch_() : Instant{}; }

  server::Node& node() { return node_; }

 private:
  protocol::Reply execute(server::Call& call) override;
  void load(std::span<const KnownRecord> records);
  void execute(protocol::Transaction& requests, Now now, RunResult& result);
  std::vector<TouchedKey> take_touched(std::span<const KnownRecord> records, Instant now);
  std::optional<SeenRecord> look(const std::string& key, Instant now);
  void clear(std::span<const KnownRecord> records, Instant now);

  // Commands with their counters.
  using Entries = std::vector<const server::CommandTable::Entry*>;
  Entries entries(std::initializer_list<std::string_view> names);
  static std::uint64_t calls_of(const Entries& entries);

  const server::Stopwatch& stopwatch_;
  const server::PubSub* const listeners_;
  server::Node node_;
  protocol::Session& session_;
  const Entries readers_;  // of deadlines
  const Entries movers_;
  std::vector<std::string> names_;     // of touched keys; kept for its memory
  std::vector<DoorMessage> messages_;  // of the run
  std::size_t messages_bytes_ = 0;
};

}  // namespace redlock::coordinator
