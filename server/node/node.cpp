#include "server/node/node.h"

#include "base/invariant.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace redlock::server {

using protocol::Request;
using protocol::Session;

namespace {

LogSink* audit_sink(const Settings& settings, const Node::Environment& environment) {
  if (settings.audit == kNoAudit) return nullptr;
  return environment.audit_file != nullptr ? environment.audit_file : &environment.log;
}

// Tells nothing of a lock and changes nothing but its own session.
bool is_served_before_begin(const protocol::CommandSpec& spec) {
  return spec.group == "connection" ||
         (spec.has(protocol::kLoading) && !spec.has(protocol::kAdmin));
}

// The first words of an HTTP request: a browser that was tricked into speaking to this node, to
// have it execute the lines that follow (cross-protocol scripting).
// Redis closes such a connection, too.
bool is_http(Request request) {
  return equals_ignoring_case(request[0], "POST") || equals_ignoring_case(request[0], "Host:");
}

struct Run {
  Session& session;
  Request request;
  Now now;
  CommandTable::Entry& entry;
  CommandRunner::Origin origin;
};

// The same again, with the holder set; the one before comes back behind it. Apart, too.
[[gnu::noinline]] Reply run_for_holder(CommandRunner& runner, Grants& grants,
                                       const protocol::User* before, const Run& run) {
  Reply reply = runner.run(run.session, run.request, run.now, run.entry, run.origin);
  grants.set_holder(before);
  return reply;
}

// What is asked of sessions that are not plain. Apart, so that others are not slowed by its size.
[[gnu::noinline]] Refusal refuse_in_mode(Judge& judge, Session& session,
                                         const CommandTable::Entry& entry, Request request,
                                         Instant now) {
  if (session.is_restricted()) {
    if (Refusal no = judge.refuse(session, entry.number, request, now)) return no;
  }
  if (!session.is_listening()) return {};
  auto refusal = refuse_to_listener(session, entry.command->spec);
  return refusal ? Refusal(std::move(*refusal)) : Refusal();
}

}  // namespace

Node::Node(Families commands, Settings& settings, NodeStart start, Environment environment)
    : settings_(settings),
      start_(std::move(start)),
      environment_(std::move(environment)),
      commands_(commands),
      ledger_(start_.ledger, environment_.ledger),
      grants_({start_, settings_, ledger_, events_, stats_}),
      audit_(audit_sink(settings_, environment_), settings_.audit_format),
      coverage_({ledger_, grants_, stats_, client_log_, environment_.log}),
      membership_({start_.started_at, settings_, ledger_, grants_}),
      events_(settings_.notify_keyspace_events, locks().notes(), pubsub_, client_log_),
      door_({sessions_, access_, settings_, stats_, client_log_}),
      scripts_({*this, commands_, judge_, coverage_, settings_, stats_, client_log_,
                environment_.script_watch, observers_, grants_.locks(),
                environment_.runs_known_scripts_natively},
               start_.hash_seed, std::string(kRedisVersion), start_.started_at),
      transactions_(
          {*this, commands_, sessions_, judge_, watches_, coverage_, turns_, stats_, client_log_}),
      observers_(environment_.stopwatch),
      random_(start_.hash_seed) {
  apply_settings();
}

void Node::apply_settings() {
  accounts_.set_password(settings_.requirepass);
  access_.log().set_entries_max(settings_.acllog_max_len);
  access_.set_protected_mode(settings_.protected_mode);
  pubsub_.set_output_bytes_max(settings_.listener_output_limit.hard);
  sessions_.set_bytes_max(settings_.maxmemory_clients > 0
                              ? settings_.maxmemory_clients
                              : std::numeric_limits<std::size_t>::max());
  observers_.apply(settings_);
  events_.apply_settings();
}

Status Node::load_users() {
  if (accounts_.has_file()) return accounts_.load(nullptr);
  if (settings_.users.empty()) return Done{};
  std::string text;
  for (const std::string& line : settings_.users) text += line + "\n";
  return accounts_.load(text, "the configuration", nullptr);
}

void Node::receive(Session& session, std::string_view bytes, Now now) {
  turns_.begin();
  rates_.note(now.monotonic, counts_so_far());
  stats_.bytes_in += bytes.size();
  grants_.observe_clock(now.monotonic);
  const bool has_its_turn = !session.is_waiting() && !session.is_closing();
  if (now.monotonic < session.waits_behind_until && has_its_turn) [[unlikely]]
    turns_.give_way(session);
  session.receive(bytes, now, *this);
  finish_turn(now);
  peak_memory_ = peak_memory();
}

// Before a command runs: is it known, well formed, and allowed to this session now?
Refusal Node::refuse(Session& session, const CommandTable::Entry& entry, Request request,
                     Instant now) {
  const protocol::CommandSpec& spec = entry.command->spec;
  if (!spec.takes(request.size())) return protocol::wrong_arity(spec.name);
  const bool may_ask = session.is_authenticated() || !access_.is_required();
  if (!may_ask && !spec.has(protocol::kNoAuth)) {
    return Reply::error_view(protocol::kAuthenticationRequired);
  }
  if (!session.is_plain()) [[unlikely]] {
    if (Refusal no = refuse_in_mode(judge_, session, entry, request, now)) return no;
  }
  if (suspended_ && !spec.has(protocol::kAllowBusy)) {
    return Reply::error_view(kBusyRunningScript);
  }
  if (spec.has(protocol::kDenyOom) && is_above_maxmemory()) {
    return Reply::error_view(kOutOfMemory);
  }
  return {};
}

Reply Node::refuse_unknown(Session& session, const CommandTable::Entry* container, Request request,
                           Now now) {
  if (is_http(request)) {
    client_log_.log(ClientLog::Kind::http, LogLevel::warning,
                    "a client speaks HTTP: its connection is closed", now.monotonic);
    session.close_after_output();
    return Reply::none();
  }
  const bool may_ask = session.is_authenticated() || !access_.is_required();
  Reply refusal = !may_ask ? Reply::error_view(protocol::kAuthenticationRequired)
                  : container == nullptr
                      ? protocol::unknown_command(request)
                      : protocol::unknown_subcommand(container->command->spec.name, request[1]);
  return refused(session, nullptr, request, now, std::move(refusal));
}

// EXEC that is refused is over; monitors, which saw MULTI, see that it came.
Reply Node::refused(Session& session, const CommandTable::Entry* entry, Request request, Now now,
                    Reply refusal) {
  stats_.count_error(refusal.text());
  walks_.forget(session);
  const bool is_exec = entry != nullptr && entry->command->spec.name == "exec";
  Reply reply = transactions_.note_refusal(session, is_exec, std::move(refusal));
  if (is_exec) {
    show_to_monitors(call_of(session, request, now, *entry->command, Origin::client), &reply);
  }
  return reply;
}

Reply Node::execute(Session& session, Request request, Now now) {
  if (turns_.is_due_to_look() && turns_.is_over(now)) {
    return turns_.in_next_turn(session, now.monotonic);
  }
  turns_.count(request.size());
  if (stop_) return Reply::none();
  const CommandTable::Found found = commands_.find(request);
  if (found.entry == nullptr) return refuse_unknown(session, found.container, request, now);
  const protocol::CommandSpec& spec = found.entry->command->spec;
  if (Refusal no = refuse(session, *found.entry, request, now.monotonic)) {
    ++found.entry->stats.rejected;
    return refused(session, found.entry, request, now, std::move(no));
  }
  if (!has_begun_ && !is_served_before_begin(spec)) return Reply::postponed();
  session.last_command = spec.name;
  if (!session.is_plain() || pause_.is_on()) {
    auto reply = queue_or_pause(session, *found.entry, request, now);
    if (reply) return std::move(*reply);
  }
  if (turns_.others_come_first() && may_take_long(session, spec, request)) [[unlikely]]
    return turns_.behind_others(session);
  ++stats_.commands_processed;
  Reply reply = run(session, request, now, *found.entry, Origin::client);
  if (reply.is(Reply::Kind::postponed)) {  // it comes again, and counts then
    --stats_.commands_processed;
    --found.entry->stats.calls;
  }
  events_.tell_expired();
  if (suspended_) {
    coverage_.cover_before_yield(suspended_->now.monotonic);
    return reply;
  }
  grants_.count_imposed_ttls();
  if (!grants_.uncovered().empty()) {
    reply = coverage_.record_deadlines(session.id(), std::move(reply), now);
  }
  note_keys(session.id());
  return reply;
}

Reply Node::run(Session& session, Request request, Now now, CommandTable::Entry& entry,
                Origin origin) {
  INVARIANT(entry.command->run != nullptr, "a container that was called with its name alone");
  if (session.is_restricted()) [[unlikely]] {
    const protocol::User* const before = grants_.set_holder(session.user());
    // Else it is of a script within EVAL, or a command within EXEC.
    if (before != session.user()) {
      return run_for_holder(*this, grants_, before, {session, request, now, entry, origin});
    }
  }
  ++entry.stats.calls;
  Call call = call_of(session, request, now, *entry.command, origin);
  const bool is_observed = observers_.look_at(entry.command->spec, request);
  const std::uint64_t granted = stats_.granted;
  Reply reply = is_observed ? run_observed(call) : entry.command->run(call);
  if (audit_.is_on() && stats_.granted != granted) [[unlikely]]
    note_takers(call);
  if (reply.is_error()) {
    ++entry.stats.failed;
    stats_.count_error(reply.text());
  }
  return reply;
}

Reply run_elsewhere(Call& call) {
  INVARIANT(call.node.elsewhere() != nullptr, "a command that nobody executes");
  return call.node.elsewhere()->execute(call);
}

void Node::answer(Session& session, const Reply& reply, Now now) {
  if (reply.is_error()) stats_.count_error(reply.text());
  turns_.begin();
  grants_.observe_clock(now.monotonic);
  session.resume(reply, now, *this);
  finish_turn(now);
}

Reply Node::run_queued(Session& session, Request request, Now now) {
  CommandTable::Entry* entry = commands_.find(request).entry;
  INVARIANT(entry != nullptr, "a queued command that is unknown");
  if (session.is_restricted()) {
    if (Refusal no = judge_.refuse_queued(session, entry->number, request, now.monotonic))
      return no;
  }
  ++stats_.commands_processed;
  return run(session, request, now, *entry, Origin::transaction);
}

Refusal Node::refuse_late(Session& session, Request request, Now now) {
  if (!session.is_restricted()) [[likely]]
    return {};
  const CommandTable::Entry* const entry = commands_.find(request).entry;
  INVARIANT(entry != nullptr, "a command that waits and is unknown");
  return judge_.refuse(session, entry->number, request, now.monotonic);
}

// What is always timed; of scripts those that were not quick so far. Decided before the command
// begins, as a monitor sees scripts when they begin.
bool Node::may_take_long(const Session& session, const protocol::CommandSpec& spec,
                         Request request) {
  if (!Observers::is_timed_always(spec, request)) return false;
  if (spec.name == "eval" || spec.name == "evalsha") return scripts_.may_take_long(spec, request);
  if (spec.name != "exec") return true;
  return session.transaction() != nullptr &&
         session.transaction()->words() > TurnOrder::kWordsBetweenLooks;
}

// A session in a mode of its own, or a pause. nullopt: the command is executed all the same.
std::optional<Reply> Node::queue_or_pause(Session& session, const CommandTable::Entry& entry,
                                          Request request, Now now) {
  constexpr std::uint32_t kOfKeys =
      protocol::kWrite | protocol::kReadOnly | protocol::kMayReplicate;
  const protocol::CommandSpec& spec = entry.command->spec;
  const protocol::Transaction* queued = session.transaction();
  const bool is_exec = queued != nullptr && spec.name == "exec";
  const std::uint32_t flags = spec.flags | (is_exec ? queued->flags() : 0);
  if (session.is_in(Session::kMonitoring) && (flags & kOfKeys) != 0) {
    return refused(session, &entry, request, now,
                   Reply::error_view("ERR Replica can't interact with the keyspace"));
  }
  if (pause_.holds(flags, now.monotonic)) {
    session.is_paused = true;
    return Reply::postponed();
  }
  if (queued == nullptr || spec.has(protocol::kNotQueued)) return std::nullopt;
  return transactions_.queue(session, spec, request);
}

void Node::drop_subscriptions(Session& session) {
  walks_.forget(session);
  waiters_.forget(session.id());
  watches_.forget(session);
  pubsub_.forget(session);
  observers_.leave(session);
}

std::size_t Node::forget_some(Session& session, std::size_t at_most) {
  const std::size_t forgotten = pubsub_.forget(session, at_most);
  return forgotten + waiters_.forget(session.id(), at_most - forgotten);
}

std::size_t Node::wishes_of(const Session& session) const {
  const Session::ListensTo& to = session.listens_to;
  return std::size_t{to.channels} + to.patterns + to.shard_channels + session.watched_keys +
         waiters_.count_of(session.id());
}

// A client that goes may leave its script behind.
void Node::close_session(Session::Id id) {
  if (audit_.is_on() && suspended_ && id == script_client_) keep_who(id);
  if (Session* session = sessions_.find(id)) {
    door_.close(*session, grants_.clock().latest());
    drop_subscriptions(*session);
  }
  sessions_.close(id);
}

bool Node::has_unfinished_request(const Session& session) const {
  if (transactions_.is_of(session)) return true;
  if (session.is_postponed() && !session.is_paused) return true;
  if (session.has_given_way() && !session.is_closing()) return true;
  return coverage_.withholds_reply_of(session.id());
}

void Node::note_unsent(Session& session, std::size_t bytes) {
  session.note_unsent(bytes);
  if (session.is_held_back() && session.has_room()) turns_.give_way(session);
}

void Node::forget_stats() {
  stats_ = {};
  rates_ = {};
}

}  // namespace redlock::server
