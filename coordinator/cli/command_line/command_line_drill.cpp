// The command line of `redlock drill`.
#include "base/text/duration_text.h"
#include "coordinator/cli/command_line/command_line_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

// What the whole drill is worth waiting for: locks are asked for and run out within seconds.
constexpr Duration kRestartTtl = 3s;
constexpr Duration kChaosTtl = 2s;
// A group changes no sooner than the locks from before have ended (rule G3).
constexpr Duration kReplaceTtl = 500ms;
// Within it a process is killed and another one started, on a busy machine too.
constexpr Duration kTtlMin = 1s;
constexpr int kClientsMax = 64;
constexpr int kLocksMax = 1000;
constexpr int kDoorsMax = 8;

void add_ttl(CLI::App& drill, Flags& flags, Duration standard) {
  add_setting(drill, flags, "--ttl", "ttl",
              fmt::format("how long locks are taken for ({})", duration_text(standard)), "D");
}

void add_node_program(CLI::App& drill, Options& options) {
  drill.add_option("--node-binary", options.drill.node_program,
                   "the program of the drill's own nodes (redlock-node)");
}

void add_restart(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& drill = *subcommand.add_subcommand(
      "restart", "a node that holds a lock is killed and started again: step by step");
  add_ttl(drill, flags, kRestartTtl);
  add_node_program(drill, options);
  drill.add_option("--kill-command", options.drill.kill_command,
                   "with --nodes: kills the node {address}, as a crash does");
  drill.add_option("--start-command", options.drill.start_command,
                   "with --nodes: starts the node {address} again");
}

// What every drill has in which clients work for a while and a history tells of it.
void add_clients_at_work(CLI::App& drill, Flags& flags, Options& options) {
  add_ttl(drill, flags, kChaosTtl);
  add_node_program(drill, options);
  CLI::Option* length = add_setting(drill, flags, "--for", "for", "how long it goes on (1m)", "D");
  drill.add_option("--minutes", options.drill.minutes, "the same, in minutes")
      ->excludes(length)
      ->check(CLI::Range(1, 24 * 60));
  drill.add_option("--seed", options.drill.seed,
                   "what happens when: the same seed, the same faults (1)");
  drill.add_option("--clients", options.drill.clients, "how many processes work under locks (16)")
      ->check(CLI::Range(2, kClientsMax));
  drill.add_option("--locks", options.drill.locks, "how many locks they share (8)")
      ->check(CLI::Range(1, kLocksMax));
  drill
      .add_option("--out", options.drill.out_folder,
                  "where history.jsonl and timeline.html are put (redlock-drill)")
      ->type_name("DIR");
}

void add_chaos(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& drill = *subcommand.add_subcommand(
      "chaos", "nodes and clients are killed and stopped while clients work under locks");
  add_clients_at_work(drill, flags, options);
  CLI::Option* replace =
      drill.add_flag("--replace", options.drill.replace,
                     "besides, members are replaced, added and removed; --ttl is 500ms then");
  CLI::Option* doors =
      drill
          .add_option("--doors", options.drill.doors,
                      "front doors between clients and nodes, which are killed and stopped, too")
          ->check(CLI::Range(1, kDoorsMax))
          ->excludes(replace);
  drill
      .add_flag("--naive", options.drill.naive,
                "with --doors: clients know SET NX PX alone, some values are 1")
      ->needs(doors);
}

void add_partition(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& drill = *subcommand.add_subcommand(
      "partition", "the network falls apart while clients work under locks; no root needed");
  add_clients_at_work(drill, flags, options);
}

void add_clock(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& drill = *subcommand.add_subcommand(
      "clock", "wall clocks jump by hours while clients work under locks");
  add_clients_at_work(drill, flags, options);
}

void add_command_runs(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& drill = *subcommand.add_subcommand(
      "run",
      "`redlock run`, its guard process and nodes are killed and stopped while it runs "
      "commands that are hard to end");
  add_clients_at_work(drill, flags, options);
}

void add_check(CLI::App& subcommand, Flags& /*flags*/, Options& options) {
  CLI::App& check = *subcommand.add_subcommand(
      "check", "read a history, of a drill or of your own system, and judge it");
  check
      .add_option("FILE", options.drill.history_files,
                  "the history, as docs/history.md has it; several files make one; - is standard "
                  "input")
      ->required()
      ->type_name("");
  check
      .add_option("--html", options.drill.html_file,
                  "where the timeline is put, a page for a browser")
      ->type_name("OUT");
}

// One of the clients at work, which the drills start: no subcommand for people.
void add_client(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& client = *subcommand.add_subcommand("client", "a client of a drill")->group("");
  add_ttl(client, flags, kChaosTtl);
  add_setting(client, flags, "--wait", "wait", "", "D");
  client.add_option("--seed", options.drill.seed);
  client.add_option("--locks", options.drill.locks);
  client.add_flag("--in-line", options.drill.in_line);
  client.add_option("--store", options.drill.store);
  client.add_option("--history", options.drill.history_file);
  client.add_flag("--no-fence", flags.no_fence);
  add_setting(client, flags, "--reply-time", "reply-time", "", "D");
  client.add_option("NAME", options.name)->required();
}

// The command of a `redlock run` that a drill starts: no subcommand for people.
void add_command(CLI::App& subcommand, Flags& flags, Options& options) {
  CLI::App& command = *subcommand.add_subcommand("command", "a command of a drill")->group("");
  add_setting(command, flags, "--for", "for", "", "D");
  command.add_option("--kind", options.drill.kind);
  command.add_option("--store", options.drill.store);
  command.add_option("--board", options.drill.board);
  command.add_option("--run", options.drill.run);
  command.add_option("NAME", options.name)->required();
}

// Nodes are killed: only those that --nodes names, never those of the environment or a file.
Problem check_drill_nodes(const Options& options, bool are_named) {
  const bool has_commands =
      !options.drill.kill_command.empty() && !options.drill.start_command.empty();
  if (!are_named) {
    if (options.drill.kill_command.empty() && options.drill.start_command.empty()) return {};
    return Mistake{exit_code::kUsage, "--kill-command and --start-command need --nodes"};
  }
  if (!has_commands) {
    return Mistake{exit_code::kUsage,
                   "--nodes needs --kill-command and --start-command: nodes elsewhere cannot be "
                   "killed and started without them"};
  }
  if (!options.drill.node_program.empty()) {
    return Mistake{exit_code::kUsage, "--node-binary is for nodes of the drill's own, not --nodes"};
  }
  if (options.node_count < 3 || options.node_count % 2 == 0) {
    return Mistake{exit_code::kUsage, "--nodes: an odd number of nodes is needed, three or more"};
  }
  return {};
}

Problem read_ttl(const GivenSettings& settings, Duration standard, Options& options) {
  options.ttl = standard;
  if (Problem problem = read_duration(settings, "ttl", options.ttl)) return problem;
  const Duration least = std::min(kTtlMin, standard);
  if (options.ttl >= least) return {};
  return mistake(
      *settings.find("ttl"),
      fmt::format("at least {}: within it a node is killed and started", duration_text(least)));
}

Problem read_restart(const GivenSettings& settings, CommandLine& line) {
  const bool are_named = settings.find("nodes") != nullptr;
  if (are_named) {
    if (Problem problem = read_nodes(settings, line)) return problem;
  }
  if (Problem problem = check_drill_nodes(line.options, are_named)) return problem;
  return read_ttl(settings, kRestartTtl, line.options);
}

Problem read_clients_at_work(const GivenSettings& settings, CommandLine& line) {
  Options& options = line.options;
  if (settings.find("nodes") != nullptr) {
    return Mistake{exit_code::kUsage,
                   "--nodes: this drill has nodes of its own (--node-binary names their program); "
                   "`redlock drill restart` drills nodes elsewhere"};
  }
  if (options.drill.minutes != 0)
    options.drill.length = std::chrono::minutes(options.drill.minutes);
  if (Problem problem = read_length(settings, options.drill.length)) return problem;
  return read_ttl(settings, options.drill.replace ? kReplaceTtl : kChaosTtl, options);
}

Problem read_check(const GivenSettings& /*settings*/, CommandLine& /*line*/) {
  return {};
}

Problem read_client(const GivenSettings& settings, CommandLine& line) {
  if (Problem problem = read_nodes(settings, line)) return problem;
  line.options.fence = settings.find("no-fence") == nullptr;
  line.options.client.unsafe_members = settings.find("unsafe-members") != nullptr;
  Duration wait{0};
  if (Problem problem = read_duration(settings, "wait", wait)) return problem;
  line.options.wait = wait;
  if (Problem problem = read_duration(settings, "reply-time", line.options.drill.reply_time)) {
    return problem;
  }
  return read_ttl(settings, kReplaceTtl, line.options);
}

Problem read_command(const GivenSettings& settings, CommandLine& line) {
  return read_duration(settings, "for", line.options.drill.length);
}

// A drill as the command line knows it.
struct DrillSubcommand {
  const char* name;
  Drill drill;
  void (*add)(CLI::App& subcommand, Flags& flags, Options& options);
  Problem (*read)(const GivenSettings& settings, CommandLine& line);
};

constexpr std::array kDrills = {
    DrillSubcommand{"restart", Drill::restart, add_restart, read_restart},
    DrillSubcommand{"chaos", Drill::chaos, add_chaos, read_clients_at_work},
    DrillSubcommand{"partition", Drill::partition, add_partition, read_clients_at_work},
    DrillSubcommand{"clock", Drill::clock, add_clock, read_clients_at_work},
    DrillSubcommand{"run", Drill::run, add_command_runs, read_clients_at_work},
    DrillSubcommand{"check", Drill::check, add_check, read_check},
    DrillSubcommand{"client", Drill::client, add_client, read_client},
    DrillSubcommand{"command", Drill::command, add_command, read_command},
};

}  // namespace

void add_drills(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("drill", "inject faults and show whether locks stay safe");
  subcommand.require_subcommand(1);
  for (const DrillSubcommand& drill : kDrills) drill.add(subcommand, flags, options);
}

std::string no_drill_named(const CLI::App& app) {
  if (!app.got_subcommand("drill")) return {};
  const CLI::App& subcommand = *app.get_subcommand("drill");
  if (!subcommand.get_subcommands().empty()) return {};
  std::string names;
  for (const DrillSubcommand& drill : kDrills) {
    const bool is_for_people = drill.drill != Drill::client && drill.drill != Drill::command;
    if (is_for_people) names += fmt::format(" {}", drill.name);
  }
  return "which drill? There are:" + names;
}

Problem read_drill(const CLI::App& app, const GivenSettings& settings, CommandLine& line) {
  const CLI::App& subcommand = *app.get_subcommand("drill");
  for (const DrillSubcommand& drill : kDrills) {
    if (!subcommand.got_subcommand(drill.name)) continue;
    line.options.drill.which = drill.drill;
    if (Problem problem = drill.read(settings, line)) return problem;
  }
  Options& options = line.options;
  if (Problem problem = read_duration(settings, "node-timeout", options.client.node_timeout)) {
    return problem;
  }
  if (Problem problem = read_drift(settings, options.client.clock_drift)) return problem;
  return check_times(settings, options);
}

}  // namespace redlock::coordinator
