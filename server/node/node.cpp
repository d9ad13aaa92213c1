#include "server/node/node.h"

#include "base/invariant.h"
#include "base/text/number.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"

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
      ledger_(start_.ledger, world_.ledger),
      grants_({start_, settings_, ledger_, events_, stats_}),
      coverage_({ledger_, grants_, stats_, client_log_, world_.log}, start_.snapshot_from),
      events_(settings_.notify_keyspace_events, locks().notes(), pubsub_, client_log_),
      engine_(script_limits(settings_, start_.hash_seed), std::string(kRedisVersion)),
      observers_(world_.stopwatch),
      random_(start_.hash_seed) {
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
  events_.apply_settings();
}

bool Node::owes_work(const Session& session) const {
  if (transaction_ && transaction_->caller == session.id()) return true;
  if (session.is_postponed() && !session.is_paused) return true;
  if (session.has_given_way() && !session.is_closing()) return true;
  return coverage_.withholds_reply_of(session.id());
}

void Node::receive(Session& session, std::string_view bytes, Now now) {
  work_ = 0;
  rates_.note(now.monotonic, counts_so_far());
  stats_.bytes_in += bytes.size();
  grants_.observe_clock(now.monotonic);
  const bool has_its_turn = !session.is_waiting() && !session.is_closing();
  if (now.monotonic < session.waits_behind_until && has_its_turn) [[unlikely]]
    give_turn(session);
  session.receive(bytes, now, *this);
  finish_ledger_write(now);
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
  events_.tell_expired();
  if (suspended_) {
    coverage_.cover_before_yield(script_now_.monotonic);
    return reply;
  }
  grants_.count_imposed_ttls();
  if (!grants_.uncovered().empty()) {
    reply = coverage_.record_deadlines(session.id(), std::move(reply), now);
  }
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

void Node::begin_run(Now now) {
  has_begun_ = true;
  retry_postponed(now);
}

std::optional<DurableRecord> Node::begin_ledger_write(Now now) {
  if (!has_begun_) return std::nullopt;
  return coverage_.begin_write(now.monotonic);
}

void Node::end_ledger_write(const Status& written, Now now) {
  coverage_.note_write_end(written);
  finish_ledger_write(now);
}

void Node::finish_ledger_write(Now now) {
  if (suspended_ || !coverage_.has_ended_write()) return;
  const std::vector<LateReply> settled = coverage_.finish_write(now);
  look_at_notes(now.monotonic);
  for (const LateReply& late : settled) {
    if (Session* session = sessions_.find(late.session)) session->resume(late.reply, now, *this);
  }
  retry_postponed(now);
}

}  // namespace redlock::server
