// TurnOrder: whose turn it is, when clients want more than the node can do at once.
//
// What is quick is executed as it comes. What may take long is executed in its session's turn, of
// which there is one between two looks at the sockets; so each client waits for the others' pieces,
// and never for all that one of them wants. A session gives way
//
//   after kTurnMax of what it sent at once;
//   before a command that may take long, if others wait for a turn or the node has just worked
//   long; for a while behind its own long work, so that asking again and again gains nothing.
//
// Pure: the stopwatch is handed in. Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/observe/stopwatch.h"

#include <cstddef>
#include <deque>

namespace redlock::server {

class TurnOrder {
 public:
  // What one session may execute before the others are asked what they want: a tenth of what
  // another client is to wait at most.
  static constexpr Duration kTurnMax = 5ms;
  // Whoever took so much of others' time at once waits behind them for a while.
  static constexpr Duration kLongWork = 1ms;
  static constexpr Duration kWaitsBehind = 100ms;
  // Words of requests between two looks at the clock, as a look takes as long as a part of one. A
  // command that takes more than microseconds is timed anyway (Observers).
  static constexpr std::size_t kWordsBetweenLooks = 64;

  // The stopwatch outlives the order. An empty one times nothing, so nobody gives way for time.
  explicit TurnOrder(const Stopwatch& stopwatch) : stopwatch_(stopwatch) {}
  TurnOrder(const TurnOrder&) = delete;
  TurnOrder& operator=(const TurnOrder&) = delete;

  // --- how long a session has executed

  // What a session sent at once is executed from now on.
  void begin() { words_ = 0; }
  void count(std::size_t words) { words_ += words; }
  // Whether so many words were executed that the clock is to be looked at.
  bool is_due_to_look() const { return words_ >= kWordsBetweenLooks; }
  void look_before_next() { words_ = kWordsBetweenLooks; }
  // A look at the clock: whether the time of the session that executes now is over, which counts
  // from the instant of what it was told to execute.
  bool is_over(Now now) {
    words_ = 0;
    return stopwatch_ != nullptr && stopwatch_() - now.monotonic >= kTurnMax;
  }
  // The same for a transaction, whose time is over at `end`.
  bool is_past(Instant end) {
    words_ = 0;
    return stopwatch_() >= end;
  }
  bool has_stopwatch() const { return stopwatch_ != nullptr; }

  // --- who waits

  // What may take long waits for its session's turn; else it may be executed at once, as nobody
  // waits for a turn and little of it was executed since.
  bool others_come_first() const { return is_crowded_ && !is_in_turn_; }
  // So much was executed of what may take long, of what came at this instant: as timed,
  // or as it is known.
  void note_work(Duration took, Now now);
  // Behind those who wait for theirs.
  void give_way(protocol::Session& session) {
    session.give_way();
    wait_for_turn(session);
  }
  void wait_for_turn(const protocol::Session& session);
  // What the session sends next waits for its turn, for kWaitsBehind from `end` of its work on,
  // which may take longer than the wait.
  static void wait_behind(protocol::Session& session, Instant end) {
    session.waits_behind_until = later(end, kWaitsBehind);
  }
  // The same behind work that ends now, and the others are heard before anybody's next turn. now:
  // for where nothing is timed.
  void wait_behind_long_work(protocol::Session& session, Instant now);
  // The reply to a request that is to come again in its session's turn, as it has not begun. Of
  // both REQUIRES: the request is neither a script's nor EXEC's.
  protocol::Reply behind_others(protocol::Session& session) {
    give_way(session);
    return protocol::Reply::postponed();
  }
  // The same for one that has done a piece of its work.
  protocol::Reply in_next_turn(protocol::Session& session, Instant now) {
    wait_behind_long_work(session, now);
    return behind_others(session);
  }

  bool has_waiting() const { return !waiting_.empty(); }
  // One turn at most: that of who waits longest, if anybody does.
  void let_one_go_on(protocol::Sessions& sessions, protocol::Service& service, Now now);

 private:
  void let_next_go_on(protocol::Sessions& sessions, protocol::Service& service, Now now);

  const Stopwatch& stopwatch_;
  std::deque<protocol::Session::Id> waiting_;  // in the order of their next turns
  std::size_t words_ = 0;                      // executed since the clock was last looked at
  bool has_worked_long_ = false;               // since sockets were last looked at
  bool is_crowded_ = false;                    // that, or somebody waits for a turn
  bool has_skipped_ = false;                   // a turn of those who wait, for that
  bool is_in_turn_ = false;                    // one of those who waited goes on
  Duration worked_{};                          // on what may take long, of what came at worked_at_
  Instant worked_at_{};
};

}  // namespace redlock::server
