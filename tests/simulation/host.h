// Host: a machine with a clock and a disk, and the lock node on it: the shipped Node, its recovery
// decision, and the bytes of its ledger and snapshot. The host does what the node's shells do
// (node_run.h, session_server.h, state_folder.h): reads the clock, carries bytes, writes.
#pragma once

#include "base/random.h"
#include "server/node/node.h"
#include "server/recovery/recovery.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/calm.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/line_watch.h"
#include "tests/simulation/network.h"
#include "tests/simulation/obligations.h"
#include "tests/simulation/referee.h"
#include "tests/simulation/roster_judge.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/skewed_clock.h"
#include "tests/simulation/story.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

// What all that live in a world share.
struct Surroundings {
  const Scenario& scenario;
  Agenda& agenda;
  Story& story;
  Referee& referee;
  Network& network;
  RosterJudge& rosters;
};

class Host final : public NodeEnd, private server::LatestDeadlinePage {
 public:
  Host(const Surroundings& world, unsigned number);
  ~Host() override;

  void start();

  // Faults. Each does nothing where it would make no sense, such as the death of a dead node.
  void kill(Duration down);
  void lose_power(Duration down);
  void lose_disk(Duration down);
  void replace(Duration down);  // by a node with another id
  void stop_cleanly(Duration down);
  void pause(TrueTime until);
  void suspend(TrueTime until);
  void slow_disk(Duration by, TrueTime until);
  void break_disk(TrueTime until);
  void fail_disk_calls(unsigned one_in, TrueTime until);
  void set_max_ttl(Duration max_ttl);  // from the next start on
  void set_wall(Duration by) { wall_shift_ += by; }
  void jump(Duration by) { clock_.jump(by); }
  void race(std::int64_t faster_millionths);
  // All of them end; a node that is down starts.
  void heal(const Calm& calm);

  bool is_fenced() const;
  bool is_serving() const;
  Token counter() const;  // the largest that it tells
  // Looks for what the node should not have any more.
  std::string leftovers();
  // Whether somebody was to be called meanwhile, of those who wait for locks.
  void look_at_lines();
  const LineWatch& lines() const { return lines_; }
  // The values of the locks that it has.
  std::vector<std::string> values() const;
  // As a roster names it, but for the epoch; nullopt: it is down.
  std::optional<RosterMember> as_member() const;
  // What it knows of its group; nullptr: it is down.
  const server::RosterRecord* roster() const;
  // Whether its disk tells one: what is not in force yet may still be lost.
  bool has_roster_on_disk() const;
  SkewedClock& clock() { return clock_; }
  // Faults that were done, not only planned.
  std::uint64_t faults() const { return faults_; }

  // NodeEnd
  bool is_machine_on() const override { return is_on_; }
  std::uint64_t process() const override { return process_ ? process_->number : 0; }
  void on_connection(ConnectionId connection) override;
  void on_bytes(ConnectionId connection, const std::string& bytes) override;
  void on_end(ConnectionId connection) override;

 private:
  struct Silent final : LogSink {
    void log(LogLevel, std::string_view) override {}
  };
  struct Client : protocol::Transport {
    protocol::Session* session = nullptr;
    ConnectionId connection = {};
    bool is_there =
        true;  // false: the session stays for what it owes (Node::has_unfinished_request)
    std::string unread = {};  // a request that has come in part
  };
  struct Process {
    std::uint64_t number;
    server::Settings settings;
    Silent log;
    server::Decision decision;
    server::BootIdentity boot;
    DiskPlan plan{false};
    std::optional<server::LedgerWriter> writer;
    std::optional<server::Node> node;
    std::map<ConnectionId, Client> clients;
    bool has_begun = false;  // what it found is durable
    bool writes = false;     // the disk carries out a plan
    bool stops = false;
  };
  using Steps = std::shared_ptr<std::vector<DiskPlan::Step>>;

  Status write_latest_deadline(Instant latest_deadline) override;

  bool is_spare() const;
  Duration first_max_ttl() const;
  std::string new_ledger_id() const;
  Now read_clocks() const;
  server::Settings settings() const;
  server::BootIdentity boot_identity() const;
  bool is_disk_broken() const { return agenda_.now() < disk_broken_until_; }
  bool fails_disk_call();
  DiskPlan new_plan();
  bool withholds_replies() const;
  void start_after(Duration wait);
  void die(Obligations::End end = Obligations::End::crash);
  void restore(server::Node& node, const server::Decision& decision);
  void begin_run();
  void finish();
  std::string snapshot(Instant copied_at);
  void carry_out(std::vector<DiskPlan::Step> steps, std::function<void()> done);
  void carry_out_next(const Steps& steps, std::size_t index, std::uint64_t process,
                      const std::function<void()>& done);
  Duration disk_time(bool is_sync);
  void replace_disk();
  void heal_disk();

  // One turn of the node's loop.
  void turn(const std::function<void(server::Node&, Now)>& what);
  void end_turn();
  void note_releases(Client& client, const std::string& bytes);
  void flush();
  void flush(protocol::Session& session);
  void look_after_ledger();
  void go_on();
  void take_time();
  void next_turn();
  void work_off_inbox();
  void wake_machine();
  void tell(std::string_view what);

  const Surroundings world_;
  Agenda& agenda_;
  const unsigned number_;
  unsigned replaced_ = 0;
  std::string node_id_;
  Random random_;
  Disk disk_;
  SkewedClock clock_;
  Obligations obligations_;
  LineWatch lines_;
  Duration wall_shift_{};
  Duration max_ttl_;
  Duration largest_max_ttl_;  // of all that it was ever set to
  std::optional<TrueTime> suspended_since_;
  bool is_on_ = true;
  std::uint64_t boots_ = 1;
  std::uint64_t processes_ = 0;
  std::unique_ptr<Process> process_;
  // Ended ones stay until the run is over: what the agenda still holds may look at them.
  std::vector<std::unique_ptr<Process>> ended_;
  std::uint64_t start_number_ = 0;  // of the start that is to come; an older one is void
  bool waits_for_start_ = false;
  TrueTime paused_until_{};
  bool ends_turn_ = false;  // what a turn wrote goes out when the turn is over
  bool is_in_turn_ = false;
  Duration turn_max_ = world_.scenario.turn_max;
  Duration sync_max_ = world_.scenario.disk_sync_max;
  std::vector<std::function<void()>> inbox_;  // what came while it was paused
  TrueTime disk_broken_until_{};
  TrueTime disk_slow_until_{};
  Duration disk_slow_by_{};
  TrueTime disk_faulty_until_{};
  unsigned disk_faulty_one_in_ = 1;
  std::uint64_t faults_ = 0;
  Alarm alarm_;
};

}  // namespace redlock::simulation
