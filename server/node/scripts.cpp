// EVAL's scripts: their commands, their time, their end.
#include "lua/scripts/known_scripts.h"
#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"
#include "server/node/node.h"

#include <utility>

namespace redlock::server {

using protocol::Request;
using protocol::Session;

lua::Engine::Loaded Node::load_script(std::string_view body, lua::Engine::Keep keep) {
  if (world_.script_watch != nullptr) world_.script_watch->script_began(engine_);
  lua::Engine::Loaded loaded = engine_.load(body, keep);
  if (world_.script_watch != nullptr) world_.script_watch->script_ended();
  return loaded;
}

// Whether there is memory for a script's writes is decided when it begins, and only the first write
// is refused for lack of it: half of a script's writes would be worse than all. A first line "#!lua
// flags=…" decides for the whole script.
Reply Node::run_script(Call& call, const lua::Script& script,
                       std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments) {
  script_lacks_memory_ = !script.allows_oom() && is_above_maxmemory();
  if (script_lacks_memory_ && script.has_header()) return Reply::error_view(kOutOfMemory);
  script_now_ = call.now;
  script_ = &script;
  script_wrote_ = false;
  const std::uint64_t refused = stats_.refused_recovering;
  if (world_.script_watch != nullptr) world_.script_watch->script_began(engine_);
  const auto progress = engine_.start(script, keys, arguments, *this);
  if (progress == lua::Engine::Progress::suspended) {
    script.note_quick(false);
    // Of a transaction it may be the second script, which began later than its `now`.
    const Instant began = transaction_ ? grants_.clock().latest() : call.instant();
    suspended_ = Suspended{call.session.id(), began, std::nullopt};
    client_log_.log(
        ClientLog::Kind::script_overrun, LogLevel::warning,
        "a script runs longer than busy-reply-threshold: other clients are answered -BUSY; SCRIPT "
        "KILL ends it if it has not written yet",
        began);
    return Reply::later();
  }
  if (world_.script_watch != nullptr) world_.script_watch->script_ended();
  ran_ = &script;
  Reply reply = engine_.take_reply();
  const bool is_refused = stats_.refused_recovering != refused && reply.is_error();
  if (is_refused && is_told_as_held(script)) [[unlikely]]
    return Reply::null();
  return reply;
}

// restart-reply held for a script that acquires by a plain SET, which is refused (rule R10).
bool Node::is_told_as_held(const lua::Script& script) const {
  if (settings_.restart_reply != RestartReply::held) return false;
  const lua::KnownScript* const known = lua::known_script_of(script.body());
  return known != nullptr && known->is_nil_if_held;
}

Reply Node::kill_script() {
  if (!suspended_) return Reply::error_view("NOTBUSY No scripts in execution right now.");
  if (script_wrote_ || !engine_.is_suspended()) {
    return Reply::error_view(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  }
  engine_.kill(lua::kKilledByUser);
  finish_script();
  return Reply::ok();
}

void Node::resume_suspended(Now now) {
  if (!engine_.is_suspended()) return resume_transaction(now);
  if (now.monotonic - suspended_->began >= settings_.script_time_limit) {
    engine_.kill(lua::kTimeLimitError);
    return finish_script();
  }
  if (engine_.resume() == lua::Engine::Progress::finished) finish_script();
}

// The reply is delivered at the end of the turn, not from inside the command that brought it about.
void Node::finish_script() {
  if (world_.script_watch != nullptr) world_.script_watch->script_ended();
  const Session::Id caller = suspended_->caller;
  if (suspended_->observed) observers_.note_time(std::move(*suspended_->observed));
  suspended_.reset();
  Reply reply = engine_.take_reply();
  if (transaction_) reply = continue_transaction_after(std::move(reply));
  finish_suspended(caller, std::move(reply));
}

void Node::finish_suspended(Session::Id caller, Reply reply) {
  if (suspended_) return;  // the next script of the same transaction, or its next piece
  grants_.count_imposed_ttls();
  reply = coverage_.record_deadlines(caller, std::move(reply), script_now_);
  if (!reply.is(Reply::Kind::later)) late_replies_.push_back({caller, std::move(reply)});
}

// redis.call: the same commands by the same way, at the script's own instant.
Reply Node::call(Request request) {
  const CommandTable::Found found = commands_.find(request);
  if (found.entry == nullptr) {
    return Reply::error_view("ERR Unknown Redis command called from script");
  }
  const protocol::CommandSpec& spec = found.entry->command->spec;
  if (!spec.takes(request.size())) {
    return Reply::error_view("ERR Wrong number of args calling Redis command from script");
  }
  if (spec.has(protocol::kNoScript)) {
    return Reply::error_view("ERR This Redis command is not allowed from script");
  }
  const bool writes = spec.has(protocol::kWrite);
  if (script_->is_read_only() && (writes || spec.has(protocol::kMayReplicate))) {
    return Reply::error_view("ERR Write commands are not allowed from read-only scripts.");
  }
  if (script_lacks_memory_ && !script_wrote_ && spec.has(protocol::kDenyOom)) {
    return Reply::error_view(kOutOfMemory);
  }
  if (writes) script_wrote_ = true;
  coverage_.bound_uncovered(script_now_.monotonic);
  Call call{{script_session_, sessions_, access_, kRedisVersion, request, script_now_},
            *this,
            *found.entry->command,
            true};
  Reply reply = run(call, *found.entry);
  if (reply.is(Reply::Kind::too_large)) return Reply::error_view("ERR the reply is too large");
  return reply;
}

}  // namespace redlock::server
