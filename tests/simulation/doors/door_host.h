// DoorHost: a machine with a front door on it: the shipped Group and FrontDoor, between the world's
// network and another one to its users. The host does what the door's shells do
// (serving/door_run.h, server/sockets): it reads the two clocks, carries bytes, and hands its
// kernel no answer whose time has passed (rule D2).
//
// A turn may take its time: what the nodes are asked and what users are answered goes out at its
// end. Some of what is handed to the kernel may not be taken, as a user does not read.
#pragma once

#include "coordinator/front_door/front_door.h"
#include "tests/simulation/host.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class DoorHost final : public ClientEnd {
 public:
  // number: from 1, among the doors. The world's network knows it behind clients and users; `front`
  // is the one to its users.
  DoorHost(const Surroundings& world, Network& front, unsigned number);
  ~DoorHost() override;

  void start();
  NodeEnd& front_end() { return front_end_; }

  // Faults.
  void pause(TrueTime until);
  void suspend(TrueTime until);
  void kill(Duration down);
  // All of them end.
  void heal();
  std::uint64_t faults() const { return faults_; }
  // It asks the nodes for something, also for a client that has gone (rule D5).
  bool is_busy() const;
  std::size_t commands() const;
  // It gives back what it took for nobody.
  bool is_releasing() const { return process_ && process_->group->releases_under_way() > 0; }

  // ClientEnd, of the nodes.
  void on_connected(ConnectionId connection) override;
  void on_bytes(ConnectionId connection, const std::string& bytes) override;
  void on_end(ConnectionId connection, std::string_view reason) override;

 private:
  using Group = coordinator::Group;
  using FrontDoor = coordinator::FrontDoor;

  // What the network to its users sees.
  struct FrontEnd final : NodeEnd {
    explicit FrontEnd(DoorHost& its_host) : host(its_host) {}
    bool is_machine_on() const override { return true; }
    std::uint64_t process() const override { return host.process_ ? host.process_->life : 0; }
    void on_connection(ConnectionId connection) override;
    void on_bytes(ConnectionId connection, const std::string& bytes) override;
    void on_end(ConnectionId connection) override;
    DoorHost& host;
  };
  struct Silent final : LogSink {
    void log(LogLevel, std::string_view) override {}
  };
  struct User : protocol::Transport {
    protocol::Session* session = nullptr;
    ConnectionId connection = {};
    bool is_there = true;      // false: the session stays for what it has begun
    std::string queued = {};   // what the kernel has not taken
    TrueTime reads_from = {};  // until then it takes nothing, or a part
  };
  struct Process {
    std::uint64_t life;
    Silent log;
    std::unique_ptr<Group> group;
    std::unique_ptr<FrontDoor> door;
    std::map<ConnectionId, User> users;
    std::vector<std::optional<ConnectionId>> links;
  };

  // Among the doors.
  unsigned front_number() const {
    return number_ - world_.scenario.clients - world_.scenario.users;
  }
  Instant boottime() const { return clock_.at(agenda_.now()); }
  Now monotonic() const;
  bool is_paused() const { return agenda_.now() < paused_until_; }

  // Runs it now, or when the process goes on, and then the rest of the turn.
  void turn(std::function<void(Process&)> what);
  Duration turn_time();
  Instant look_at_stopwatch();
  void end_part_after(Duration takes);
  void end_part();
  void end_turn();
  void go_on();
  void collect();
  void flush();
  void flush(User& user);
  bool hand_over(User& user, std::string bytes, bool is_promise);
  void drain(ConnectionId connection);
  void forget(User& user);
  void on_alarm();
  void set_alarm();
  std::optional<coordinator::NodeIndex> link_of(ConnectionId connection) const;
  void fill(std::span<unsigned char> bytes);
  void tell(std::string_view what);

  const Surroundings world_;
  Network& front_;
  Agenda& agenda_;
  const unsigned number_;
  Random random_;
  SkewedClock clock_;
  FrontEnd front_end_{*this};
  std::unique_ptr<Process> process_;             // none while it is down
  std::vector<std::unique_ptr<Process>> ended_;  // until the run is over
  std::uint64_t lives_ = 0;
  TrueTime paused_until_{};
  // What a part of a turn brought goes out when that part is over.
  enum class Part : std::uint8_t { none, acts, acts_behind_output };
  Part part_ = Part::none;
  Duration worked_{};  // in this part, as its looks at the stopwatch tell
  bool is_calm_ = false;
  std::optional<TrueTime> suspended_since_;
  Duration slept_{};
  std::vector<std::function<void(Process&)>> inbox_;  // what came while it was paused
  std::uint64_t faults_ = 0;
  Alarm alarm_;
};

}  // namespace redlock::simulation
