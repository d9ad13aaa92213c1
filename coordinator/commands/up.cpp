// redlock up: a group of nodes on this machine, with its roster, and a front door beside them,
// until Ctrl-C.
#include "base/net/process/spare_descriptors.h"
#include "base/net/sockets/listener.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/text/json.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/commands.h"
#include "coordinator/health/group_plans.h"
#include "coordinator/health/group_verdict.h"
#include "coordinator/process/child_process.h"
#include "coordinator/process/local_nodes.h"
#include <redlock/client.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// A loop, timers and signals; a node's output, its guard's pipe, and a connection to look at it.
constexpr int kDescriptors = 32;
constexpr int kDescriptorsOfNode = 8;

// Until all nodes have answered, which they have done before;
// so often before that is not waited for.
constexpr Duration kAskAgainInterval = 100ms;
constexpr int kLooksMax = 20;
// So many ports are tried for the front door, from the default one on.
constexpr int kDoorPortsTried = 100;
constexpr Duration kDoorKilledAfter = 10s;

LocalNodesSettings settings_of(const Options& options) {
  LocalNodesSettings settings;
  settings.count = options.up.count;
  settings.first_port = options.up.first_port;
  settings.node_program = options.up.node_program;
  if (!options.up.folder.empty()) settings.folder = options.up.folder;
  return settings;
}

bool is_of_a_node(int port, const UpOptions& up) {
  return port >= up.first_port && port < up.first_port + up.count;
}

// Nobody listens there.
Status try_port(net::Loop& loop, std::uint16_t port) {
  const auto ignore = [](std::unique_ptr<net::Stream>) {};
  const auto listener = net::Listener::listen(loop, {"127.0.0.1", port}, 1, ignore);
  if (!listener) return listener.error();
  return Done{};
}

// The one that was asked for, or the first that is free.
Result<std::uint16_t> door_port(net::Loop& loop, const UpOptions& up) {
  if (up.door_port != 0) {
    if (is_of_a_node(up.door_port, up)) {
      return Failure{fmt::format("port {} is a node's; --door-port chooses another", up.door_port)};
    }
    const Status is_free = try_port(loop, up.door_port);
    if (is_free) return up.door_port;
    return Failure{fmt::format("{}; --door-port chooses another port", is_free.error().text)};
  }
  for (int port = UpOptions::kDoorPort; port < UpOptions::kDoorPort + kDoorPortsTried; ++port) {
    const auto tried = static_cast<std::uint16_t>(port);
    if (!is_of_a_node(port, up) && try_port(loop, tried)) return tried;
  }
  return Failure{
      fmt::format("no port from {} to {} is free for a front door; --door-port chooses "
                  "another, --no-door goes without",
                  UpOptions::kDoorPort, UpOptions::kDoorPort + kDoorPortsTried - 1)};
}

// This very program, as the nodes' front door.
LocalNodeSettings door_settings(const LocalNodesSettings& nodes, const std::string& addresses,
                                std::uint16_t port) {
  LocalNodeSettings door;
  door.program = std::filesystem::read_symlink("/proc/self/exe");
  door.port = port;
  door.folder = std::filesystem::absolute(nodes.folder);
  door.name = "front-door";
  door.serve_words = {"serve", "--nodes", addresses, "--listen", fmt::format("127.0.0.1:{}", port)};
  return door;
}

class Up : private LocalNodes::User {
 public:
  explicit Up(const Options& options)
      : options_(options),
        nodes_(loop_, settings_of(options), *this),
        again_(loop_, net::ClockKind::monotonic, [this] { look_after_group(); }),
        door_changed_(loop_, net::ClockKind::monotonic, [this] { look_at_door(); }) {
    door_changed_.keep_loop_alive(false);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(loop_, number, [this] { stop(); }));
    }
  }

  int run() {
    if (!options_.up.no_door) {  // before anything is started
      if (const auto port = door_port(loop_, options_.up); !port) return fail(port.error().text);
    }
    if (const Status started = nodes_.start(); !started) return fail(started.error().text);
    for (const std::string& note : nodes_.notes()) complain(note);
    for (const auto& signal : signals_) signal->keep_loop_alive(true);
    loop_.run();
    return exit_code_;
  }

 private:
  static int fail(const std::string& text) {
    complain(text);
    return exit_code::kNo;
  }
  void on_ready() override;
  void on_node_failed(const NodeFailure& failure) override {
    complain(failure.text());
    exit_code_ = exit_code::kNo;
    stop();
  }
  void on_stopped(const std::vector<std::string>& unclean) override {
    for (const std::string& text : unclean) complain(text);
    loop_.stop();
  }

  void stop();
  void look_after_group();
  void tell_of_wrong_count();
  void change_group(const GroupRoster& wanted);
  void on_changed(const GroupRoster& wanted, const Result<GroupChange, Error>& changed);
  void begin_to_serve();
  void serve_door();
  void look_at_door();
  void tell_ready();
  std::string door_address() const { return fmt::format("redis://127.0.0.1:{}", door_port_); }

  const Options& options_;
  net::Loop loop_;
  LocalNodes nodes_;
  net::Timer again_;
  net::Timer door_changed_;
  std::uint16_t door_port_ = 0;
  std::optional<LocalNode> door_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
  std::optional<Client> onlooker_;  // asks each node for its state, member or not
  std::optional<Client> member_;    // changes the group
  int looks_ = 0;                   // in which a node did not answer
  bool serves_ = false;
  bool is_ready_told_ = false;
  int exit_code_ = exit_code::kDone;
};

void Up::on_ready() {
  ClientOptions settings;
  settings.nodes = {nodes_.addresses()};
  auto member = Client::start_on(loop_.raw(), settings);
  settings.as_named = true;
  auto onlooker = Client::start_on(loop_.raw(), settings);
  if (!member || !onlooker) {
    complain((member ? onlooker : member).error().text);
    return begin_to_serve();
  }
  member_ = std::move(member).value();
  onlooker_ = std::move(onlooker).value();
  onlooker_->when_ready([this] { look_after_group(); });
}

void Up::stop() {
  member_.reset();
  onlooker_.reset();
  if (door_ && door_->is_running()) return door_->stop(kDoorKilledAfter);  // it needs the nodes
  door_changed_.set(std::nullopt);  // of one that failed just now: no other takes its place
  nodes_.stop();
}

// The nodes are a group, or have been waited for long enough.
void Up::begin_to_serve() {
  if (std::exchange(serves_, true)) return;
  if (options_.up.no_door) return tell_ready();
  serve_door();
}

// Whoever else has taken the port since it was looked at keeps it.
void Up::serve_door() {
  const auto port = door_port(loop_, options_.up);
  if (!port) {
    exit_code_ = fail(port.error().text);
    return stop();
  }
  door_port_ = port.value();
  door_.emplace(loop_, door_settings(settings_of(options_), nodes_.addresses(), door_port_),
                [this] {
                  door_changed_.keep_loop_alive(true);
                  door_changed_.set(net::read_clock(net::ClockKind::monotonic));
                });
  door_->serve();
}

void Up::look_at_door() {
  door_changed_.keep_loop_alive(false);
  if (const auto failure = door_->take_failure()) {
    const bool may_move = options_.up.door_port == 0 && !is_ready_told_ && !door_->is_running();
    if (may_move && !try_port(loop_, door_port_)) return serve_door();
    return on_node_failed(*failure);
  }
  if (door_->state() == LocalNode::State::ready) return tell_ready();
  if (door_->state() != LocalNode::State::stopped) return;
  if (!door_->unclean_stop().empty()) complain(door_->unclean_stop());
  nodes_.stop();
}

// The nodes become a group by themselves, as nobody else vouches for who belongs to whom; and one
// whose folder was lost takes its own place again.
void Up::look_after_group() {
  if (!onlooker_) return;
  onlooker_->status([this](const Result<std::vector<NodeState>, Error>& states) {
    const bool all_answer = states && std::all_of(states->begin(), states->end(), answers);
    const auto wanted = states ? local_roster(*states) : std::nullopt;
    if (wanted) return change_group(*wanted);
    if (!all_answer) again_.set(net::read_clock(net::ClockKind::monotonic) + kAskAgainInterval);
    if (all_answer && !serves_ && is_wrong_list(*states)) return tell_of_wrong_count();
    if (all_answer || ++looks_ > kLooksMax) begin_to_serve();
  });
}

// Of a folder that has had another count of nodes: while some are missing no lock is given, unless
// the group is known to have grown since.
void Up::tell_of_wrong_count() {
  member_->status([this](const Result<std::vector<NodeState>, Error>& states) {
    if (states && is_wrong_list(*states)) complain(roster_note(*states));
    begin_to_serve();
  });
}

void Up::change_group(const GroupRoster& wanted) {
  member_->change_group(wanted, [this, wanted](const Result<GroupChange, Error>& changed) {
    on_changed(wanted, changed);
  });
}

void Up::on_changed(const GroupRoster& wanted, const Result<GroupChange, Error>& changed) {
  if (!changed) {
    complain(changed.error().text);
    return begin_to_serve();
  }
  if (changed->wait > 0ns) {
    again_.set(net::read_clock(net::ClockKind::monotonic) + changed->wait);
    return begin_to_serve();
  }
  for (const GroupMember& member : wanted.members) {
    if (!changed->is_wanted || wanted.epoch == 1 || member.since < wanted.epoch) continue;
    complain(
        fmt::format("{} lost its folder, and is a member of the group again: it votes when all "
                    "locks from before have run out",
                    member.node));
  }
  look_after_group();  // another one may have lost its folder, too
}

void Up::tell_ready() {
  if (std::exchange(is_ready_told_, true)) return;
  if (door_ && options_.up.door_port == 0 && door_port_ > UpOptions::kDoorPort) {
    complain(
        fmt::format("port {} is taken: the front door is at {}", UpOptions::kDoorPort, door_port_));
  }
  if (options_.json) {
    JsonObject all = {{"REDLOCK_NODES", nodes_.addresses()}};
    if (door_) all.add("front_door", door_address());
    print_out("{}\n", all.text());
  } else {
    print_out(
        "{} nodes are ready. In another terminal:\n\n  export REDLOCK_NODES={}\n"
        "  redlock status\n\n",
        nodes_.nodes().size(), nodes_.addresses());
    if (door_) {
      print_out(
          "A front door is open at {}, which any Redis client takes for one Redis:\n\n"
          "  redis-cli -p {} SET printer alice NX PX 30000\n\n",
          door_address(), door_port_);
    }
    print_out("Ctrl-C stops {}.\n", door_ ? "all of them" : "them");
  }
  flush_output();
}

}  // namespace

int command_up(const Options& options) {
  const int descriptors = kDescriptors + kDescriptorsOfNode * options.up.count;
  if (const Status room = net::try_descriptors(descriptors, "redlock up"); !room) {
    complain(room.error().text);
    return exit_code::kNoQuorum;
  }
  Up up(options);
  return up.run();
}

}  // namespace redlock::coordinator
