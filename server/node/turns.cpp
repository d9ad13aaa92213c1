// The node's turns: what it does when no request has come, what is answered later, and in which
// order a turn ends.
#include "server/node/node.h"

#include <array>
#include <utility>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

// Steps of giving back locks in one turn: some 50 µs of work between two looks
// at the sockets (rule C5).
constexpr std::size_t kReclaimBudget = 256;

}  // namespace

std::optional<Instant> Node::next_work() const {
  const bool has_more = pubsub_.has_unfinished() || waiters_.has_more();
  if (turns_.has_waiting() || has_more) return Instant{};  // at once
  if (suspended_) return Instant{};  // and expiry stands still, as the script's time does
  std::optional<Instant> next = grants_.next_reclaim();
  if (has_begun_) next = earlier(next, coverage_.next_lower());
  next = earlier(next, client_log_.next_work());
  next = earlier(next, audit_.next_work());
  next = earlier(next, waiters_.next_deadline());
  next = earlier(next, door_.next_work());
  return earlier(next, pause_.next_work());
}

std::optional<Instant> Node::do_due_work(Now now) {
  grants_.observe_clock(now.monotonic);
  LockTable::Reclaimed reclaimed;
  if (suspended_) {
    resume_suspended(now);
  } else {
    door_.close_idle(now.monotonic, [this](const Session& session) {
      const bool is_told = session.is_listening() || session.is_in(Session::kMonitoring);
      return session.is_waiting() || waiters_.count_of(session.id()) > 0 || is_told;
    });
    door_.close_late_newcomers(now.monotonic);
    if (has_begun_) coverage_.lower(now.monotonic);
    reclaimed = grants_.reclaim(now.monotonic, kReclaimBudget);
    events_.tell_expired();
    client_log_.tell_left_out(now.monotonic);
    audit_.tell_left_out(now);
    waiters_.go_on(now.monotonic);
    watches_.look_at_changed();
    // What sessions execute comes last: a script among it may be suspended, and time stands still.
    tell_late_refusals(now);
  }
  tell_more_listeners(now);
  turns_.let_one_go_on(sessions_, *this, now);
  if (suspended_) {
    coverage_.cover_before_yield(suspended_->now.monotonic);
  } else {
    watches_.look_at_changed();
  }
  finish_turn(now);
  if (reclaimed.count == 0) return std::nullopt;
  return reclaimed.last_deadline;
}

void Node::begin_run(Now now) {
  has_begun_ = true;
  retry_postponed(now);
  finish_turn(now);
}

std::optional<DurableRecord> Node::begin_ledger_write(Now now) {
  if (!has_begun_) return std::nullopt;
  return coverage_.begin_write(now.monotonic);
}

void Node::end_ledger_write(const Status& written, Now now) {
  coverage_.note_write_end(written);
  finish_turn(now);
}

// From here, and not from inside the command that brought it about: a session that goes on may
// execute anything.
void Node::finish_turn(Now now) {
  if (coverage_.has_ended_write()) finish_ledger_write(now);
  if (pause_.take_end(now.monotonic)) retry_postponed(now);
  if (!late_replies_.empty()) deliver_late_replies();
  if (!suspended_) waiters_.look(now.monotonic);
  if (waiters_.has_wakes()) deliver_wakes(now);
}

// Not while a script is suspended, which may have looked at a lock that is taken back.
void Node::finish_ledger_write(Now now) {
  if (suspended_) return;
  const std::vector<LateReply> settled = coverage_.finish_write(now);
  watches_.look_at_changed();
  for (const LateReply& late : settled) {
    if (Session* session = sessions_.find(late.session)) session->resume(late.reply, now, *this);
  }
  retry_postponed(now);
}

void Node::retry_postponed(Now now) {
  for (const auto& [id, session] : sessions_.all()) {
    if (!session->is_postponed()) continue;
    session->is_paused = false;
    session->retry(now, *this);
  }
}

// Several where one look at the sessions resumed several that each ended a script.
void Node::deliver_late_replies() {
  for (; !late_replies_.empty(); late_replies_.pop_front()) {
    LateReply& late = late_replies_.front();
    Session* const session = sessions_.find(late.session);
    if (session == nullptr) continue;
    session->answer_and_give_way(late.reply);  // the next script that it sent may overrun, too
    TurnOrder::wait_behind(*session, grants_.clock().latest());
    turns_.wait_for_turn(*session);
  }
}

// The end of a lock is told to those alone who may read its key by then.
void Node::tell_wake(Session& session, Waiters::Wake wake, Now now) {
  const std::array<std::string_view, 3> request = {"lock.wait", wake.key, "0"};
  Refusal no = refuse_late(session, request, now);
  if (wake.form == Waiters::Form::blocking) {
    session.resume(no ? Reply(std::move(no)) : Reply::integer(wake.is_free ? 1 : 0), now, *this);
  } else if (!no) {
    push_wake(session, std::move(wake.key), wake.is_free);
  }
}

// A loop: a session that goes on may free keys that others wait for.
void Node::deliver_wakes(Now now) {
  while (waiters_.has_wakes()) {
    for (Waiters::Wake& wake : waiters_.take_wakes()) {
      Session* session = sessions_.find(wake.session);
      if (session != nullptr) tell_wake(*session, std::move(wake), now);
    }
    deliver_late_replies();
    if (!suspended_) waiters_.look(now.monotonic);
  }
}

void Node::tell_more_listeners(Now now) {
  if (!pubsub_.has_unfinished()) return;
  std::vector<PubSub::Whole> whole;
  pubsub_.go_on(whole);
  for (const auto [publisher, receivers] : whole) {
    Session* session = sessions_.find(publisher);
    if (session == nullptr) continue;
    session->resume(Reply::integer(static_cast<std::int64_t>(receivers)), now, *this);
  }
}

void Node::tell_late_refusals(Now now) {
  while (const std::optional<LateReply> late = door_.take_late_refusal(now.monotonic)) {
    if (Session* session = sessions_.find(late->session)) session->resume(late->reply, now, *this);
  }
}

// Of a transaction it may be the second script, which began later than its `now`.
Reply Node::run_script(Call& call, const lua::Script& script,
                       std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments) {
  forget_who(std::exchange(script_client_, call.session.id()));
  Reply reply = scripts_.run(call.session, script, keys, arguments, call.now);
  if (!reply.is(Reply::Kind::later)) return reply;
  const Instant began = call.in_transaction ? grants_.clock().latest() : call.instant();
  suspended_ = Suspended{call.session.id(), call.now, began, std::nullopt};
  client_log_.log(
      ClientLog::Kind::script_overrun, LogLevel::warning,
      "a script runs longer than busy-reply-threshold: other clients are answered -BUSY; SCRIPT "
      "KILL ends it if it has not written yet",
      began);
  return reply;
}

Reply Node::execute_transaction(Call& call) {
  const Instant pause_at = later(call.instant(), settings_.busy_reply_threshold);
  Reply reply = transactions_.execute(call.session, call.now, pause_at);
  if (reply.is(Reply::Kind::later)) suspend_transaction(call.session.id(), call.now);
  return reply;
}

// Unless a script among its commands is what was suspended.
void Node::suspend_transaction(Session::Id caller, Now now) {
  if (!suspended_) suspended_ = Suspended{caller, now, now.monotonic, std::nullopt};
}

Reply Node::kill_script() {
  if (!suspended_) return Reply::error_view("NOTBUSY No scripts in execution right now.");
  if (Refusal no = scripts_.refuse_kill()) return no;
  finish_script(scripts_.stop(lua::kKilledByUser));
  return Reply::ok();
}

// The next piece of a transaction is as long as a session's turn. What observes the EXEC sees it
// end with the last.
void Node::resume_suspended(Now now) {
  if (scripts_.is_suspended()) {
    auto reply = scripts_.resume(now, suspended_->began);
    if (reply) finish_script(std::move(*reply));
    return;
  }
  Suspended before = std::move(*std::exchange(suspended_, std::nullopt));
  Reply reply = transactions_.go_on(now.monotonic + TurnOrder::kTurnMax);
  const bool goes_on = reply.is(Reply::Kind::later) && !suspended_;
  if (!suspended_ && !goes_on && before.observed) {
    observers_.note_time(std::move(*before.observed));
  }
  if (goes_on) {
    suspended_ = std::move(before);
    return;
  }
  finish_suspended(before.caller, std::move(reply), before.now);
}

void Node::finish_script(Reply reply) {
  Suspended before = std::move(*std::exchange(suspended_, std::nullopt));
  if (before.observed) observers_.note_time(std::move(*before.observed));
  if (transactions_.is_under_way()) {
    reply = transactions_.go_on_after(std::move(reply));
    if (reply.is(Reply::Kind::later)) suspend_transaction(before.caller, before.now);
  }
  finish_suspended(before.caller, std::move(reply), before.now);
}

// The reply is delivered at the end of the turn, not from inside the command that brought it about.
void Node::finish_suspended(Session::Id caller, Reply reply, Now now) {
  if (suspended_) return;  // the next script of the same transaction, or its next piece
  grants_.count_imposed_ttls();
  note_keys(caller);
  reply = coverage_.record_deadlines(caller, std::move(reply), now);
  if (!reply.is(Reply::Kind::later)) late_replies_.push_back({caller, std::move(reply)});
}

}  // namespace redlock::server
