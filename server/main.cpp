// redlock-node: one lock node.
//
// The order of a start matters (recovery.h): first the addresses, so that one in use leaves the
// state folder untouched; then the folder's lock; only then the clock from which a restart delay
// counts; and the new run is durable before the first request that touches a lock.
#include "base/duration_text.h"
#include "base/net/background_task.h"
#include "base/net/clock.h"
#include "base/net/loop.h"
#include "base/net/signal.h"
#include "base/net/system_random.h"
#include "base/version.h"
#include "server/command_line.h"
#include "server/log_file.h"
#include "server/node.h"
#include "server/node_server.h"
#include "server/process_inspector.h"
#include "server/script_watchdog.h"
#include "server/setting_table.h"
#include "server/state_folder.h"
#include "server/supervisor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <malloc.h>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr int kFailed = 1;

int fail(std::string_view text) {
  fmt::print(stderr, "redlock-node: {}\n", text);
  return kFailed;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Failure{std::strerror(errno)};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::string> read_standard_input() {
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

// For a node, and for a run.
std::string random_id() {
  std::array<unsigned char, kNodeIdBytes> bytes{};
  net::system_random(bytes);
  return make_node_id(bytes);
}

// Each client needs a descriptor; keep some for the node itself.
void raise_descriptor_limit(Settings& settings, LogSink& log) {
  constexpr rlim_t kOwn = 32;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= settings.maxclients + kOwn) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY
                       ? settings.maxclients + kOwn
                       : std::min(limit.rlim_max, settings.maxclients + kOwn);
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= settings.maxclients + kOwn) return;
  const auto possible =
      static_cast<std::uint32_t>(limit.rlim_cur > kOwn ? limit.rlim_cur - kOwn : 1);
  log.log(
      LogLevel::warning,
      fmt::format("the system allows {} open files (ulimit -n), so maxclients is {} instead of {}",
                  limit.rlim_cur, possible, settings.maxclients));
  settings.maxclients = possible;
}

Status write_pidfile(const std::string& path) {
  if (path.empty()) return Done{};
  std::ofstream file(path, std::ios::trunc);
  file << getpid() << '\n';
  file.close();
  if (!file)
    return Failure{fmt::format("cannot write the pid file {}: {}", path, std::strerror(errno))};
  return Done{};
}

NodeStart node_start(const Decision& decision, Instant start) {
  NodeStart facts;
  facts.node_id = decision.record.node_id;
  facts.run_id = random_id();
  facts.run = decision.record.run;
  facts.hash_seed = net::system_random_seed();
  facts.started_at = start;
  facts.cause = restart_cause_name(decision.cause);
  facts.delay = decision.delay;
  facts.grant_from = decision.grant_from;
  facts.snapshot_from = decision.snapshot_from;
  facts.warning = decision.warning;
  facts.fenced = decision.record.fenced;
  return facts;
}

// One run of the node, from its open doors to its clean stop.
class Run {
 public:
  Run(Settings& settings, LogFile& log, std::string config_file)
      : settings_(settings),
        log_(log),
        config_file_(std::move(config_file)),
        supervisor_(settings_.supervised) {}

  int run() {
    auto doors = Doors::open(loop_, settings_);
    if (!doors) return give_up(doors.error());
    const std::string folder = state_directory(settings_);
    auto state = StateFolder::open(folder);
    if (!state) return give_up(state.error());
    const Instant start = net::read_clock(net::ClockKind::monotonic);
    if (const Status written = write_pidfile(settings_.pidfile); !written) {
      return give_up(written.error());
    }
    const auto decision = prepare(state.value(), *doors.value(), start);
    if (!decision) return give_up(decision.error());
    if (const Status served = serve(state.value(), decision.value(), *doors.value()); !served) {
      return give_up(served.error());
    }
    const int status = finish(state.value());
    if (!settings_.pidfile.empty()) unlink(settings_.pidfile.c_str());
    return status;
  }

 private:
  int give_up(std::string_view text) {
    log_.log(LogLevel::warning, text);
    return settings_.logfile.empty() ? kFailed : fail(text);
  }

  // What this start has to do, and the node with the locks that it restored.
  Result<Decision> prepare(StateFolder& state, const Doors& doors, Instant start) {
    const auto found = state.find();
    if (!found) return found.failure();
    Decision decision = decide(found.value(), settings_, start, random_id());
    node_.emplace(settings_, node_start(decision, start),
                  Node::World{process_inspector(config_file_, doors.port()), log_, &watchdog_});
    bool has_room = true;
    const Status restored = state.restore(decision, [&](const SavedLock& lock) {
      has_room = node_->restore(lock.key, lock.value, lock.deadline, lock.token) && has_room;
    });
    if (!restored) return restored.failure();
    if (!has_room) return Failure{"no memory for the locks of the last run"};
    return decision;
  }

  void tell_start(const Decision& decision, const Doors& doors) {
    log_.log(LogLevel::notice, decision.report);
    if (!decision.warning.empty()) log_.log(LogLevel::warning, decision.warning);
    for (const std::string& caution : cautions(settings_)) log_.log(LogLevel::warning, caution);
    log_.log(LogLevel::notice,
             fmt::format("redlock-node {} listens at {}; node {}, run {}", kRedlockVersion,
                         doors.addresses(), decision.record.node_id, decision.record.run));
  }

  // Until it stops. Rules R3 and R9: the run becomes durable first. A flush takes the disk's time,
  // so it happens on a thread of its own, while the node answers what touches no lock and keeps the
  // rest (Node::begin_run). Nobody else uses the folder meanwhile.
  Status serve(StateFolder& state, const Decision& decision, Doors& doors) {
    NodeServer server(loop_, *node_, doors);
    const auto stop = [&server] { server.stop({}); };
    const net::Signal on_term(loop_, SIGTERM, stop);
    const net::Signal on_int(loop_, SIGINT, stop);
    net::Timer recovered(loop_, net::ClockKind::monotonic, [this] {
      log_.log(LogLevel::notice, "the restart delay is over: locks are granted from now on");
      supervisor_.status("serving");
    });
    Status durable = Done{};
    net::BackgroundTask make_durable(
        loop_, [&] { durable = state.begin_run(decision); },
        [&] {
          if (!durable) return loop_.stop();
          tell_start(decision, doors);
          node_->begin_run(net::read_now());
          if (node_->is_recovering(net::read_now().monotonic)) {
            recovered.set(node_->start().grant_from);
          }
          tell_supervisor();
        });
    loop_.run();
    make_durable.wait();  // a stop may have come before
    supervisor_.stopping();
    return durable;
  }

  void tell_supervisor() {
    const Instant now = net::read_clock(net::ClockKind::monotonic);
    if (!node_->is_recovering(now)) return supervisor_.ready("serving");
    supervisor_.ready(fmt::format("recovering after a restart, grants locks in {}",
                                  spoken_duration(node_->delay_left(now))));
  }

  // The snapshot of a clean stop (rule R9). A stop within the restart delay leaves none, and so
  // does SHUTDOWN NOSAVE: the next start then waits (rule R3).
  int finish(const StateFolder& state) {
    const Instant copied_at = net::read_clock(net::ClockKind::monotonic);
    if (!node_->stop_request().value_or(StopRequest{}).save) {
      log_.log(LogLevel::notice, "stopped without a snapshot, as asked: the next start will wait");
      return 0;
    }
    if (copied_at < node_->start().snapshot_from) {
      log_.log(LogLevel::notice,
               "stopped within the restart delay: no snapshot, the next start waits in full");
      return 0;
    }
    const Status written = state.write_snapshot(copied_at, [&](const SavedLockVisitor& save) {
      node_->locks().for_each([&](const Lock& lock) {
        if (lock.is_over(copied_at)) return;
        save({lock.key(), lock.value(), lock.deadline, lock.token});
      });
    });
    if (!written) return give_up(written.error());
    log_.log(LogLevel::notice, "stopped cleanly: the locks are in the snapshot");
    return 0;
  }

  Settings& settings_;  // CONFIG SET changes them while it runs
  LogFile& log_;
  std::string config_file_;
  Supervisor supervisor_;
  net::Loop loop_;
  ScriptWatchdog watchdog_{settings_.busy_reply_threshold, settings_.script_time_limit};
  std::optional<Node> node_;
};

int run_node(CommandLine& command) {
  Settings& settings = command.configuration.settings;
  if (const Status usable = check(settings); !usable) return fail(usable.error());
  auto log = LogFile::open(settings.logfile);
  if (!log) return fail(log.error());
  log.value().set_level(settings.loglevel);
  for (const std::string& warning : command.configuration.warnings) {
    log.value().log(LogLevel::warning, warning);
  }
  raise_descriptor_limit(settings, log.value());
  Run run(settings, log.value(), command.config_file);
  return run.run();
}

int bootstrap_node(const CommandLine& command) {
  const Settings& settings = command.configuration.settings;
  const std::string folder = state_directory(settings);
  const std::string node_id = settings.node_id.empty() ? random_id() : settings.node_id;
  const Status made = bootstrap(folder, node_id, command.bootstrap_floor);
  if (!made) return fail(made.error());
  fmt::print("{} holds the ledger of a new node, {}: its first start grants locks at once\n",
             folder, node_id);
  return 0;
}

int main(std::span<char*> arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  // Chunks of the lock arena come from mmap, so that memory goes back to the system with them.
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
  mallopt(M_ARENA_MAX, 1);
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  auto command = read_command_line(words, {read_file, read_standard_input});
  if (!command) return fail(command.error());
  switch (command.value().deed) {
    case CommandLine::Deed::show_version:
      fmt::print("redlock-node {} (speaks the protocol of Redis {})\n", kRedlockVersion,
                 kRedisVersion);
      return 0;
    case CommandLine::Deed::show_help:
      fmt::print("{}", help_text());
      return 0;
    case CommandLine::Deed::bootstrap:
      return bootstrap_node(command.value());
    case CommandLine::Deed::run:
      return run_node(command.value());
  }
  return kFailed;
}

}  // namespace
}  // namespace redlock::server

int main(int argc, char** argv) {
  return redlock::server::main({argv, static_cast<std::size_t>(argc)});
}
