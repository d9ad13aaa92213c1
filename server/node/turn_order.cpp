#include "server/node/turn_order.h"

#include <utility>

namespace redlock::server {

using protocol::Session;

// Of all together: many connections, or a new one for each request, get around waits_behind_until,
// and not around this.
void TurnOrder::note_work(Duration took, Now now) {
  if (now.monotonic != worked_at_) worked_ = {};
  worked_at_ = now.monotonic;
  worked_ += took;
  if (worked_ >= kLongWork) has_worked_long_ = is_crowded_ = true;
}

void TurnOrder::wait_for_turn(const Session& session) {
  waiting_.push_back(session.id());
  is_crowded_ = true;
}

// A client that sends such work again and again, each time once it was answered, would have it done
// at once each time, and many such clients one after the other.
void TurnOrder::wait_behind_long_work(Session& session, Instant now) {
  wait_behind(session, has_stopwatch() ? stopwatch_() : now);
  has_worked_long_ = is_crowded_ = true;
}

// None in a turn in which one who sent something new worked for long: between any two of them the
// sockets are looked at. Not twice in a row, or those who wait could wait for ever.
void TurnOrder::let_one_go_on(protocol::Sessions& sessions, protocol::Service& service, Now now) {
  has_skipped_ = std::exchange(has_worked_long_, false) && !has_skipped_;
  if (!has_skipped_) let_next_go_on(sessions, service, now);
  is_crowded_ = has_waiting();
}

void TurnOrder::let_next_go_on(protocol::Sessions& sessions, protocol::Service& service, Now now) {
  while (has_waiting()) {
    Session* session = sessions.find(waiting_.front());
    waiting_.pop_front();
    if (session == nullptr || !session->has_given_way()) continue;
    words_ = 0;  // one request at least
    is_in_turn_ = true;
    session->go_on(now, service);
    is_in_turn_ = false;
    has_worked_long_ = false;
    return;
  }
}

}  // namespace redlock::server
