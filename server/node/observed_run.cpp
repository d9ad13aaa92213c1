// The node's commands as others see them: what is shown to monitors, and timed.
#include "server/node/node.h"

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

}  // namespace

// Scripts are shown before what they call, all others when they are done.
Reply Node::run_observed(Call& call) {
  const bool is_script = call.command.spec.has(protocol::kSkipMonitor);
  if (is_script) show(call, nullptr);
  Reply reply = run_timed(call);
  if (!is_script) show(call, &reply);
  return reply;
}

Reply Node::run_timed(Call& call) {
  if (!observers_.has_stopwatch()) return call.command.run(call);
  const Instant now = call.instant();
  const std::uint64_t nth = stats_.commands_processed;
  const Instant began = observers_.read_beginning(now, nth);
  ran_ = nullptr;
  Reply reply = call.command.run(call);
  const bool goes_on_later = reply.is(Reply::Kind::later) && suspended_;
  const bool comes_again = reply.is(Reply::Kind::postponed);
  if (!goes_on_later && !comes_again) {
    const Instant end = observers_.read_end(now, stats_.commands_processed);
    observers_.note_time(subject_of(call), call.now.wall, end - began);
    note_work(end - began, call.now);
    // Of an EXEC around it the script's end is none: SCRIPT FLUSH may have come behind it.
    const lua::Script* const ran = std::exchange(ran_, nullptr);
    if (ran != nullptr) ran->note_quick(end - began < kQuickScript);
    if (end - began >= kLongWork) have_it_wait_behind(call.session);
    if (end - now >= kTurnMax) work_ = kWordsBetweenLooks;
  } else if (goes_on_later && !suspended_->observed) {  // the script, and not EXEC around it
    suspended_->observed = Observers::keep(subject_of(call), call.now.wall, began);
  }
  return reply;
}

// reply: of the command, nullptr if it is to come. A monitor's own line stands behind it.
void Node::show(const Call& call, Reply* reply) {
  if (observers_.monitors().is_empty() || call.command.spec.has(protocol::kAdmin)) return;
  if (reply != nullptr && reply->is(Reply::Kind::postponed)) return;
  const std::string_view address = call.session.peer().address;
  const std::string_view from = call.from_script ? "lua" : address;
  std::string line = monitor_line(call.now.wall, from, call.command.spec, call.words);
  const bool is_own = call.session.is_in(Session::kMonitoring) && !call.in_transaction;
  observers_.monitors().show(line, is_own ? &call.session : nullptr);
  if (!is_own || reply == nullptr) return;
  Reply both = Reply::sequence();
  both.add(std::move(*reply)).add(Reply::status(std::move(line)));
  *reply = std::move(both);
}

// A session in a mode of its own, or a pause. nullopt: the command is executed all the same.
std::optional<Reply> Node::divert(Session& session, const protocol::CommandSpec& spec,
                                  protocol::Request request, Now now) {
  constexpr std::uint32_t kOfKeys =
      protocol::kWrite | protocol::kReadOnly | protocol::kMayReplicate;
  const protocol::Transaction* queued = session.transaction();
  const bool is_exec = queued != nullptr && spec.name == "exec";
  const std::uint32_t flags = spec.flags | (is_exec ? queued->flags() : 0);
  if (session.is_in(Session::kMonitoring) && (flags & kOfKeys) != 0) {
    Reply refusal = Reply::error_view("ERR Replica can't interact with the keyspace");
    stats_.count_error(refusal.text());
    return refuse_in_transaction(session, &spec, request, now, std::move(refusal));
  }
  if (pause_.holds(flags, now.monotonic)) {
    session.is_paused = true;
    return Reply::postponed();
  }
  if (queued != nullptr && !spec.has(protocol::kNotQueued)) {
    return queue(session, spec, request, now);
  }
  return std::nullopt;
}

// From a turn of its own, not from inside the command that ended it.
void Node::look_at_pause(Now now) {
  if (pause_.take_end(now.monotonic)) retry_postponed(now);
}

}  // namespace redlock::server
