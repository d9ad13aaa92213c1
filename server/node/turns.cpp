// The node's turns: what it does when no request has come, and whose turn it is when many have.
#include "server/node/node.h"

#include <algorithm>
#include <utility>

namespace redlock::server {

using protocol::Reply;
using protocol::Session;

namespace {

// Steps of giving back locks in one turn: some 50 µs of work between two looks at the sockets (rule
// C5).
constexpr std::size_t kReclaimBudget = 256;

}  // namespace

// Of the session that executes now: its time counts from the instant of what it was told to
// execute.
bool Node::is_turn_over(Now now) {
  work_ = 0;
  return world_.stopwatch != nullptr && world_.stopwatch() - now.monotonic >= kTurnMax;
}

// A client that sends such work again and again, each time once it was answered, would have it done
// at once each time, and many such clients one after the other. So what the client sends next waits
// for its turn, with one such turn between two looks at the sockets. The wait counts from the end
// of the work, which may take longer than the wait.
void Node::have_it_wait_behind(Session& session) {
  const Instant end = world_.stopwatch != nullptr ? world_.stopwatch() : grants_.clock().latest();
  session.waits_behind_until = later(end, kWaitsBehind);
  has_worked_long_ = is_crowded_ = true;
}

// Behind those who wait for theirs.
void Node::give_turn(Session& session) {
  session.give_way();
  wait_for_turn(session);
}

void Node::wait_for_turn(const Session& session) {
  gave_way_.push_back(session.id());
  is_crowded_ = true;
}

// A script may take any time, and so may its body to be compiled, but for one that was quick so
// far. Decided before the command begins, as a monitor sees scripts when they begin.
bool Node::may_take_long(Session& session, const protocol::CommandSpec& spec,
                         protocol::Request request) {
  if (!spec.has(protocol::kTimed)) return false;
  if (spec.name == "eval") return !engine_.is_quick(request[1]);
  if (spec.name == "evalsha") {
    const lua::Script* const script = engine_.find(request[1]);
    return script != nullptr && !script->is_quick();
  }
  if (spec.name != "exec") return true;
  return session.transaction() != nullptr && session.transaction()->size() > kWordsBetweenLooks;
}

// Of all together: many connections, or a new one for each request, get around waits_behind_until,
// and not around this.
void Node::note_work(Duration took, Now now) {
  if (now.monotonic != worked_at_) worked_ = {};
  worked_at_ = now.monotonic;
  worked_ += took;
  if (worked_ >= kLongWork) has_worked_long_ = is_crowded_ = true;
}

Reply Node::behind_others(Session& session) {
  give_turn(session);
  return Reply::postponed();
}

Reply Node::in_next_turn(Session& session) {
  have_it_wait_behind(session);
  return behind_others(session);
}

// One a turn, and none in a turn in which one who sent something new worked for long: between any
// two of them the sockets are looked at. Not twice in a row, or those who wait could wait for ever.
void Node::let_one_go_on(Now now) {
  has_skipped_ = std::exchange(has_worked_long_, false) && !has_skipped_;
  if (!has_skipped_) let_next_go_on(now);
  is_crowded_ = !gave_way_.empty();
}

void Node::let_next_go_on(Now now) {
  while (!gave_way_.empty()) {
    Session* session = sessions_.find(gave_way_.front());
    gave_way_.pop_front();
    if (session == nullptr || !session->has_given_way()) continue;
    work_ = 0;  // one request at least
    is_in_turn_ = true;
    session->go_on(now, *this);
    is_in_turn_ = false;
    has_worked_long_ = false;
    return;
  }
}

void Node::retry_postponed(Now now) {
  for (const auto& [id, session] : sessions_.all()) {
    if (!session->is_postponed()) continue;
    session->is_paused = false;
    session->retry(now, *this);
  }
  deliver_late_replies();
  deliver_wakes(now);
}

// Several where one look at the sessions resumed several that each ended a script.
void Node::deliver_late_replies() {
  for (; !late_replies_.empty(); late_replies_.pop_front()) {
    LateReply& late = late_replies_.front();
    Session* const session = sessions_.find(late.session);
    if (session == nullptr) continue;
    session->answer_and_give_way(late.reply);  // the next script that it sent may overrun, too
    session->waits_behind_until = later(grants_.clock().latest(), kWaitsBehind);
    wait_for_turn(*session);
  }
}

// From a loop of its own, not from inside the command that freed the key: a session that goes on
// may free others.
void Node::deliver_wakes(Now now) {
  while (waiters_.has_wakes()) {
    for (Waiters::Wake& wake : waiters_.take_wakes()) {
      Session* session = sessions_.find(wake.session);
      if (session == nullptr) continue;
      if (wake.form == Waiters::Form::blocking) {
        session->resume(Reply::integer(wake.is_free ? 1 : 0), now, *this);
      } else {
        push_wake(*session, std::move(wake.key), wake.is_free);
      }
    }
    deliver_late_replies();
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

std::optional<Instant> Node::next_work() const {
  const bool has_more = pubsub_.has_unfinished() || waiters_.has_more();
  if (!gave_way_.empty() || has_more) return Instant{};  // at once
  if (suspended_) return Instant{};  // and expiry stands still, as the script's time does
  std::optional<Instant> next = grants_.next_reclaim();
  const auto sooner = [&next](Instant other) { next = next ? std::min(*next, other) : other; };
  if (const auto lower = coverage_.next_lower(); lower && has_begun_) sooner(*lower);
  if (const auto telling = client_log_.next_work()) sooner(*telling);
  if (const auto wait = waiters_.next_deadline()) sooner(*wait);
  if (const auto newcomer = newcomers_.next_deadline()) sooner(*newcomer);
  if (!late_refusals_.empty()) sooner(late_refusals_.front().first);
  if (pause_.is_on() && pause_.ends_at() != kNever) sooner(pause_.ends_at());
  if (settings_.timeout > 0ns && sessions_.count() > 0) {
    sooner(idle_check_ + kIdleCheckInterval);
  }
  return next;
}

std::optional<Instant> Node::do_due_work(Now now) {
  grants_.observe_clock(now.monotonic);
  if (suspended_) {
    resume_suspended(now);
    tell_more_listeners(now);
    let_one_go_on(now);
    if (suspended_) {
      coverage_.cover_before_yield(script_now_.monotonic);
    } else {
      look_at_notes(now.monotonic);
    }
    finish_ledger_write(now);
    deliver_late_replies();
    deliver_wakes(now);
    return std::nullopt;
  }
  close_idle_sessions(now.monotonic);
  close_late_newcomers(now.monotonic);
  if (has_begun_) coverage_.lower(now.monotonic);
  const LockTable::Reclaimed reclaimed = grants_.reclaim(now.monotonic, kReclaimBudget);
  events_.tell_expired();
  client_log_.tell_left_out(now.monotonic);
  waiters_.go_on(now.monotonic);
  look_at_notes(now.monotonic);
  // What sessions execute comes last: a script among it may be suspended, and time stands still.
  look_at_pause(now);
  tell_late_refusals(now);
  tell_more_listeners(now);
  let_one_go_on(now);
  deliver_late_replies();
  deliver_wakes(now);
  if (reclaimed.count == 0) return std::nullopt;
  return reclaimed.last_deadline;
}

}  // namespace redlock::server
