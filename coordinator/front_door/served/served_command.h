// ServedCommand: one command of a client, from when it came until it is answered (rules D4, D7).
//
//            run on a guess        its turn (KeyLines)
//   start ------------------> in line -----------> reading ---.
//                                |                   |  ^     | run again on what was read
//                                |   all is certain  v  |     v
//                                '------------> committing <--'--> finished
//                                   otherwise: run again
//
// A guess may write, since each write's condition is the very record that it was computed from. A
// guess never answers: before any reply each record that the run found is confirmed, by the votes
// on its own conditional write, or by a reading that began after the command came.
//
// Deadlines are no part of a record's bytes. So where a run on a guess went by what is left of one,
// and where a deadline is brought forward, the record is read first.
//
// Callbacks of the group only note what came; on_event() acts on it. Thread safety: none.
#pragma once

#include "base/time.h"
#include "coordinator/front_door/records/key_state.h"
#include "coordinator/front_door/records/known_locks.h"
#include "coordinator/front_door/served/command_body.h"
#include "coordinator/front_door/served/commit.h"
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/door_quotas.h"
#include "coordinator/front_door/served/door_stats.h"
#include "coordinator/front_door/served/key_lines.h"
#include "coordinator/group/group.h"
#include "coordinator/quorum/padding.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "server/node/turn_order.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::coordinator {

inline constexpr unsigned kRunsMax = 16;
// All runs of one command together.
inline constexpr Duration kRunTimeMax = 3 * kScriptTimeMax;

// What a reply promises: locks, or the time that one has left, on which its client relies once it
// has it.
struct Promise {
  Instant send_by = kNever;  // the kernel has the reply by then, or it is never sent (rule D2)
  // Undone where it is not; of what does nothing else.
  std::vector<Claim> created = {};
};

class ServedCommand {
 public:
  // What the commands of a door share. All outlive them.
  struct Parts {
    Group& group;
    KeyLines& lines;
    KnownLocks& known;
    DoorStats& stats;
    DoorQuotas& quotas;
    const DoorTimes& times;
    const RandomBytes& random;
    const Duration& worth;               // see Commit
    const server::Stopwatch& stopwatch;  // empty: nothing is timed
    // Something came for the command of this number.
    std::function<void(KeyLines::Number)> on_event;
    // Its next run waits for run_again(): see is_slow().
    std::function<void(KeyLines::Number)> on_slow;
    // Others come first from now on: this turn has lasted for long enough.
    std::function<bool()> is_turn_over;
    // A key's record is certain, as of an instant (rule D10).
    std::function<void(const KeyState& key, Instant as_of)> on_certain;
    // Others hold the key for certain, and it is not known who.
    std::function<void(const std::string& key, Instant as_of)> on_held;
    // The command brings a change about.
    std::function<void(const WantedChange& change)> on_change;
  };

  ServedCommand(const Parts& parts, KeyLines::Number number, std::unique_ptr<CommandBody> body,
                Now came);
  ~ServedCommand();
  ServedCommand(const ServedCommand&) = delete;
  ServedCommand& operator=(const ServedCommand&) = delete;

  void start(Now now);
  // Of each of these: harmless when finished.
  void on_turn(Now now);
  void on_event(Now now);
  // REQUIRES: on_slow was called for it since the last call.
  void run_again(Now now);
  // What others of the line have learned since the command came: it may be all that it needs.
  void learn(const KeyState& key, Now now);
  void learn_held(const std::string& key, Now now);
  // What only takes a lock ends with its client; all else goes on.
  void client_gone(Now now);
  // Ends it with this error if it only takes a lock, or as soon as that is known.
  void stop_taking(std::string_view why, Now now);
  // It is over with this answer, and leaves nothing behind.
  void end(std::string_view error, Now now);

  bool finished() const { return reply_.has_value(); }
  // REQUIRES of these: finished.
  protocol::Reply take_reply() { return std::move(*reply_); }
  Promise take_promise() { return std::move(promise_); }
  // It failed for limits of the nodes, which waiting does not change.
  bool is_beyond_limits() const { return is_beyond_limits_; }
  // What it did to locks that it did not name by their values. Empty: there is no audit.
  std::vector<server::BrokenLock> take_broken() { return std::move(last_.broken); }
  // The locks that are in its client's name since, with their values.
  std::vector<Claim> taken() const;
  const CommandBody& body() const { return *body_; }
  KeyLines::Number number() const { return number_; }

 private:
  struct Reading {
    OperationId operation;
    std::string key;
  };
  struct Done {
    std::string key;
    ChangeKind kind;
    std::optional<SeenRecord> after;
    Duration ttl;       // that its client asked for; of a release: none
    std::string value;  // the record as it stands; empty after a release
    Instant began;      // before the first byte of the attempt that did it
    Token token;
    bool is_elsewhere = false;  // a release: nodes said that they have another value, or none
  };
  // A change that some nodes made, or may have, and no quorum is known to have made (Commit).
  struct PartlyDone {
    KeyState before;
    Done done;
  };
  enum class Fate : std::uint8_t { done, undone, open, unclear };
  struct Plan {
    std::vector<std::string> to_read = {};
    std::vector<WantedChange> changes = {};
    std::string_view error = {};
  };

  // --- running
  bool run(Now now);
  RunResult run_once(Now now);
  KeyState& state_of(const std::string& key, Now now);
  KeyState* find(const std::string& key);
  void guess(KeyState& state, Now now);
  std::vector<KnownRecord> records(Now now) const;
  void drop_untouched();
  bool hangs_on_deadlines() const;
  bool tells_time_left() const;
  bool stand_in_line(Now now);
  bool has_turn_in_line(Now now);
  // Its runs have taken long, or the next may: others come first. Without a stopwatch none does.
  bool is_slow() const;
  void wait(Now now);
  void end_wait(Now now);

  // --- deciding
  void work(Now now);
  void run_and_decide(Now now);
  Now behind_run(Now now) const;
  std::vector<std::string> forget_outdated(Now now);
  void decide(Now now);
  Plan plan(Now now);
  void drop_unwanted(Now now);
  void plan_key(const TouchedKey& touched, bool hangs, Now now, Plan& plan);
  bool is_certain_enough(const TouchedKey& touched, const KeyState& state, bool hangs) const;
  void refuse_change(const KeyState& state, ChangeKind kind, Now now, Plan& plan);
  bool is_done_already(const TouchedKey& touched, KeyState& state, Now now, Plan& plan);
  bool has_its_time(const TouchedKey& touched, const Done& done) const;
  Duration ttl_of(const SeenRecord& after) const;
  void answer_unchanged(Now now);
  bool is_out_of_time(Now now) const;

  // --- asking
  void read(const std::vector<std::string>& keys, Now now);
  void note_reading(const std::string& key, ReadResult result);
  void take_readings(Now now);
  void look_at_partly_done(KeyState& state, Now now);
  static Fate fate_of(const PartlyDone& partly, const KeyState& state);
  Doubt doubt() const { return may_have_changed_ ? Doubt::may_be_done : Doubt::none; }
  void commit(std::vector<WantedChange> changes, Now now);
  void take_commit(Now now);
  void note_what_may_be_done(ChangeKind kind, const CommittedChange& result);
  bool lacks_token() const;
  void take_token(Now now);
  void note_done(Now now);
  void keep_done(Done done, Now now);
  void tell_others(const Done& done);
  void note_released(const Done& done, Now now);
  void note_otherwise(const WantedChange& change, Instant began, Now now);
  void fail_commit(CommitOutcome outcome, Now now);

  // --- for its user: served_command_users.cpp
  bool begin_taking(const std::vector<WantedChange>& changes, Now now);
  void end_taking();
  void count_lock(const Done& done, Now now);
  void describe_broken();

  // --- ending
  void answer_held(const std::string& key, Now now);
  void answer(Now now);
  void finish(protocol::Reply reply);
  void fail(std::string text, Now now);
  void refuse(std::string text, Now now);
  void fail_untold(const KeyState& state, Now now);
  void undo(const std::string& value, const std::string& key, Now now);
  void undo_done(Now now);

  const Parts& parts_;
  const KeyLines::Number number_;
  const std::unique_ptr<CommandBody> body_;
  const Now came_;
  RunResult last_;
  Now ran_at_;
  unsigned runs_ = 0;
  Duration ran_{};        // all its runs together
  Duration last_took_{};  // run()
  std::vector<KeyState> keys_;
  std::vector<Reading> readings_;                         // under way
  std::vector<std::pair<std::string, ReadResult>> read_;  // told, not looked at yet
  std::optional<Commit> commit_;
  std::vector<Done> done_;               // by commits of earlier runs
  std::vector<PartlyDone> partly_done_;  // by them; it is not known what came of it
  std::vector<Answer> last_answers_;     // for people
  bool may_have_changed_ = false;        // what was there before, by any of its commits
  bool is_beyond_limits_ = false;
  bool asked_for_token_ = false;        // of what it has done
  std::string_view takes_nothing_as_;   // its client has gone, say; empty: it takes
  std::size_t taking_ = 0;              // locks that count as its user's meanwhile
  bool waits_to_run_ = false;           // see on_slow
  std::optional<Instant> waits_since_;  // for its turn, or to run
  Duration waited_{};
  std::optional<protocol::Reply> reply_;
  Promise promise_;
};

}  // namespace redlock::coordinator
