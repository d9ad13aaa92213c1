// LockUser: a client process that wants locks, works under them and gives them back: the shipped
// Group over the world's network, and for locks that it keeps the shipped Keeper. It does what the
// client's shells do (client_core.h, guard_keeping.h).
#pragma once

#include "coordinator/group/group.h"
#include "coordinator/group/keeper.h"
#include "tests/simulation/host.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class LockUser final : public ClientEnd {
 public:
  LockUser(const Surroundings& world, unsigned number);
  ~LockUser() override;

  void start();
  // Another process in its place, which knows nothing of what this one did.
  void restart();
  void want(const Event& event);

  // What it holds of a key, and extends, which somebody else is to release; nullopt: nothing.
  std::optional<coordinator::HeldLock> give_away(unsigned key);
  // A new process in its place releases the lock, of which it is told name and value, and ends as
  // soon as that is confirmed. It starts again after `down`.
  void release_for(const std::optional<coordinator::HeldLock>& lock, Duration down);

  // The same of what it holds without extending it, to go on with elsewhere: from here on it does
  // not rely on it itself.
  std::optional<coordinator::HeldLock> hand_away(unsigned key);
  // Another process of it, that was told name and value, extends the lock, relies on it from then
  // on, and releases it after event.length.
  void go_on_with(const std::optional<coordinator::HeldLock>& lock, const Event& event);

  // Faults.
  void pause(TrueTime until);
  void suspend(TrueTime until);
  void kill(Duration down);
  void jump(Duration by);
  void race(std::int64_t faster_millionths);
  void heal();

  // The group's roster. member_of: what the node tells of itself; nullopt: it does not answer.
  using MemberOf = std::function<std::optional<RosterMember>(unsigned node)>;
  void change_group(const Event& event, MemberOf member_of);
  void relist(std::vector<unsigned> list, Duration down);
  // That it goes by; of epoch 0: none.
  const Roster& roster() const;
  // When it came to other nodes.
  TrueTime changed_nodes_at() const { return changed_nodes_at_; }

  // It wants nothing more, and lets go of what it has.
  void stop_wanting();
  // Asks for a key that nobody has, keeps it beyond its TTL and releases it. One that took long to
  // get, for the sake of a node's disk, may be lost before its first extension: then it is tried
  // again. done: whether it went well, or why not.
  using Probed = std::function<void(bool went_well, const std::string& why)>;
  void probe(unsigned key, Duration ttl, Duration wait, Probed done, unsigned tries = 3);
  // As an operator asks for the admission of whoever lost its ledger (rule F6).
  void admit(const coordinator::OperatorsFloor& by_operator,
             std::function<void(coordinator::AdmissionOutcome)> done);

  std::uint64_t faults() const { return faults_; }
  std::uint64_t acquired() const { return acquired_; }
  std::uint64_t extended() const { return extended_; }

  // ClientEnd
  void on_connected(ConnectionId connection) override;
  void on_bytes(ConnectionId connection, const std::string& bytes) override;
  void on_end(ConnectionId connection, std::string_view reason) override;

 private:
  using Group = coordinator::Group;

  // A lock that it relies on.
  struct Held {
    Event wanted;
    coordinator::HeldLock lock;
    Referee::HoldId hold;
    TrueTime release_at;
    std::optional<coordinator::Keeper> keeper;
    coordinator::OperationId extension = coordinator::kNobody;
    TrueTime extension_began = {};
    std::function<void()> extension_ended = {};
    std::uint64_t looks = 0;  // what was scheduled before the last one is void
    Duration slept = {};      // of this machine, when it began to count on it
    Probed probed = {};       // none: it is no probe
  };
  using HeldId = std::uint64_t;

  Instant now() const { return clock_.at(agenda_.now()); }
  coordinator::ClockReading clocks() const { return {now(), now() - slept_}; }
  bool is_paused() const { return agenda_.now() < paused_until_; }
  std::string new_value();
  bool is_held(const std::string& value) const;
  coordinator::AcquireRequest request(const Event& event) const;

  // Runs it now, or when the process goes on.
  void whenever(std::function<void()> what);
  void turn();
  void collect();
  Duration attempt_time(const Event& event) const;
  void follow_node_changes();
  void hang_up(std::size_t link);
  void change_group(const Roster& wanted, unsigned tries);
  std::optional<Roster> wanted_roster(const Event& event, const MemberOf& member_of) const;
  std::optional<unsigned> next_stranger(unsigned node) const;
  void on_alarm();
  void go_on();

  void on_acquired(const Event& event, const coordinator::AcquireResult& result,
                   Probed probed = {});
  void rely_on(const Event& event, const coordinator::HeldLock& lock, TrueTime asked,
               Probed probed = {});
  // What is to end within so much time of this client, pauses apart (rule Q1). Call the result
  // when it has.
  std::function<void()> must_end_within(Duration time, std::string_view what);
  void check_awake(const Held& held);
  void look_after(HeldId id);
  void extend(HeldId id);
  void on_extended(HeldId id, const coordinator::ExtendResult& result);
  void let_go(HeldId id, bool releases);
  void die();
  std::string name() const;
  void tell(std::string_view what);

  const Surroundings world_;
  Agenda& agenda_;
  const unsigned number_;
  Random random_;
  SkewedClock clock_;
  std::unique_ptr<Group> group_;                          // none while it is down
  std::vector<std::unique_ptr<Group>> ended_;             // until the run is over
  std::vector<unsigned> list_;                            // the addresses that it is given
  std::vector<unsigned> addresses_;                       // by link
  std::vector<std::optional<ConnectionId>> connections_;  // by link
  std::uint64_t node_changes_ = 0;                        // that the links have followed
  std::uint64_t epoch_ = 0;                               // of the group's roster, then
  TrueTime changed_nodes_at_{};
  TrueTime adopted_at_{};                  // its roster
  std::map<std::string, TrueTime> asked_;  // when each value was made
  std::map<HeldId, Held> held_;
  std::vector<coordinator::OperationId> wanting_;
  bool wants_nothing_ = false;  // any more
  HeldId last_held_ = 0;
  std::uint64_t life_ = 0;
  TrueTime paused_until_{};
  TrueTime went_on_at_{};  // after its last pause
  std::optional<TrueTime> suspended_since_;
  Duration slept_{};
  std::uint64_t last_watch_ = 0;
  std::set<std::uint64_t> watched_;             // what has to end
  std::vector<std::function<void()>> inbox_;    // what came while it was paused
  std::vector<std::function<void()>> overdue_;  // what it would have done of itself meanwhile
  std::uint64_t faults_ = 0;
  std::uint64_t acquired_ = 0;
  std::uint64_t extended_ = 0;
  Alarm alarm_;
};

}  // namespace redlock::simulation
