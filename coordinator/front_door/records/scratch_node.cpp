#include "coordinator/front_door/records/scratch_node.h"

#include "base/invariant.h"
#include "coordinator/front_door/records/door_commands.h"
#include "lua/engine/script_host.h"
#include "server/recovery/snapshot.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

using protocol::Reply;
using protocol::Transaction;
using server::KeyNotes;
using server::Node;
using server::PubSub;

namespace {

server::NodeStart start_of(std::uint64_t hash_seed, Instant started_at) {
  server::NodeStart start;
  start.node_id = start.run_id = std::string(40, '0');  // told to nobody
  start.hash_seed = hash_seed;
  start.started_at = started_at;
  return start;
}

// Whether it is the reply of a script that the watch has ended: it may have written half of what it
// was to write.
bool was_ended(const Reply& reply) {
  return reply.is_error() && (reply.text().starts_with(lua::kTimeLimitError) ||
                              reply.text().starts_with(lua::kStuckError));
}

// A record without a deadline would be outside every promise; nodes keep none (rule L2).
SeenRecord seen(const server::Lock& lock) {
  return {lock.kind(), std::string(lock.value()), lock.deadline()};
}

}  // namespace

const KnownRecord* find_record(std::span<const KnownRecord> records, const std::string& key) {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const KnownRecord& known) { return known.key == key; });
  return found == records.end() ? nullptr : &*found;
}

TouchedKey looked_at(std::span<const KnownRecord> records, const std::string& key) {
  const KnownRecord* known = find_record(records, key);
  const std::optional<SeenRecord> record = known == nullptr ? std::nullopt : known->record;
  return {key, record, record};
}

ScratchNode::ScratchNode(Parts parts, std::uint64_t hash_seed, Instant started_at)
    : stopwatch_(parts.stopwatch),
      listeners_(parts.listeners),
      node_(scratch_families(), parts.settings, start_of(hash_seed, started_at),
            Node::Environment{.inspect = [] { return server::ProcessFacts{}; },
                              .log = parts.log,
                              .script_watch = parts.watch,
                              .elsewhere = this,
                              .ttl_bound = &parts.ttl_bound,
                              .access_log = parts.access_log}),
      session_(node_.sessions().open({}, true, started_at)),
      readers_(entries({"ttl", "pttl", "expiretime", "pexpiretime"})),
      movers_(entries({"expire", "pexpire", "expireat", "pexpireat"})) {
  node_.breaks().keep_broken();
}

ScratchNode::Entries ScratchNode::entries(std::initializer_list<std::string_view> names) {
  Entries entries;
  for (const std::string_view name : names) {
    entries.push_back(node_.commands().find({&name, 1}).entry);
    INVARIANT(entries.back() != nullptr, "a command that no node has");
  }
  return entries;
}

std::uint64_t ScratchNode::calls_of(const Entries& entries) {
  std::uint64_t calls = 0;
  for (const server::CommandTable::Entry* entry : entries) calls += entry->stats.calls;
  return calls;
}

RunResult ScratchNode::run(Transaction& requests, std::span<const KnownRecord> records, Now now,
                           const std::shared_ptr<const protocol::User>& user) {
  if (user != nullptr || session_.user() != nullptr) session_.set_user(user);
  INVARIANT(node_.locks().size() == 0, "a run has left something behind");
  load(records);
  RunResult result;
  const std::uint64_t read = calls_of(readers_);
  const std::uint64_t moved = calls_of(movers_);
  node_.locks().notes().want(KeyNotes::touched, true);
  execute(requests, now, result);
  node_.locks().notes().take_touched(names_);
  node_.locks().notes().want(KeyNotes::touched, false);
  result.reads_deadlines = calls_of(readers_) != read;
  result.moves_deadlines = calls_of(movers_) != moved;
  result.touched = take_touched(records, now.monotonic);
  result.messages = std::exchange(messages_, {});
  result.broken = node_.breaks().take_broken();
  messages_bytes_ = 0;
  clear(records, now.monotonic);
  return result;
}

void ScratchNode::load(std::span<const KnownRecord> records) {
  for (const KnownRecord& known : records) {
    if (!known.record) continue;
    const SeenRecord& record = *known.record;
    const bool has_memory =
        node_.grants().restore({known.key, record.payload, record.deadline, 0, record.kind});
    INVARIANT(has_memory, "no memory for a handful of records");
  }
}

// PUBLISH and SPUBLISH. Its answer is how many listen here at this moment.
Reply ScratchNode::execute(server::Call& call) {
  const std::string_view channel = call.word(1);
  const std::string_view text = call.word(2);
  const std::uint64_t bytes_max = node_.settings().value_size_limit;
  if (protocol::Refusal no = refuse_message(channel, text, bytes_max)) return no;
  messages_bytes_ += sizeof(DoorMessage) + channel.size() + text.size();
  if (messages_bytes_ > kHeldMessagesBytesMax || (listeners_ != nullptr && listeners_->is_full())) {
    return Reply::error_view(server::kTooManyMessages);
  }
  const PubSub::Kind kind = kind_of(call);
  messages_.push_back({kind, std::string(channel), std::string(text)});
  const std::size_t receivers = listeners_ == nullptr ? 0 : listeners_->receivers(channel, kind);
  return Reply::integer(static_cast<std::int64_t>(receivers));
}

void ScratchNode::execute(Transaction& requests, Now now, RunResult& result) {
  const Instant began = this->now();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < requests.size() && !result.is_cut_short; ++i) {
    const Request request = requests.request(i);
    if (is_sessions_own(node_.commands(), request)) {
      result.replies.push_back(Reply::none());
      continue;
    }
    Reply reply = node_.run_queued(session_, request, now).owned();
    INVARIANT(!reply.is(Reply::Kind::later), "a run that goes on later");
    const bool is_overdue = this->now() - began > kScriptTimeMax;
    result.is_cut_short = was_ended(reply) || (is_overdue && requests.size() > 1);
    bytes += reply.memory_bytes();
    if (bytes <= protocol::kTransactionBytesMax) result.replies.push_back(std::move(reply));
  }
  if (bytes > protocol::kTransactionBytesMax) {
    result.replies.clear();
    result.replies.push_back(Reply::too_large());
  }
}

std::vector<TouchedKey> ScratchNode::take_touched(std::span<const KnownRecord> records,
                                                  Instant now) {
  std::vector<TouchedKey> touched;
  for (const std::string& name : names_) {
    if (touched.size() > kKeysMax) break;
    const auto is_it = [&](const TouchedKey& known) { return known.key == name; };
    if (std::any_of(touched.begin(), touched.end(), is_it)) continue;
    const KnownRecord* known = find_record(records, name);
    touched.push_back({name, known == nullptr ? std::nullopt : known->record, look(name, now)});
  }
  return touched;
}

std::optional<SeenRecord> ScratchNode::look(const std::string& key, Instant now) {
  const server::Lock* lock = node_.locks().find(key, now);
  return lock == nullptr ? std::nullopt : std::optional(seen(*lock));
}

void ScratchNode::clear(std::span<const KnownRecord> records, Instant now) {
  for (const KnownRecord& known : records) node_.grants().release(known.key, now);
  for (const std::string& name : names_) node_.grants().release(name, now);
  node_.grants().uncovered().clear();
  node_.grants().count_imposed_ttls();
}

}  // namespace redlock::coordinator
