// Node: one lock node, whole but for sockets, files and clocks.
//
// Time comes in as an argument, replies go out as values or into the sessions' output; so tests and
// the simulator run the very object that ships. The shell (session_server.h) does, in a loop:
//
//   node.look_ahead().expect_first_of(received);   // of several clients; optional
//   node.receive(session, bytes, now);             // for what a connection brought
//   node.do_due_work(now);                         // when next_work() says so: expiry, scripts
//   node.sessions().for_each_touched(…);           // once per turn: write output, close
//   node.begin_ledger_write(now);                  // once per turn: what is to be made durable
//   node.end_ledger_write(written, now);           // when it is
//
// begin_run() comes once, before the first begin_ledger_write(). Whatever ends a turn of the node's
// own ends it by finish_turn(), in one order.
//
// Parts. Grants alone changes locks. When a command, or a script, has ended, Coverage tells the
// ledger what it leaves behind before its reply exists (R4); where that takes the disk, the reply
// waits (R8). Scripts and Transactions run what clients send by EVAL and EXEC, TurnOrder says whose
// turn it is, Door who is let in.
//
// Thread safety: none, by design: a lock is a point of order.
#pragma once

#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "protocol/session/access_control.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"
#include "server/grants/coverage.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/group/membership.h"
#include "server/node/command_runner.h"
#include "server/node/command_table.h"
#include "server/node/door.h"
#include "server/node/look_ahead.h"
#include "server/node/pause.h"
#include "server/node/process_facts.h"
#include "server/node/script_watch.h"
#include "server/node/scripts.h"
#include "server/node/transactions.h"
#include "server/node/turn_order.h"
#include "server/node/walks.h"
#include "server/notify/keyspace_events.h"
#include "server/notify/pubsub.h"
#include "server/notify/waiters.h"
#include "server/notify/watches.h"
#include "server/observe/audit.h"
#include "server/observe/client_log.h"
#include "server/observe/observers.h"
#include "server/observe/recent_rates.h"
#include "server/observe/stats.h"
#include "server/recovery/ledger_keeper.h"
#include "server/recovery/node_start.h"
#include "server/settings/setting_table.h"
#include "server/settings/settings.h"
#include "server/users/accounts.h"
#include "server/users/judge.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

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

class Node final : public protocol::Service, private CommandRunner {
 public:
  // What it needs from outside; all outlive the node.
  struct Environment {
    ProcessInspector inspect;
    LogSink& log;
    ScriptWatch* script_watch = nullptr;   // nullptr: scripts may run for ever
    LatestDeadlinePage* ledger = nullptr;  // nullptr: nothing outlives the node
    void (*sleep)(Duration) = nullptr;     // DEBUG SLEEP; nullptr: the time of a test stands
    Stopwatch stopwatch = nullptr;         // empty: nothing is timed
    Elsewhere* elsewhere = nullptr;        // of a front door: who executes run_elsewhere's commands
    // "this node's max-ttl …": why a TTL is refused where max-ttl is no setting of its own.
    const std::string* ttl_bound = nullptr;
    bool runs_known_scripts_natively = true;  // false: in Lua, for tests that compare the two
    UserFile* user_file = nullptr;            // aclfile; nullptr: there is none
    void (*system_random)(std::span<unsigned char>) =
        nullptr;  // ACL GENPASS; nullptr: it is refused
    // Where refusals are noted; nullptr: in the node's own.
    protocol::AccessLog* access_log = nullptr;
    AcceptTls accept_tls = {};      // CONFIG SET of tls-…; empty: no port speaks it
    LogSink* audit_file = nullptr;  // where `audit` names one
  };

  // CONFIG SET changes the settings in place; they outlive the node.
  Node(Families commands, Settings& settings, NodeStart start, Environment environment);

  // --- the shell's side: clients, turns, the ledger's disk

  // A new client. One that is refused (protected mode, maxclients) is told so and is closing.
  protocol::Session& open_session(protocol::Peer peer, Now now) {
    return door_.open(std::move(peer), now.monotonic);
  }
  void note_certificate(protocol::Session& session, std::string_view name, Now now) {
    door_.note_certificate(session, name, now.monotonic);
  }
  // What it listens to, watches and waits for goes with it: each takes a microsecond.
  void close_session(protocol::Session::Id id);
  std::size_t wishes_of(const protocol::Session& session) const;
  // Of a session that ends, so many of them at most; how many there were. 0: nothing is left, or
  // watched keys alone, which go together with it.
  std::size_t forget_some(protocol::Session& session, std::size_t at_most);
  // Whether a request of the session waits for the node's own disk or time, and not for another
  // client. It is as good as executed: what came behind it, such as its release, must be executed
  // too, also when the client is gone by then. So such a session is not closed before.
  bool has_unfinished_request(const protocol::Session& session) const;
  void receive(protocol::Session& session, std::string_view bytes, Now now);
  // The shell has taken a session's output, and so much has not gone out yet. One that was held
  // back and has room again goes on in its next turn.
  void note_unsent(protocol::Session& session, std::size_t bytes);
  const LookAhead& look_ahead() const { return look_ahead_; }
  // The reply that Elsewhere promised by a Kind::later. REQUIRES: nobody answered it yet.
  void answer(protocol::Session& session, const protocol::Reply& reply, Now now);
  // A command of the session's own that stood between its MULTI and EXEC, where the EXEC is
  // executed elsewhere. REQUIRES: it was queued.
  protocol::Reply run_queued(protocol::Session& session, protocol::Request request, Now now);
  // A request that was let pass, and has waited since: whether its user may still have it done.
  protocol::Refusal refuse_late(protocol::Session& session, protocol::Request request, Now now);

  // Work that no request brings: expiry, a slice of a suspended script, the next turn of a session
  // that gave way, idle clients.
  std::optional<Instant> next_work() const;
  // Returns the deadline of the lock that was given back last, if any was: the shell reads the
  // clock anew and tells stats().reclaim_lag.
  std::optional<Instant> do_due_work(Now now);

  // Before it, a request that may touch a lock or a setting is postponed: a run is durable before
  // it does anything that the next one would have to know (rule R9). What was postponed runs now.
  void begin_run(Now now);
  // The durable part of the ledger: what is to be written, one record at a time, and how that
  // ended. Before begin_run() there is nothing to write, as until then the start writes itself.
  // Replies that wait for a write go out at its end (rules R8, F1). While a script is suspended
  // they wait for the script's end, as only the script may change a lock meanwhile.
  std::optional<DurableRecord> begin_ledger_write(Now now);
  void end_ledger_write(const Status& written, Now now);

  // Set once SHUTDOWN was accepted; nothing executes from then on.
  const std::optional<StopRequest>& stop_request() const { return stop_; }
  void stop(StopRequest request) { stop_ = request; }

  // --- the commands' side

  protocol::Reply execute(protocol::Session& session, protocol::Request request, Now now) override;

  Grants& grants() { return grants_; }
  const Grants& grants() const { return grants_; }
  LockLookup& locks() { return grants_.locks(); }
  const LockLookup& locks() const { return grants_.locks(); }
  LockBreaks& breaks() { return breaks_; }
  Audit& audit() { return audit_; }
  const Audit& audit() const { return audit_; }
  // For the audit: of a script's call, who runs the script; of one who has gone and was not kept,
  // his number.
  Audit::Who who_of(const Call& call);
  Audit::Who who_of(protocol::Session::Id client);
  // He is about to go, and what he has sent goes on: it is still his, until he is forgotten.
  void keep_who(protocol::Session::Id client) { gone_.emplace(client, who_of(client)); }
  void forget_who(protocol::Session::Id client) {
    if (!gone_.empty()) gone_.erase(client);
  }
  Breaker breaker_of(const Call& call, std::string_view key);
  Coverage& coverage() { return coverage_; }
  Membership& membership() { return membership_; }
  const Membership& membership() const { return membership_; }
  const LedgerKeeper& ledger() const { return ledger_; }
  const NodeStart& start() const { return start_; }

  // A keyspace event, told by the command that brought it about, once the key is as it is to be:
  // notify(kGenericEvent, "del", key).
  void notify(EventFlag kind, std::string_view event, std::string_view key) {
    events_.tell(kind, event, key, grants_.clock().latest());
  }
  KeyspaceEvents& events() { return events_; }
  PubSub& pubsub() { return pubsub_; }
  const PubSub& pubsub() const { return pubsub_; }
  Waiters& waiters() { return waiters_; }
  const Waiters& waiters() const { return waiters_; }
  Watches& watches() { return watches_; }

  protocol::Sessions& sessions() { return sessions_; }
  const protocol::Sessions& sessions() const { return sessions_; }
  protocol::AccessControl& access() { return access_; }
  const protocol::AccessControl& access() const { return access_; }
  Accounts& accounts() { return accounts_; }
  Judge& judge() { return judge_; }
  // The users of the configuration (user, aclfile). Called once, before there are sessions.
  Status load_users();
  Door& door() { return door_; }
  TurnOrder& turns() { return turns_; }
  Pause& pause() { return pause_; }
  Walks& walks() { return walks_; }
  // What the session asked to be told of: as a new connection's, nothing (RESET).
  void drop_subscriptions(protocol::Session& session);

  Scripts& scripts() { return scripts_; }
  // EVAL and EVALSHA: the script's reply, or Kind::later when it was suspended.
  protocol::Reply run_script(Call& call, const lua::Script& script,
                             std::span<const std::string_view> keys,
                             std::span<const std::string_view> arguments);
  // EXEC: the replies of what the session has queued, or Kind::later when it goes on later.
  protocol::Reply execute_transaction(Call& call);
  // SCRIPT KILL.
  protocol::Reply kill_script();
  bool has_suspended() const { return suspended_.has_value(); }
  // For a command that is served while a script or an EXEC is suspended: its time stands still
  // (rule C4).
  Instant instant_to_look_at(Instant now) const {
    return suspended_ ? suspended_->now.monotonic : now;
  }

  Settings& settings() { return settings_; }
  const Settings& settings() const { return settings_; }
  const std::string* ttl_bound() const { return environment_.ttl_bound; }
  Elsewhere* elsewhere() const { return environment_.elsewhere; }
  const AcceptTls& accept_tls() const { return environment_.accept_tls; }
  // CONFIG SET changed something that is also kept elsewhere.
  void apply_settings();
  CommandTable& commands() { return commands_; }
  const CommandTable& commands() const { return commands_; }
  Observers& observers() { return observers_; }
  Stats& stats() { return stats_; }
  const Stats& stats() const { return stats_; }
  void forget_stats();
  // Commands and bytes a second.
  RecentRates::Counts recent_rates(Instant now) const {
    return rates_.per_second(now, counts_so_far());
  }
  std::uint64_t used_memory() const {
    return locks().bytes() + scripts_.engine().memory_bytes() + waiters_.bytes() + pubsub_.bytes() +
           watches_.bytes() + grants_.release_marks().bytes();
  }
  std::uint64_t peak_memory() const { return std::max(peak_memory_, used_memory()); }
  // What clients bring about goes through here, so that they cannot flood the log.
  ClientLog& client_log() { return client_log_; }
  Random& random() { return random_; }  // for RANDOMKEY; nothing of safety is drawn from it
  ProcessFacts inspect_process() const { return environment_.inspect(); }
  // Bytes that nobody can guess. False: nobody here has any.
  bool fill_with_secrets(std::span<unsigned char> bytes) const {
    if (environment_.system_random == nullptr) return false;
    environment_.system_random(bytes);
    return true;
  }
  // Holds everybody up.
  void sleep(Duration length) const {
    if (environment_.sleep != nullptr) environment_.sleep(length);
  }

 private:
  // A script, or an EXEC between two of its commands, that overran its time: others are answered
  // -BUSY until it ends.
  struct Suspended {
    protocol::Session::Id caller;
    Now now;  // stays the same in it (rule C4)
    Instant began;
    std::optional<Observers::Kept> observed;
  };

  // --- one command

  void expect(std::span<const protocol::Request> requests) override {
    look_ahead_.expect(requests);
  }
  protocol::Reply run(protocol::Session& session, protocol::Request request, Now now,
                      CommandTable::Entry& entry, Origin origin) override;
  Call call_of(protocol::Session& session, protocol::Request request, Now now,
               const Command& command, Origin origin) {
    return {{session, sessions_, access_, kRedisVersion, request, now},
            *this,
            command,
            origin == Origin::script,
            origin == Origin::transaction};
  }
  void note_takers(const Call& call);
  protocol::Reply run_observed(Call& call);
  protocol::Reply run_timed(Call& call);
  // A known script without Lua is as short as a GET, which is not timed. Of these one in so many
  // is, and counts for all of them: a reading of the clock is a twentieth of such a script.
  static constexpr unsigned kTimedOneIn = 16;
  protocol::Reply run_timed_if_in_lua(Call& call);
  void note_lua_begins() override {
    if (times_lua_ && !lua_began_) {
      lua_began_ = observers_.read_beginning(grants_.clock().latest(), stats_.commands_processed);
    }
  }
  void note_time_of(Call& call, const protocol::Reply& reply, Instant began, unsigned calls);
  // reply: of the command, nullptr if it is to come. A monitor's own line stands behind it.
  void show_to_monitors(const Call& call, protocol::Reply* reply);
  Refusal refuse(protocol::Session& session, const CommandTable::Entry& entry,
                 protocol::Request request, Instant now);
  protocol::Reply refuse_unknown(protocol::Session& session, const CommandTable::Entry* container,
                                 protocol::Request request, Now now);
  // entry: nullptr for a command that is not known.
  protocol::Reply refused(protocol::Session& session, const CommandTable::Entry* entry,
                          protocol::Request request, Now now, protocol::Reply refusal);
  std::optional<protocol::Reply> queue_or_pause(protocol::Session& session,
                                                const CommandTable::Entry& entry,
                                                protocol::Request request, Now now);
  bool may_take_long(const protocol::Session& session, const protocol::CommandSpec& spec,
                     protocol::Request request);
  bool is_above_maxmemory() const override {
    return settings_.maxmemory > 0 && used_memory() > settings_.maxmemory;
  }

  // --- what is answered later, and the end of a turn

  void resume_suspended(Now now);
  void finish_script(protocol::Reply reply);
  void finish_suspended(protocol::Session::Id caller, protocol::Reply reply, Now now);
  void suspend_transaction(protocol::Session::Id caller, Now now);
  void finish_turn(Now now);
  void finish_ledger_write(Now now);
  void retry_postponed(Now now);
  void deliver_late_replies();
  void deliver_wakes(Now now);
  void tell_wake(protocol::Session& session, Waiters::Wake wake, Now now);
  void tell_more_listeners(Now now);
  void tell_late_refusals(Now now);
  // What a command or a script did to keys that others wait for or watch; by: who sent it.
  // Waiters look at the keys that were given up when the turn ends.
  void note_keys(protocol::Session::Id by) {
    if (!locks().notes().any_wanted()) return;
    if (locks().notes().has_taken()) waiters_.note_taken(by);
    watches_.look_at_changed();
  }
  RecentRates::Counts counts_so_far() const {
    return {stats_.commands_processed, stats_.bytes_in, stats_.bytes_out};
  }

  Settings& settings_;
  const NodeStart start_;
  Environment environment_;
  ClientLog client_log_{environment_.log};
  CommandTable commands_;
  protocol::AccessControl access_{commands_.specs()};
  protocol::Sessions sessions_;
  Judge judge_{access_.rights(),
               environment_.access_log != nullptr ? *environment_.access_log : access_.log(),
               sessions_};
  Stats stats_;
  LedgerKeeper ledger_;
  Grants grants_;
  Audit audit_;
  LockBreaks breaks_{settings_, grants_.locks(), audit_};
  Coverage coverage_;
  Membership membership_;
  Waiters waiters_{grants_.locks(), settings_.wake_next_after};
  Watches watches_{grants_.locks()};
  PubSub pubsub_;
  KeyspaceEvents events_;
  Accounts accounts_{{access_, sessions_, pubsub_, environment_.user_file}};
  Door door_;
  TurnOrder turns_{environment_.stopwatch};
  Pause pause_;
  Walks walks_;
  LookAhead look_ahead_{commands_, grants_.locks()};
  Scripts scripts_;
  Transactions transactions_;
  std::optional<Suspended> suspended_;
  std::deque<LateReply> late_replies_;  // of what was suspended
  Observers observers_;
  Random random_;
  RecentRates rates_;
  protocol::Session::Id script_client_ = 0;  // who ran the last script
  std::unordered_map<protocol::Session::Id, Audit::KeptWho> gone_;
  unsigned untimed_scripts_ = 0;      // since one was timed
  bool times_lua_ = false;            // in run_timed_if_in_lua()
  std::optional<Instant> lua_began_;  // its
  std::uint64_t peak_memory_ = 0;     // as turns left it
  bool has_begun_ = false;
  std::optional<StopRequest> stop_;
};

}  // namespace redlock::server
