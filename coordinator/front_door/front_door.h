// FrontDoor: one address that looks like one Redis, and takes each lock at a quorum of nodes.
//
// Pure: it knows neither sockets nor clocks. A shell drives it as it drives a node, and two Groups
// beside it, one for locks and one for messages. In each turn of its loop:
//
//   door.receive(session, bytes, now);         // for what each connection brought
//   group.on_bytes(node, bytes, holders_now);  // what nodes answered …
//   door.act(now, holders_now);                // behind both: new questions, and answers
//   …                                          // write what the links have to say, then sessions
//   door.act_behind_output(now, holders_now);  // what takes long; the links have more to say
//   door.do_due_work(now);                     // when next_work() says so
//
// Two clocks: `now` is CLOCK_MONOTONIC, for clients and their patience, as at a node; holders_now
// is CLOCK_BOOTTIME (rule C3), for the group and for all that is promised of locks.
//
// Sessions are those of a lock node of its own, which checks, queues and counts what clients send;
// what is about locks comes here (server::Elsewhere), and becomes a ServedCommand in act(). What it
// promises are the rules D of docs/safety.md.
//
// Thread safety: none.
#pragma once

#include "base/log.h"
#include "coordinator/front_door/messages/message_relay.h"
#include "coordinator/front_door/records/known_locks.h"
#include "coordinator/front_door/records/record.h"
#include "coordinator/front_door/records/scratch_node.h"
#include "coordinator/front_door/records/watched_records.h"
#include "coordinator/front_door/served/bodies.h"
#include "coordinator/front_door/served/door_stats.h"
#include "coordinator/front_door/served/served_commands.h"
#include "coordinator/front_door/served/slow_line.h"
#include "coordinator/front_door/waiting_clients.h"
#include "coordinator/group/group.h"
#include "coordinator/quorum/padding.h"
#include "server/node/node.h"
#include "server/sockets/node_host.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace redlock::coordinator {

class FrontDoor final : private server::Elsewhere, public server::SessionHost {
 public:
  struct Options {
    DoorTimes times = {};
    std::optional<Duration> max_ttl = {};  // of clients; nullopt: what the nodes' leaves
    // Where it listens, who may speak, what clients may leave unread. Its locks' are its own.
    server::Settings settings = {};
  };
  // What it needs from outside; all outlive it.
  struct Environment {
    server::ProcessInspector inspect;
    LogSink& log;
    // For scripts of the scratch node: script_settings() has what it is to go by.
    server::ScriptWatch* script_watch = nullptr;
    server::Stopwatch stopwatch = nullptr;
    RandomBytes random;       // of the system: records are never to be guessed (rule Q6)
    std::uint64_t seed = 0;   // that no client knows
    std::string run_id = {};  // 40 hexadecimal digits, new at each start
    Instant started_at = {};
    server::UserFile* user_file = nullptr;                            // aclfile
    void (*system_random)(std::span<unsigned char> bytes) = nullptr;  // ACL GENPASS
    server::AcceptTls accept_tls = {};                                // of CONFIG SET
    LogSink* audit_file = nullptr;  // where the setting `audit` names one
  };
  // The groups were started, or will be. message_group: over the same nodes, for messages alone;
  // each follows the other to newer rosters. They may be one.
  FrontDoor(Group& group, Group& message_group, Options options, Environment environment);
  ~FrontDoor() override;

  // Asks the nodes what clients want, and answers clients what nodes said. Once a turn.
  void act(Now now, Instant holders_now);
  // Begins what may take long, such as scripts: up to kScriptTimeMax of work. Behind the sessions'
  // output, of which an OK has its time (rule D2).
  void act_behind_output(Now now, Instant holders_now);
  bool has_slow() const { return !slow_.empty() || commands_.has_slow(); }

  // --- SessionHost

  protocol::Session& open_session(protocol::Peer peer, Now now) override;
  void note_certificate(protocol::Session& session, std::string_view name, Now now) override {
    node_.note_certificate(session, name, now);
  }
  void close_session(protocol::Session::Id id) override;
  std::size_t wishes_of(const protocol::Session& session) const override;
  std::size_t forget_some(protocol::Session& session, std::size_t at_most) override;
  bool has_unfinished_request(const protocol::Session& session) const override;
  protocol::Sessions& sessions() override { return node_.sessions(); }
  void receive(protocol::Session& session, std::string_view bytes, Now now) override;
  std::optional<Instant> send_by(const protocol::Session& session) const override;
  void note_sent(protocol::Session& session, std::size_t bytes) override;
  void note_unsent(protocol::Session& session, std::size_t bytes) override;
  std::optional<Instant> next_work() const override;
  void do_due_work(Now now) override;
  // Locks that are being taken are given back, and their clients told; releases go on, at most for
  // the node timeout. Then it is stopped.
  void stop() override;
  bool is_stopped() const override;
  const server::Settings& settings() const override { return settings_; }
  server::ClientLog& client_log() override { return node_.client_log(); }

  // For a ScriptWatch: kScriptTimeMax as both of its bounds.
  const Duration& script_time() const { return scratch_settings_.script_time_limit; }
  const DoorStats& stats() const { return stats_; }
  const MessageRelay& relay() const { return relay_; }
  std::size_t commands_under_way() const { return commands_.count(); }
  std::size_t waiters() const { return waiting_.count(); }
  server::Node& node() { return node_; }
  const server::Node& node() const { return node_; }
  // The least of what the nodes grant, less than what D2 needs; settings().max_ttl.
  Duration max_ttl() const { return settings_.max_ttl; }

 private:
  using Session = protocol::Session;

  protocol::Reply execute(server::Call& call) override;
  protocol::Reply reset(server::Call& call);  // in pieces, as at a node
  protocol::Reply serve(server::Call& call, std::unique_ptr<CommandBody> body);
  // bytes: of what its client sent.
  protocol::Reply serve(server::Call& call, std::unique_ptr<CommandBody> body, std::size_t bytes);
  void begin(NewCommand command);
  protocol::Reply serve_on_scratch(server::Call& call);
  protocol::Reply publish(server::Call& call);
  protocol::Reply serve_transactions(server::Call& call);
  protocol::Reply exec(server::Call& call);
  protocol::Reply watch(server::Call& call);
  void keep(Session& session, std::vector<WatchedRecord> records);
  std::vector<WatchedRecord> take_watched(Session& session);
  protocol::Reply serve_locks(server::Call& call);
  protocol::Reply lock_acquire(server::Call& call);
  protocol::Reply lock_extend(server::Call& call);
  protocol::Reply lock_wait(server::Call& call);
  protocol::Reply lock_status(server::Call& call);
  protocol::Reply info(server::Call& call);
  protocol::Reply forget_figures(server::Call& call);
  std::string door_section(Now now) const;
  std::string locks_section() const;
  std::string nodes_section(Now now) const;
  std::string messages_section() const;
  void refresh_max_ttl();
  // REQUIRES of all: within act(), or act_behind_output().
  void begin_new();
  void run(NewCommand command);
  void refuse(const NewCommand& command, std::string_view error);
  bool is_heard(Session::Id id);
  bool is_turn_over(Instant began) const;
  void end_gone();
  void deliver(ServedCommands::Answered answered);
  void keep_request(Session& session, std::size_t bytes);
  void forget_request(Session& session);
  void tell_waiter(const WaitingClients::News& news);
  protocol::Refusal refuse_waiter(Session& session, const WaitingClients::News& news);
  void turn_away(Session& session, const WaitingClients::News& news, protocol::Refusal no);
  void try_again(Session::Id session, WaitingClients::Told told);
  bool waits_on(const ServedCommands::Answered& answered);
  void audit(const ServedCommands::Answered& answered);
  void answer(Session& session, const protocol::Reply& reply);
  void undo(const std::vector<Claim>& created);
  void note_change(const WantedChange& change);

  Group& group_;
  Group& message_group_;
  const DoorTimes times_;
  const std::optional<Duration> fixed_max_ttl_;
  RandomBytes random_;
  server::Settings settings_;
  server::Settings scratch_settings_;
  std::string ttl_bound_;     // see Node::Environment
  Duration nodes_max_ttl_{};  // the least that a node told
  Duration worth_{};          // how long the longest lock lives at a node
  server::Stopwatch stopwatch_;
  server::Node node_;
  MessageRelay relay_;
  ScratchNode scratch_;
  KnownLocks known_;
  DoorStats stats_;
  DoorQuotas quotas_;
  WatchedRecords watched_;
  ServedCommands commands_;
  std::vector<ServedCommands::Answered> answered_;  // of them, while they are told
  WaitingClients waiting_;
  server::Takers takers_;  // for the audit
  // By session: replies in its output that the kernel is to have by an instant (rule D2).
  std::unordered_map<Session::Id, Promise> promised_;
  // LOCK.ACQUIRE … WAIT: what its session wants.
  struct Wanted {
    std::string key;
    std::string value;
    Duration ttl;
    std::string label;
    bool is_last = false;  // the attempt under way: its answer is told, whatever it is
  };
  std::unordered_map<Session::Id, Wanted> wanted_;
  std::deque<NewCommand> begun_;  // since the last act()
  SlowLine slow_;                 // what may take long
  Instant slow_may_begin_{};      // on the sessions' clock
  std::unordered_set<Session::Id> begun_for_;
  // What requests of sessions take while they are served, as they count it (maxmemory-clients).
  std::unordered_map<Session::Id, std::size_t> kept_;
  std::deque<Session::Id> gone_;  // sessions that were closed since
  Now now_{};                     // of act()
  Now locks_now_{};               // the same on the holders' clock
  bool is_stopping_ = false;
  std::optional<Instant> stop_by_;  // from the first turn of the stop on
};

}  // namespace redlock::coordinator
