// ServedCommands: all commands under way at a front door, by their numbers and by their sessions.
//
//   commands.begin(session, std::move(body), now);
//   …                                     // events of the group
//   commands.settle(now);                 // acts on what came
//   commands.take_answered(answered);     // in place of what stands there
//   for (auto& one : answered) …
//
// A command may outlive its client (rule D5). Thread safety: none. Invariant: a session has one
// command at most.
#pragma once

#include "coordinator/front_door/served/served_command.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace redlock::coordinator {

class ServedCommands {
 public:
  using SessionId = protocol::Session::Id;

  struct Answered {
    SessionId session;
    protocol::Reply reply;
    Promise promise;
    bool is_beyond_limits = false;  // of the nodes, which waiting does not change
    // For the audit; empty without one.
    std::vector<server::BrokenLock> broken;
    std::vector<Claim> taken;
  };
  // As ServedCommand's; all outlive it.
  struct Parts {
    Group& group;
    KnownLocks& known;
    DoorStats& stats;
    DoorQuotas& quotas;
    const DoorTimes& times;
    const RandomBytes& random;
    const Duration& worth;
    const server::Stopwatch& stopwatch;
    bool is_audited;
    std::function<void(const WantedChange& change)> on_change;
  };
  explicit ServedCommands(Parts parts);
  ServedCommands(const ServedCommands&) = delete;
  ServedCommands& operator=(const ServedCommands&) = delete;

  // is_heard: false where its client has gone, of which the session may still be there.
  // REQUIRES: the session has none under way.
  void begin(SessionId session, std::unique_ptr<CommandBody> body, bool is_heard, Now now);
  bool is_serving(SessionId session) const { return by_session_.contains(session); }
  void client_gone(SessionId session, Now now);
  // Those that only take locks end, also those that begin behind this; all else goes on.
  void stop_taking(std::string_view error, Now now);

  // Before the first settle() of a turn: scripts run again within it for kTurnMax, then in turns of
  // their own.
  void begin_turn();
  void settle(Now now);
  // One of those whose runs take long, or may, runs again. REQUIRES: has_slow().
  void let_slow_one_run(Now now);
  bool has_news() const { return !events_.empty() || !answered_.empty(); }
  bool has_slow() const { return !slow_.empty(); }
  void take_answered(std::vector<Answered>& answered) {
    answered.clear();
    answered.swap(answered_);
  }

  std::size_t count() const { return commands_.size(); }
  std::size_t lines() const { return lines_.lines(); }

 private:
  using Number = KeyLines::Number;
  struct UnderWay {
    template <typename... Parts>
    explicit UnderWay(SessionId of, Parts&&... parts)
        : session(of), command(std::forward<Parts>(parts)...) {}
    SessionId session;
    ServedCommand command;
  };

  ServedCommand* find(Number number);
  void end(Number number);

  KeyLines lines_;
  const bool is_audited_;
  ServedCommand::Parts shared_;
  Now now_{};                          // of the call under way
  Instant turn_began_{};               // by the stopwatch
  std::string_view takes_nothing_as_;  // empty: it does
  Number last_number_ = 0;
  std::unordered_map<Number, UnderWay> commands_;
  std::unordered_map<SessionId, Number> by_session_;
  std::deque<Number> events_;
  std::deque<Number> slow_;  // that are to run again
  std::vector<Answered> answered_;
};

}  // namespace redlock::coordinator
