#include "server/node/node.h"

#include "base/invariant.h"
#include "base/text/number.h"
#include "protocol/resp/errors.h"
#include "server/node/refusals.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Request;
using protocol::Session;

namespace {

// Tells nothing of a lock and changes nothing but its own session.
bool is_harmless(const protocol::CommandSpec& spec) {
  return spec.group == "connection" ||
         (spec.has(protocol::kLoading) && !spec.has(protocol::kAdmin));
}

// The first words of an HTTP request: a browser that was tricked into speaking to this node, to
// have it execute the lines that follow (cross-protocol scripting). Redis closes such a connection,
// too.
bool is_http(Request request) {
  return equals_ignoring_case(request[0], "POST") || equals_ignoring_case(request[0], "Host:");
}

lua::Limits script_limits(const Settings& settings, std::uint64_t hash_seed) {
  lua::Limits limits;
  limits.memory_bytes_max = settings.script_memory_limit;
  limits.script_bytes_max = settings.script_size_limit;
  limits.hash_seed = hash_seed;
  return limits;
}

}  // namespace

Node::Node(Families commands, Settings& settings, NodeStart start, World world)
    : settings_(settings),
      start_(std::move(start)),
      world_(std::move(world)),
      commands_(commands),
      script_session_(script_sessions_.open({}, true, start_.started_at)),
      locks_(start_.hash_seed, settings_.max_ttl),
      release_marks_(start_.hash_seed),
      fence_(start_.fence),
      ledger_(start_.ledger, world_.ledger),
      engine_(script_limits(settings_, start_.hash_seed), std::string(kRedisVersion)),
      observers_(world_.stopwatch),
      random_(start_.hash_seed) {
  // A wait that an earlier run is owed stands in the ledger until it is over (rule R3).
  lower_at_ = start_.snapshot_from;
  apply_settings();
}

void Node::apply_settings() {
  access_.set_password(settings_.requirepass);
  access_.set_protected_mode(settings_.protected_mode);
  pubsub_.set_output_bytes_max(settings_.listener_output_limit.hard);
  sessions_.set_bytes_max(settings_.maxmemory_clients > 0
                              ? settings_.maxmemory_clients
                              : std::numeric_limits<std::size_t>::max());
  observers_.apply(settings_);
  locks_.note_expired(are_told(settings_.notify_keyspace_events, kExpiredEvent));
}

bool Node::owes_work(const Session& session) const {
  const auto is_of_it = [&session](const HeldReply& held) { return held.session == session.id(); };
  if (transaction_ && transaction_->caller == session.id()) return true;
  if (session.is_postponed() && !session.is_paused) return true;
  if (session.has_given_way() && !session.is_closing()) return true;
  return std::any_of(held_.begin(), held_.end(), is_of_it);
}

void Node::receive(Session& session, std::string_view bytes, Now now) {
  work_ = 0;
  rates_.note(now.monotonic, counts_so_far());
  stats_.bytes_in += bytes.size();
  clock_.observe(now.monotonic);
  const bool has_its_turn = !session.is_waiting() && !session.is_closing();
  if (now.monotonic < session.waits_behind_until && has_its_turn) [[unlikely]]
    give_turn(session);
  session.receive(bytes, now, *this);
  settle_ended_write(now);
  deliver_late_replies();
  deliver_wakes(now);
  look_at_pause(now);
  peak_memory_ = peak_memory();
}

bool Node::is_above_maxmemory() const {
  return settings_.maxmemory > 0 && used_memory() > settings_.maxmemory;
}

bool Node::lacks_memory_for(const protocol::CommandSpec& spec) const {
  return spec.has(protocol::kDenyOom) && is_above_maxmemory();
}

// Before a command runs: is it known, well formed, and allowed to this session now?
std::optional<Reply> Node::refuse(const Session& session, const protocol::CommandSpec& spec,
                                  Request request) const {
  if (!spec.takes(request.size())) return protocol::wrong_arity(spec.name);
  if (access_.is_required() && !session.is_authenticated() && !spec.has(protocol::kNoAuth)) {
    return Reply::error_view(protocol::kAuthenticationRequired);
  }
  if (session.is_listening()) {
    if (auto refusal = refuse_to_listener(session, spec)) return refusal;
  }
  if (suspended_ && !spec.has(protocol::kAllowBusy)) {
    return Reply::error_view(kBusyRunningScript);
  }
  if (lacks_memory_for(spec)) {
    return Reply::error_view(kOutOfMemory);
  }
  return std::nullopt;
}

Reply Node::refuse_unknown(Session& session, const CommandTable::Entry* container, Request request,
                           Now now) {
  if (is_http(request)) {
    client_log_.log(ClientLog::Kind::http, LogLevel::warning,
                    "a client speaks HTTP: its connection is closed", now.monotonic);
    session.close_after_output();
    return Reply::none();
  }
  const bool may_ask = !access_.is_required() || session.is_authenticated();
  Reply refusal = !may_ask ? Reply::error_view(protocol::kAuthenticationRequired)
                  : container == nullptr
                      ? protocol::unknown_command(request)
                      : protocol::unknown_subcommand(container->command->spec.name, request[1]);
  return refused(session, nullptr, request, now, std::move(refusal));
}

// spec: nullptr for a command that is not known.
Reply Node::refused(Session& session, const protocol::CommandSpec* spec, Request request, Now now,
                    Reply refusal) {
  stats_.count_error(refusal.text());
  key_walks_.forget(session);
  return refuse_in_transaction(session, spec, request, now, std::move(refusal));
}

Reply Node::execute(Session& session, Request request, Now now) {
  if (work_ >= kWordsBetweenLooks && is_turn_over(now)) return in_next_turn(session);
  work_ += request.size();
  if (stop_) return Reply::none();
  const CommandTable::Found found = commands_.find(request);
  if (found.entry == nullptr) return refuse_unknown(session, found.container, request, now);
  if (auto refusal = refuse(session, found.entry->command->spec, request)) {
    ++found.entry->stats.rejected;
    return refused(session, &found.entry->command->spec, request, now, std::move(*refusal));
  }
  if (!has_begun_ && !is_harmless(found.entry->command->spec)) return Reply::postponed();
  session.last_command = found.entry->command->spec.name;
  if (!session.is_plain() || pause_.is_on()) {
    auto reply = divert(session, found.entry->command->spec, request, now);
    if (reply) return std::move(*reply);
  }
  if (others_come_first() && may_take_long(session, found.entry->command->spec, request))
      [[unlikely]]
    return behind_others(session);
  ++stats_.commands_processed;
  Call call{{session, sessions_, access_, kRedisVersion, request, now},
            *this,
            *found.entry->command,
            false};
  Reply reply = run(call, *found.entry);
  if (reply.is(Reply::Kind::postponed)) {  // it comes again, and counts then
    --stats_.commands_processed;
    --found.entry->stats.calls;
  }
  if (!imposed_ttls_.empty()) settle_imposed_ttls();
  tell_expired();
  if (suspended_) {
    cover_early();
    return reply;
  }
  if (!uncovered_.empty()) reply = settle_uncovered(session.id(), std::move(reply), now);
  look_at_notes(now.monotonic);
  return reply;
}

Reply Node::run(Call& call, CommandTable::Entry& entry) {
  INVARIANT(entry.command->run != nullptr, "a container that was called with its name alone");
  ++entry.stats.calls;
  const bool is_observed = observers_.look_at(entry.command->spec, call.words);
  Reply reply = is_observed ? run_observed(call) : entry.command->run(call);
  if (reply.is_error()) {
    ++entry.stats.failed;
    stats_.count_error(reply.text());
  }
  return reply;
}

std::optional<Reply> Node::refuse_grant(const Call& call) {
  if (!clock_.is_sound()) {
    return Reply::error(fmt::format(
        "ERR this node's clock {}: no lock is granted or extended until the node is restarted",
        clock_.text()));
  }
  if (!is_recovering(call.instant())) return std::nullopt;
  ++stats_.refused_recovering;
  return Reply::error(fmt::format("ERR recovering after a restart, no new locks for {} ms",
                                  ceil_ms(delay_left(call.instant()))));
}

Duration Node::delay_left(Instant now) const {
  return is_recovering(now) ? start_.grant_from - now : Duration::zero();
}

void Node::begin_run(Now now) {
  has_begun_ = true;
  retry_postponed(now);
}

bool Node::restore(const SavedLock& saved) {
  return locks_.put(saved.key, saved.value, saved.deadline, saved.token, start_.started_at,
                    saved.kind) != nullptr;
}

void Node::save(Instant copied_at, const SavedLockVisitor& keep,
                const SavedMarkVisitor& mark) const {
  locks_.for_each([&](const Lock& lock) {
    if (lock.is_over(copied_at)) return;
    keep({lock.key(), lock.value(), lock.deadline, lock.token, lock.kind()});
  });
  release_marks_.save(copied_at, mark);
}

const Lock* Node::grant(std::string_view key, std::string_view value, Instant deadline,
                        Instant now) {
  const Lock* old = locks_.find(key, now);
  const bool is_extension = old != nullptr && old->holds(value);
  ++(is_extension ? stats_.extended : stats_.granted);
  const bool is_new = old == nullptr;
  const Lock* lock = put(key, value, deadline, is_extension ? old->token : fence_.grant(key), now);
  if (is_new && lock != nullptr) notify(kNewKeyEvent, "new", key);
  return lock;
}

const Lock* Node::grant_hash(std::string_view key, std::string_view packed, Instant deadline,
                             Instant now) {
  ++stats_.granted;
  const Lock* lock = put(key, packed, deadline, fence_.grant(key), now, LockKind::hash);
  if (lock != nullptr) notify(kNewKeyEvent, "new", key);
  return lock;
}

const Lock* Node::change_hash(std::string_view key, std::string_view packed, Instant now) {
  const Lock* old = locks_.find(key, now);
  INVARIANT(old != nullptr && old->is_hash(), "a change to a hash that is not there");
  return put(key, packed, old->deadline, old->token, now, LockKind::hash);
}

const Lock* Node::top_up(std::string_view key, std::string_view value, Instant deadline,
                         std::uint64_t token, Instant now) {
  ++stats_.granted;
  const Lock* lock = put(key, value, deadline, token > 0 ? token : fence_.grant(key), now);
  if (lock != nullptr) notify(kNewKeyEvent, "new", key);
  return lock;
}

const Lock* Node::put(std::string_view key, std::string_view value, Instant deadline,
                      std::uint64_t token, Instant now, LockKind kind) {
  const Lock* lock = locks_.put(key, value, deadline, token, now, kind);
  if (lock != nullptr) note_deadline(key, deadline, now);
  return lock;
}

void Node::extend(std::string_view key, Instant deadline, Instant now) {
  locks_.set_deadline(key, deadline, now);
  ++stats_.extended;
  note_deadline(key, deadline, now);
}

// What ran out before is told before.
void Node::tell_event(EventFlag kind, std::string_view event, std::string_view key) {
  tell_expired();
  const EventFlags asked = settings_.notify_keyspace_events;
  if (!are_told(asked, kind)) return;
  if (pubsub_.is_full()) {
    client_log_.log(ClientLog::Kind::events_dropped, LogLevel::warning,
                    "keyspace events are dropped: their listeners cannot be told as fast",
                    clock_.latest());
  }
  pubsub_.publish_event(asked, event, key);
}

void Node::tell_expired_keys() {
  locks_.take_expired(expired_keys_);
  for (const std::string& key : expired_keys_) {
    pubsub_.publish_event(settings_.notify_keyspace_events, "expired", key);
  }
}

void Node::note_imposed_ttl(std::string_view key) {
  imposed_ttls_.emplace(key);
}

void Node::note_own_ttl(std::string_view key) {
  if (imposed_ttls_.empty()) return;
  if (const auto imposed = imposed_ttls_.find(key); imposed != imposed_ttls_.end()) {
    imposed_ttls_.erase(imposed);
  }
}

void Node::settle_imposed_ttls() {
  if (suspended_ || imposed_ttls_.empty()) return;
  stats_.ttl_imposed += imposed_ttls_.size();
  imposed_ttls_.clear();
}

}  // namespace redlock::server
