// Node: one lock node, whole but for sockets, files and clocks.
//
// Time comes in as an argument, replies go out as values or into the sessions' output; so tests and
// the simulator run the very object that ships. The shell (node_server.h) does, in a loop:
//
//   node.receive(session, bytes, now);        // for what a connection brought
//   node.do_due_work(now);                    // when next_work() says so: expiry, scripts
//   node.sessions().for_each_touched(…);      // once per turn: write output, close
//   node.begin_ledger_write(now);             // the same: what is to be made durable
//
// Safety. Locks are granted by Grants alone. When a command, or a script, has ended, Coverage tells
// the ledger what it leaves behind before its reply exists (R4); where that takes the disk, the
// reply waits (R8).
//
// Thread safety: none, by design: a lock is a point of order.
#pragma once

#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "lua/engine/engine.h"
#include "protocol/session/access_control.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/grants/coverage.h"
#include "server/grants/grants.h"
#include "server/node/command_table.h"
#include "server/node/key_walks.h"
#include "server/node/newcomers.h"
#include "server/node/pause.h"
#include "server/node/process_facts.h"
#include "server/node/script_watch.h"
#include "server/notify/keyspace_events.h"
#include "server/notify/pubsub.h"
#include "server/notify/waiters.h"
#include "server/notify/watches.h"
#include "server/observe/client_log.h"
#include "server/observe/observers.h"
#include "server/observe/recent_rates.h"
#include "server/observe/stats.h"
#include "server/recovery/ledger_keeper.h"
#include "server/recovery/node_start.h"
#include "server/recovery/snapshot.h"
#include "server/settings/settings.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

// The Redis version that INFO and HELLO announce. Below 8.4, from which on clients would send DELEX
// and SET IFEQ instead of their EVAL scripts.
inline constexpr std::string_view kRedisVersion = "7.2.4";

// What others are told while a script overruns its time, to the letter as Redis says it.
inline constexpr std::string_view kBusyRunningScript =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";

// SHUTDOWN was asked for.
struct StopRequest {
  bool save = true;  // NOSAVE: leave no snapshot
};

class Node final : public protocol::Service, private lua::ScriptHost {
 public:
  // What it needs from outside; all outlive the node.
  struct World {
    ProcessInspector inspect;
    LogSink& log;
    ScriptWatch* script_watch = nullptr;   // nullptr: scripts may run for ever
    LatestDeadlinePage* ledger = nullptr;  // nullptr: nothing outlives the node
    void (*sleep)(Duration) = nullptr;     // DEBUG SLEEP; nullptr: the time of a test stands
    Stopwatch stopwatch = nullptr;         // empty: nothing is timed
  };

  // CONFIG SET changes the settings in place; they outlive the node.
  Node(Families commands, Settings& settings, NodeStart start, World world);

  // A new client. One that is refused (protected mode, maxclients) is told so and is closing.
  protocol::Session& open_session(protocol::Peer peer, Now now);
  // Forgets all that it asked to be told of, waits for and watches: each takes a microsecond.
  void close_session(protocol::Session::Id id);
  std::size_t wishes_of(const protocol::Session& session) const;
  // AUTH and HELLO have looked at a password; RESET asks for it anew. Who gave many wrong ones is
  // told so late: Kind::later. refused_before: the session's, before they looked.
  protocol::Reply settle_password(Call& call, std::uint32_t refused_before, protocol::Reply reply);
  // What the session asked to be told of: as a new connection's, nothing (RESET).
  void forget_wishes(protocol::Session& session);
  // Whether a request of the session waits for the node's own disk, and not for another client. It
  // is as good as executed: what came behind it, such as its release, must be executed too, also
  // when the client is gone by then. So such a session is not closed before.
  bool owes_work(const protocol::Session& session) const;
  void receive(protocol::Session& session, std::string_view bytes, Now now);
  protocol::Reply execute(protocol::Session& session, protocol::Request request, Now now) override;
  // What one session may execute before the others are asked what they want: a tenth of what
  // another client is to wait at most.
  static constexpr Duration kTurnMax = 5ms;
  // Whoever took so much of others' time at once waits behind them for a while.
  static constexpr Duration kLongWork = 1ms;
  static constexpr Duration kQuickScript = 250us;
  static constexpr Duration kWaitsBehind = 100ms;
  // Words of requests between two looks at the clock, as a look takes as long as a part of one. A
  // command that takes more than microseconds is timed anyway (Observers).
  static constexpr std::size_t kWordsBetweenLooks = 64;
  // Have memory fetch the locks of what will be executed next: of a session's requests; of what was
  // received from several clients, the first request of each. More than so many are not looked at.
  static constexpr std::size_t kExpectedMax = LockTable::kExpectedMax;
  void expect(std::span<const protocol::Request> requests) override;
  void expect_first_of(std::span<const std::string_view> received);

  // The shell has taken a session's output, and so much has not gone out yet. One that was held
  // back and has room again goes on in its next turn.
  void note_unsent(protocol::Session& session, std::size_t bytes);

  // Work that no request brings: expiry, a slice of a suspended script, the next turn of a session
  // that gave way, idle clients.
  std::optional<Instant> next_work() const;
  // Returns the deadline of the lock that was given back last, if any was: the shell reads the
  // clock anew and tells note_reclaimed().
  std::optional<Instant> do_due_work(Now now);
  void note_reclaimed(Duration lag) { stats_.reclaim_lag = lag; }

  // Before it, a request that may touch a lock or a setting is postponed: a run is durable before
  // it does anything that the next one would have to know (rule R9). What was postponed runs now.
  void begin_run(Now now);

  // The durable part of the ledger: what is to be written, one record at a time, and how that
  // ended. Nothing before begin_run(), as the start writes until then. Replies that waited go out
  // at the end (rules R8, F1); while a script is suspended they wait for its end, as nobody but the
  // script may change a lock meanwhile.
  std::optional<DurableRecord> begin_ledger_write(Now now);
  void end_ledger_write(const Status& written, Now now);

  // A lock of the last run (rule R9). REQUIRES: before begin_run; deadline as it is to be.
  // False when there is no memory for it.
  bool restore(const SavedLock& saved) { return grants_.restore(saved); }
  // The same for the mark of a release (rule Q3).
  void restore(const SavedMark& saved) { grants_.restore(saved); }

  // Hands over the locks that a clean stop keeps, as of the instant of the copy, and the marks.
  void save(Instant copied_at, const SavedLockVisitor& keep, const SavedMarkVisitor& mark) const {
    grants_.save(copied_at, keep, mark);
  }

  // Set once SHUTDOWN was accepted; nothing executes from then on.
  const std::optional<StopRequest>& stop_request() const { return stop_; }
  void stop(StopRequest request) { stop_ = request; }

  protocol::Sessions& sessions() { return sessions_; }
  Grants& grants() { return grants_; }
  const Grants& grants() const { return grants_; }
  LockLookup& locks() { return grants_.locks(); }
  const LockLookup& locks() const { return grants_.locks(); }
  Coverage& coverage() { return coverage_; }
  Waiters& waiters() { return waiters_; }
  const Waiters& waiters() const { return waiters_; }
  Watches& watches() { return watches_; }
  KeyWalks& key_walks() { return key_walks_; }
  Pause& pause() { return pause_; }
  Observers& observers() { return observers_; }
  KeyspaceEvents& events() { return events_; }
  PubSub& pubsub() { return pubsub_; }
  const PubSub& pubsub() const { return pubsub_; }
  Settings& settings() { return settings_; }
  const Settings& settings() const { return settings_; }
  const NodeStart& start() const { return start_; }
  std::uint64_t peak_memory() const { return std::max(peak_memory_, used_memory()); }
  // Commands and bytes a second.
  RecentRates::Counts recent_rates(Instant now) const {
    return rates_.per_second(now, counts_so_far());
  }
  void forget_stats();
  Stats& stats() { return stats_; }
  const Stats& stats() const { return stats_; }
  CommandTable& commands() { return commands_; }
  lua::Engine& engine() { return engine_; }
  const lua::Engine& engine() const { return engine_; }
  Random& random() { return random_; }  // for RANDOMKEY; nothing of safety is drawn from it
  protocol::AccessControl& access() { return access_; }
  ProcessFacts inspect_process() const { return world_.inspect(); }
  // Holds everybody up.
  void sleep(Duration length) const {
    if (world_.sleep != nullptr) world_.sleep(length);
  }
  // What clients bring about goes through here, so that they cannot flood the log.
  ClientLog& client_log() { return client_log_; }

  const LedgerKeeper& ledger() const { return ledger_; }

  // A keyspace event (notify-keyspace-events), told by the command that brought it about, once the
  // key is as it is to be: notify(kGenericEvent, "del", key). The key may be a view of anything but
  // the lock.
  void notify(EventFlag kind, std::string_view event, std::string_view key) {
    events_.tell(kind, event, key, grants_.clock().latest());
  }

  // The script of this body. The time to compile it is watched as that of a script.
  lua::Engine::Loaded load_script(std::string_view body,
                                  lua::Engine::Keep keep = lua::Engine::Keep::recent);
  // EVAL and EVALSHA: the script's reply, or Kind::later when it was suspended.
  protocol::Reply run_script(Call& call, const lua::Script& script,
                             std::span<const std::string_view> keys,
                             std::span<const std::string_view> arguments);
  // The reply to a request that is to come again in the session's next turn: it has not begun, or
  // has done a piece of its work. REQUIRES: it is neither a script's nor EXEC's.
  protocol::Reply in_next_turn(protocol::Session& session);
  // What may take long is executed in its session's turn, of which there is one between two looks
  // at the sockets; or at once, if nobody waits for a turn and little of it was executed since.
  bool others_come_first() const { return is_crowded_ && !is_in_turn_; }
  // The reply to such a request: it comes again in that turn. REQUIRES: as of in_next_turn().
  protocol::Reply behind_others(protocol::Session& session);
  // So much of it was executed, of what came at this instant: what is timed, or as it is known.
  void note_work(Duration took, Now now);
  // EXEC: the replies of what the session has queued, or Kind::later when a script among it was
  // suspended.
  protocol::Reply execute_transaction(Call& call);
  // For a command that is served while a script or an EXEC is suspended: its time stands still
  // (rule C4).
  Instant instant_to_look_at(Instant now) const { return suspended_ ? script_now_.monotonic : now; }
  // SCRIPT KILL.
  protocol::Reply kill_script();
  bool has_suspended() const { return suspended_.has_value(); }

  // CONFIG SET changed something that is also kept elsewhere.
  void apply_settings();
  std::uint64_t used_memory() const {
    return locks().bytes() + engine_.memory_bytes() + waiters_.bytes() + pubsub_.bytes() +
           watches_.bytes() + grants_.release_marks().bytes();
  }

 private:
  class ExpectedKeys;
  // A script, or an EXEC between two of its commands, that overran its time: others are answered
  // -BUSY until it ends.
  struct Suspended {
    protocol::Session::Id caller;
    Instant began;
    std::optional<Observers::Kept> observed;
  };
  // EXEC under way: here between its commands, and while a script among them is suspended.
  struct RunningTransaction {
    protocol::Session::Id caller;
    std::unique_ptr<protocol::Transaction> queue;
    std::size_t next;  // of the queue
    protocol::Reply replies;
    Now now;           // stays the same (rule C4)
    Instant pause_at;  // from when on others are to be heard
    bool has_overrun = false;
  };

  bool is_turn_over(Now now);
  bool may_take_long(protocol::Session& session, const protocol::CommandSpec& spec,
                     protocol::Request request);
  void have_it_wait_behind(protocol::Session& session);
  void give_turn(protocol::Session& session);
  void wait_for_turn(const protocol::Session& session);
  void let_one_go_on(Now now);
  void let_next_go_on(Now now);
  void tell_more_listeners(Now now);
  protocol::Reply call(protocol::Request request) override;   // redis.call
  void log(LogLevel level, std::string_view text) override {  // redis.log
    client_log_.log_of_script(level, text, script_now_.monotonic);
  }
  protocol::Reply run(Call& call, CommandTable::Entry& entry);
  protocol::Reply refuse_unknown(protocol::Session& session, const CommandTable::Entry* container,
                                 protocol::Request request, Now now);
  protocol::Reply refused(protocol::Session& session, const protocol::CommandSpec* spec,
                          protocol::Request request, Now now, protocol::Reply refusal);
  std::optional<protocol::Reply> refuse(const protocol::Session& session,
                                        const protocol::CommandSpec& spec,
                                        protocol::Request request) const;
  bool is_above_maxmemory() const;
  bool lacks_memory_for(const protocol::CommandSpec& spec) const;
  std::optional<protocol::Reply> divert(protocol::Session& session,
                                        const protocol::CommandSpec& spec,
                                        protocol::Request request, Now now);
  void look_at_pause(Now now);
  void tell_of_cut(const protocol::Session& session);
  RecentRates::Counts counts_so_far() const {
    return {stats_.commands_processed, stats_.bytes_in, stats_.bytes_out};
  }
  protocol::Reply run_observed(Call& call);
  protocol::Reply run_timed(Call& call);
  void show(const Call& call, protocol::Reply* reply);
  protocol::Reply refuse_in_transaction(protocol::Session& session,
                                        const protocol::CommandSpec* spec,
                                        protocol::Request request, Now now,
                                        protocol::Reply refusal);
  protocol::Reply queue(protocol::Session& session, const protocol::CommandSpec& spec,
                        protocol::Request request, Now now);
  protocol::Reply execute_queued(protocol::Session& session, protocol::Request request);
  protocol::Reply continue_transaction(protocol::Session& session);
  protocol::Reply continue_transaction_after(protocol::Reply script_reply);
  // What a command, a script or a turn of expiry did to keys that others wait for or watch.
  void look_at_notes(Instant now) {
    if (!locks().notes().any_wanted()) return;
    waiters_.look_at_given_up(now);
    watches_.look_at_changed();
  }
  void finish_ledger_write(Now now);
  void retry_postponed(Now now);
  bool is_told_as_held(const lua::Script& script) const;
  void resume_suspended(Now now);
  void finish_script();
  void finish_suspended(protocol::Session::Id caller, protocol::Reply reply);
  void resume_transaction(Now now);
  bool is_transaction_due_to_pause();
  protocol::Reply pause_transaction(protocol::Session& session);
  void deliver_late_replies();
  void deliver_wakes(Now now);
  void close_idle_sessions(Instant now);
  void note_newcomer(protocol::Session& session, Instant now);
  void close_late_newcomers(Instant now);
  void close_newcomer(std::string_view why, Instant now);
  void tell_late_refusals(Now now);

  Settings& settings_;
  const NodeStart start_;
  World world_;
  ClientLog client_log_{world_.log};
  CommandTable commands_;
  protocol::AccessControl access_;
  protocol::Sessions sessions_;
  protocol::Sessions script_sessions_;  // holds script_session_, which no client list shows
  protocol::Session& script_session_;   // in whose name scripts call
  LedgerKeeper ledger_;
  Stats stats_;
  Grants grants_;
  Coverage coverage_;
  Waiters waiters_{grants_.locks()};
  Watches watches_{grants_.locks()};
  KeyWalks key_walks_;
  Pause pause_;
  Newcomers newcomers_;
  std::deque<std::pair<Instant, LateReply>> late_refusals_;  // of passwords; the first is due first
  PubSub pubsub_;
  KeyspaceEvents events_;
  lua::Engine engine_;
  Observers observers_;
  Random random_;
  RecentRates rates_;
  std::uint64_t peak_memory_ = 0;        // as turns left it
  Now script_now_{};                     // stays the same inside a script, or an EXEC (rule C4)
  const lua::Script* script_ = nullptr;  // the last that began
  const lua::Script* ran_ = nullptr;     // and ended, in the command under way
  bool script_lacks_memory_ = false;     // from its beginning
  bool script_wrote_ = false;  // then it cannot be killed: half of what it does would stay
  std::optional<Suspended> suspended_;
  std::optional<RunningTransaction> transaction_;
  std::deque<LateReply> late_replies_;
  std::deque<protocol::Session::Id> gave_way_;  // in the order of their next turns
  std::size_t work_ = 0;                        // since the clock was last read: words executed
  bool has_worked_long_ = false;                // since sockets were last looked at
  bool is_crowded_ = false;                     // that, or somebody waits for a turn
  bool has_skipped_ = false;                    // a turn of those who gave way, for that
  bool is_in_turn_ = false;                     // one of those who gave way goes on
  Duration worked_{};                           // on what is timed, of what came at worked_at_
  Instant worked_at_{};
  static constexpr Duration kIdleCheckInterval = 1s;
  Instant idle_check_{};
  bool has_begun_ = false;
  std::optional<StopRequest> stop_;
};

}  // namespace redlock::server
