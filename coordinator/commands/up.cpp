// redlock up: a group of nodes on this machine, until Ctrl-C.
#include "base/net/process/spare_descriptors.h"
#include "coordinator/cli/node_report.h"
#include "coordinator/commands/commands.h"
#include "coordinator/process/child_process.h"
#include "coordinator/process/local_nodes.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace redlock::coordinator {
namespace {

// A loop, timers and signals; a node's output, its guard's pipe, and a connection to look at it.
constexpr int kDescriptors = 24;
constexpr int kDescriptorsOfNode = 8;

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
      : options_(options), group_(loop_, settings_of(options), *this) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      if (signal_is_ignored(number)) continue;
      signals_.push_back(std::make_unique<net::Signal>(loop_, number, [this] { group_.stop(); }));
    }
  }

  int run() {
    const Status started = group_.start();
    if (!started) {
      complain(started.error().text);
      return exit_code::kNo;
    }
    for (const std::string& note : group_.notes()) complain(note);
    for (const auto& signal : signals_) signal->keep_loop_alive(true);
    loop_.run();
    return exit_code_;
  }

 private:
  void on_ready() override;
  void on_node_failed(const NodeFailure& failure) override {
    complain(failure.text());
    exit_code_ = exit_code::kNo;
    group_.stop();
  }
  void on_stopped(const std::vector<std::string>& unclean) override {
    for (const std::string& text : unclean) complain(text);
    loop_.stop();
  }

  const Options& options_;
  net::Loop loop_;
  LocalNodes group_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
  int exit_code_ = exit_code::kDone;
};

void Up::on_ready() {
  if (options_.json) {
    const nlohmann::json all = {{"REDLOCK_NODES", group_.addresses()}};
    fmt::print("{}\n", all.dump());
  } else {
    fmt::print(
        "{} nodes are ready. In another terminal:\n\n  export REDLOCK_NODES={}\n"
        "  redlock status\n\nCtrl-C stops them.\n",
        group_.nodes().size(), group_.addresses());
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
