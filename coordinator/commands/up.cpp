// redlock up: a group of nodes on this machine, with its roster, until Ctrl-C.
#include "base/net/process/spare_descriptors.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "base/text/json.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/commands.h"
#include "coordinator/health/group_plans.h"
#include "coordinator/process/child_process.h"
#include "coordinator/process/local_nodes.h"
#include <redlock/client.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// A loop, timers and signals; a node's output, its guard's pipe, and a connection to look at it.
constexpr int kDescriptors = 24;
constexpr int kDescriptorsOfNode = 8;

// Until all nodes have answered, which they have done before; so often before that is not waited
// for.
constexpr Duration kLookInterval = 100ms;
constexpr int kLooksMax = 20;

LocalNodesSettings settings_of(const Options& options) {
  LocalNodesSettings settings;
  settings.count = options.up.count;
  settings.first_port = options.up.first_port;
  settings.node_program = options.up.node_program;
  if (!options.up.folder.empty()) settings.folder = options.up.folder;
  return settings;
}

class Up : private LocalNodes::User {
 public:
  explicit Up(const Options& options)
      : options_(options),
        nodes_(loop_, settings_of(options), *this),
        again_(loop_, net::ClockKind::monotonic, [this] { look_after_group(); }) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(loop_, number, [this] { stop(); }));
    }
  }

  int run() {
    const Status started = nodes_.start();
    if (!started) {
      complain(started.error().text);
      return exit_code::kNo;
    }
    for (const std::string& note : nodes_.notes()) complain(note);
    for (const auto& signal : signals_) signal->keep_loop_alive(true);
    loop_.run();
    return exit_code_;
  }

 private:
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
  void change_group(const GroupRoster& wanted);
  void on_changed(const GroupRoster& wanted, const Result<GroupChange, Error>& changed);
  void tell_ready();

  const Options& options_;
  net::Loop loop_;
  LocalNodes nodes_;
  net::Timer again_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
  std::optional<Client> onlooker_;  // asks each node for its state, member or not
  std::optional<Client> member_;    // changes the group
  int looks_ = 0;                   // in which a node did not answer
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
    return tell_ready();
  }
  member_ = std::move(member).value();
  onlooker_ = std::move(onlooker).value();
  onlooker_->when_ready([this] { look_after_group(); });
}

void Up::stop() {
  member_.reset();
  onlooker_.reset();
  nodes_.stop();
}

// The nodes become a group by themselves, as nobody else vouches for who belongs to whom; and one
// whose folder was lost takes its own place again.
void Up::look_after_group() {
  if (!onlooker_) return;
  onlooker_->status([this](const Result<std::vector<NodeState>, Error>& states) {
    const auto answers = [](const NodeState& node) { return node.answer.kind == AnswerKind::yes; };
    const bool all_answer = states && std::all_of(states->begin(), states->end(), answers);
    const auto wanted = states ? local_roster(*states) : std::nullopt;
    if (wanted) return change_group(*wanted);
    if (!all_answer) again_.set(net::read_clock(net::ClockKind::monotonic) + kLookInterval);
    if (all_answer || ++looks_ > kLooksMax) tell_ready();
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
    return tell_ready();
  }
  if (changed->wait > 0ns) {
    again_.set(net::read_clock(net::ClockKind::monotonic) + changed->wait);
    return tell_ready();
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
  if (options_.json) {
    const JsonObject all = {{"REDLOCK_NODES", nodes_.addresses()}};
    fmt::print("{}\n", all.text());
  } else {
    fmt::print(
        "{} nodes are ready. In another terminal:\n\n  export REDLOCK_NODES={}\n"
        "  redlock status\n\nCtrl-C stops them.\n",
        nodes_.nodes().size(), nodes_.addresses());
  }
  std::fflush(stdout);
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
