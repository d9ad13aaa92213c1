// The node's commands as others see them: what is shown to monitors, timed, and told to the audit.
#include "server/node/node.h"

#include <algorithm>
#include <utility>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

// A script's calls have no client: Redis's words for that.
constexpr std::string_view kNoAddress = "?:0";

Observers::Subject subject_of(const Call& call) {
  const std::string_view address = call.session.peer().address;
  return {call.command.spec, call.words, call.from_script ? kNoAddress : address,
          call.session.name};
}

// What is told of a client in the audit; nullptr: it is gone.
Audit::Who who(const Session* client, Session::Id id) {
  if (client == nullptr) return {"?", id, {}, {}};
  const std::string_view user = client->user_name();
  return {client->peer().address, id, client->name,
          user == protocol::kDefaultUser ? std::string_view() : user};
}

}  // namespace

// Scripts are shown before what they call, all others when they are done.
Reply Node::run_observed(Call& call) {
  const bool is_script = call.command.spec.has(protocol::kSkipMonitor);
  if (is_script) show_to_monitors(call, nullptr);
  Reply reply = run_timed(call);
  if (!is_script) show_to_monitors(call, &reply);
  return reply;
}

Reply Node::run_timed(Call& call) {
  if (!observers_.has_stopwatch()) return call.command.run(call);
  const bool may_be_short = call.command.spec.has(protocol::kSkipMonitor);
  if (may_be_short && !observers_.looks_at_all() && untimed_scripts_ + 1 < kTimedOneIn) {
    return run_timed_if_in_lua(call);
  }
  const Instant began = observers_.read_beginning(call.instant(), stats_.commands_processed);
  const std::uint64_t native_runs = scripts_.native_runs();
  scripts_.forget_ran();
  Reply reply = call.command.run(call);
  const bool is_sample = may_be_short && scripts_.native_runs() != native_runs;
  note_time_of(call, reply, began, 1 + (is_sample ? std::exchange(untimed_scripts_, 0) : 0));
  return reply;
}

// EVAL and EVALSHA, of which no other is called meanwhile.
Reply Node::run_timed_if_in_lua(Call& call) {
  times_lua_ = true;
  lua_began_.reset();
  scripts_.forget_ran();
  const std::uint64_t native_runs = scripts_.native_runs();
  Reply reply = call.command.run(call);
  times_lua_ = false;
  if (lua_began_) {
    note_time_of(call, reply, *lua_began_, 1);
  } else if (scripts_.native_runs() != native_runs) {
    ++untimed_scripts_;
    scripts_.note_time({});
  }
  return reply;
}

void Node::note_time_of(Call& call, const Reply& reply, Instant began, unsigned calls) {
  const bool goes_on_later = reply.is(Reply::Kind::later) && suspended_;
  const bool comes_again = reply.is(Reply::Kind::postponed);
  const Instant now = call.instant();
  if (!goes_on_later && !comes_again) {
    const Instant end = observers_.read_end(now, stats_.commands_processed);
    observers_.note_time(subject_of(call), call.now.wall, end - began, calls);
    turns_.note_work(end - began, call.now);
    scripts_.note_time(end - began);  // of the script, not of EXEC around it
    if (end - began >= TurnOrder::kLongWork) turns_.wait_behind_long_work(call.session, now);
    if (end - now >= TurnOrder::kTurnMax) turns_.look_before_next();
  } else if (goes_on_later && !suspended_->observed) {  // the script, and not EXEC around it
    suspended_->observed = Observers::keep(subject_of(call), call.now.wall, began);
  }
}

void Node::show_to_monitors(const Call& call, Reply* reply) {
  if (observers_.monitors().is_empty() || call.command.spec.has(protocol::kAdmin)) return;
  if (reply != nullptr && reply->is(Reply::Kind::postponed)) return;
  const std::string_view address = call.session.peer().address;
  const std::string_view from = call.from_script ? "lua" : address;
  std::string line = monitor_line(call.now.wall, from, call.command.spec, call.words,
                                  observers_.monitors().line_bytes_max());
  // What is answered later is shown before: the session has to know that it waits for that.
  const bool is_later = reply != nullptr && reply->is(Reply::Kind::later);
  const bool is_own = call.session.is_in(Session::kMonitoring) && !call.in_transaction && !is_later;
  observers_.monitors().show(line, call.session.user(), is_own ? &call.session : nullptr);
  if (!is_own || reply == nullptr) return;
  Reply both = Reply::sequence();
  both.add(std::move(*reply)).add(Reply::status(std::move(line)));
  *reply = std::move(both);
}

Audit::Who Node::who_of(const Call& call) {
  return call.from_script ? who_of(script_client_) : who(&call.session, call.session.id());
}

Audit::Who Node::who_of(Session::Id client) {
  const auto gone = gone_.find(client);
  return gone != gone_.end() ? gone->second.who() : who(sessions_.find(client), client);
}

Breaker Node::breaker_of(const Call& call, std::string_view key) {
  const std::string_view name = call.command.spec.name;
  if (!call.from_script) return {name, who_of(call), call.words};
  return {name, who_of(call), scripts_.arguments(), scripts_.compares(key), scripts_.is_trusted()};
}

// Of a command that has granted: what now stands under its keys.
void Node::note_takers(const Call& call) {
  const protocol::CommandSpec& spec = call.command.spec;
  if (spec.first_key == 0) return;  // a script, whose commands were looked at
  const auto words = static_cast<int>(call.words.size());
  const int last = spec.last_key < 0 ? words + spec.last_key : std::min(spec.last_key, words - 1);
  for (int at = spec.first_key; at <= last; at += spec.key_step) {
    const Lock* lock = locks().find(call.words[static_cast<std::size_t>(at)], call.instant());
    if (lock != nullptr) breaks_.note_taker(*lock, who_of(call).id);
  }
}

}  // namespace redlock::server
