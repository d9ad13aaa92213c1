#include "base/net/text_file.h"
#include "base/text/number.h"
#include "base/token.h"
#include "base/version.h"
#include "coordinator/cli/command_line_parts.h"
#include "coordinator/cli/shell_lines.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

std::string version_line() {
  return fmt::format("redlock {}\n", kRedlockVersion);
}

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0        done; run: the command's own, or 128+N if signal N ended it\n"
    "  1        extend, release: not this holder's; holder: free; status: too few nodes grant, or\n"
    "           a token counter is far from the others; admit: some stay unfenced; up: a node "
    "died;\n"
    "           drill: it did not go as told, or check found something\n"
    "  64       usage\n"
    "  65       drill check: this is no history\n"
    "  69       no quorum of nodes, or none that gives tokens (run: the command never started)\n"
    "  74       acquire: what it got could not be printed, and was released; extend: what it did\n"
    "           could not be printed\n"
    "  75       held by another, or the wait ran out (run: the command never started; see -E)\n"
    "  77       no permission: a quorum of nodes refuses the password; drill: not on this\n"
    "           machine\n"
    "  78       configuration; what waiting cannot change: a TTL above the nodes' max-ttl, other\n"
    "           nodes than those of the group\n"
    "  121      run: the lock was lost, the command was stopped (see -L)\n"
    "  122      run: the command ended well, the release could not be confirmed; or a process of\n"
    "           the command could not be ended, and the lock was not released\n"
    "  124      run: the command was stopped after --max-hold\n"
    "  126, 127 run: the command could not be executed, was not found\n"
    "\n"
    "Durations need a unit: 500ms, 30s, 1.5s, 5m, 1h (but for 0).\n"
    "Nodes: --nodes, REDLOCK_NODES, or `nodes` in /etc/redlock/redlock.conf;\n"
    "       redis://[user:password@]host:port or unix:///path, separated by commas.";

Problem read_optional_duration(const GivenSettings& settings, std::string_view name,
                               std::optional<Duration>& value) {
  if (settings.find(name) == nullptr) return {};
  return read_duration(settings, name, value.emplace());
}

Problem read_signal(const GivenSettings& settings, int& number) {
  const GivenSetting* setting = settings.find("signal");
  if (setting == nullptr) return {};
  struct Named {
    std::string_view name;
    int number;
  };
  constexpr std::array kSignals = {Named{"TERM", SIGTERM}, Named{"INT", SIGINT},
                                   Named{"HUP", SIGHUP},   Named{"QUIT", SIGQUIT},
                                   Named{"KILL", SIGKILL}, Named{"USR1", SIGUSR1},
                                   Named{"USR2", SIGUSR2}, Named{"ABRT", SIGABRT}};
  std::string_view name = setting->value;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const Named& signal : kSignals) {
    if (!equals_ignoring_case(name, signal.name)) continue;
    number = signal.number;
    return {};
  }
  const auto parsed = parse_int64(name);
  if (parsed && *parsed >= 1 && *parsed <= 64) {
    number = static_cast<int>(*parsed);
    return {};
  }
  return mistake(*setting, fmt::format("'{}' is no signal: TERM, INT, HUP, QUIT, KILL, USR1, USR2, "
                                       "or a number",
                                       setting->value));
}

Problem read_wait(const GivenSettings& settings, Subcommand subcommand, bool no_wait,
                  std::optional<Duration>& wait) {
  if (subcommand == Subcommand::run) wait = std::nullopt;
  if (Problem problem = read_optional_duration(settings, "wait", wait)) return problem;
  if (no_wait) wait = Duration(0);
  return {};
}

// As the file has a value for everything, a flag that is given stands for `yes`.
Problem read_yes_no(const GivenSettings& settings, std::string_view name, bool& is_yes) {
  const GivenSetting* setting = settings.find(name);
  if (setting == nullptr) return {};
  is_yes = equals_ignoring_case(setting->value, "yes");
  if (is_yes || equals_ignoring_case(setting->value, "no")) return {};
  return mistake(*setting, fmt::format("'{}' is neither yes nor no", setting->value));
}

Problem read_all(const GivenSettings& settings, bool no_wait, CommandLine& line) {
  Options& options = line.options;
  if (Problem problem = read_nodes(settings, line)) return problem;
  if (Problem problem = read_duration(settings, "node-timeout", options.client.node_timeout)) {
    return problem;
  }
  if (Problem problem = read_drift(settings, options.client.clock_drift)) return problem;
  if (Problem problem = read_duration(settings, "ttl", options.ttl)) return problem;
  if (Problem problem = read_wait(settings, *line.subcommand, no_wait, options.wait))
    return problem;
  bool no_fence = false;
  if (Problem problem = read_yes_no(settings, "no-fence", no_fence)) return problem;
  options.fence = !no_fence;
  if (Problem problem = read_yes_no(settings, "unsafe-members", options.client.unsafe_members)) {
    return problem;
  }
  if (Problem problem = read_optional_duration(settings, "max-hold", options.run.max_hold)) {
    return problem;
  }
  if (Problem problem = read_signal(settings, options.run.signal)) return problem;
  if (Problem problem = read_duration(settings, "kill-after", options.run.kill_after))
    return problem;
  if (*line.subcommand == Subcommand::bench) {
    if (Problem problem = read_bench(settings, options)) return problem;
  }
  return check_times(settings, options);
}

Problem read_file(const std::string& given, GivenSettings& settings) {
  const std::string file = given.empty() ? std::string(kDefaultSettingsFile) : given;
  std::error_code ignored;
  if (given.empty() && !std::filesystem::exists(file, ignored)) return {};
  const auto text = net::read_text_file(file);
  if (!text) {
    return Mistake{exit_code::kConfiguration,
                   fmt::format("{} cannot be read: {}", file, text.error().text)};
  }
  const Status status = add_settings_file(file, text.value(), settings);
  if (!status) return Mistake{exit_code::kConfiguration, status.error().text};
  return {};
}

Problem read_value(Subcommand subcommand, Options& options) {
  if (subcommand != Subcommand::extend && subcommand != Subcommand::release) return {};
  if (options.value == "-") {
    options.value.clear();
    std::getline(std::cin, options.value);
  } else if (options.value.empty()) {
    const char* value = std::getenv("REDLOCK_VALUE");
    if (value != nullptr) options.value = value;
  }
  if (!options.value.empty()) return {};
  return Mistake{exit_code::kUsage,
                 "the lock's value is needed: --value V, or REDLOCK_VALUE, or --value - to read it "
                 "from standard input"};
}

void add_common(CLI::App& app, Flags& flags, Options& options) {
  add_setting(app, flags, "--nodes", "nodes", "the nodes, separated by commas", "URL,…");
  app.add_option("--config", flags.config, "settings file")->type_name("FILE");
  add_setting(app, flags, "--node-timeout", "node-timeout",
              "after it a node counts as not answering (500ms)", "D");
  add_setting(app, flags, "--clock-drift", "clock-drift", "the bound on clock rates (0.01)", "D");
  app.add_flag("--unsafe-members", flags.unsafe_members,
               "ask nodes whose settings are not safe, too");
  app.add_flag("--json", options.json, "print JSON");
  app.set_version_flag("-v,--version", "redlock " + std::string(kRedlockVersion));
}

void add_wait(CLI::App& subcommand, Flags& flags, const std::string& standard) {
  subcommand.add_flag("-n,--no-wait", flags.no_wait, "fail at once if it is held");
  add_setting(subcommand, flags, "-w,--wait", "wait", "wait at most so long (" + standard + ")",
              "D");
  subcommand.add_flag("--no-fence", flags.no_fence, "one round trip only, no token");
}

void add_name(CLI::App& subcommand, Options& options) {
  subcommand.add_option("NAME", options.name, "the lock")->required();
}

void add_ttl(CLI::App& subcommand, Flags& flags) {
  add_setting(subcommand, flags, "--ttl", "ttl", "how long it is locked for (30s)", "D");
}

void add_run(CLI::App& app, Flags& flags, Options& options) {
  CLI::App& subcommand = *app.add_subcommand(
      "run", "run a command while holding a lock: run NAME [--] COMMAND [ARG…]");
  add_name(subcommand, options);
  add_wait(subcommand, flags, "for ever");
  add_ttl(subcommand, flags);
  add_setting(subcommand, flags, "--max-hold", "max-hold", "give up and stop the command after it",
              "D");
  subcommand
      .add_option("-E", options.run.exit_if_not_got, "exit status when the lock was not got (75)")
      ->check(CLI::Range(0, 255));
  subcommand.add_option("-L", options.run.exit_if_lost, "exit status when the lock was lost (121)")
      ->check(CLI::Range(0, 255));
  subcommand.add_flag("--wait-all", options.run.wait_all,
                      "hold the lock until all that the command has started has ended");
  add_setting(subcommand, flags, "--signal", "signal", "how the command is stopped on loss (TERM)",
              "S");
  add_setting(subcommand, flags, "--kill-after", "kill-after",
              "KILL so long after the signal (a tenth of the TTL, at most 5s)", "D");
}

void add_floor(CLI::App& subcommand, std::optional<Token>& floor) {
  subcommand.add_option("--floor", floor, "vouch that no token larger than this was ever given")
      ->type_name("N")
      ->check(CLI::Range(Token{0}, kTokenMax));
}

void add_admit(CLI::App& app, Options& options) {
  CLI::App& subcommand =
      *app.add_subcommand("admit", "give unfenced nodes their part in tokens again");
  subcommand.add_flag("--new-group", options.admit.new_group,
                      "for a group of which no quorum is fenced; wants --floor");
  add_floor(subcommand, options.admit.floor);
}

void add_group(CLI::App& app, Options& options) {
  CLI::App& group =
      *app.add_subcommand("group", "who the nodes of the group are, and to change it");
  group.require_subcommand(0, 1);
  group.fallthrough();
  const auto add = [&](const char* name, const char* what, GroupDeed deed) -> CLI::App& {
    CLI::App& one = *group.add_subcommand(name, what);
    one.callback([&options, deed] { options.group.deed = deed; });
    return one;
  };
  const auto name_old = [&options](CLI::App& one) {
    one.add_option("OLD", options.group.old_node, "a member's address, or its node id")->required();
  };
  const auto name_new = [&options](CLI::App& one) {
    one.add_option("NEW", options.group.new_node, "the newcomer's address")->required();
  };
  add("show", "the members (also without a word)", GroupDeed::show);
  add("create", "make the nodes named a group: its first roster", GroupDeed::create);
  CLI::App& replace = add("replace", "another node in a member's place", GroupDeed::replace);
  name_old(replace);
  name_new(replace);
  name_new(add("add", "a member more", GroupDeed::add));
  name_old(add("remove", "a member less", GroupDeed::remove));
  CLI::App& rescue =
      add("rescue", "make the nodes named the group, as a quorum of its ledgers is lost",
          GroupDeed::rescue);
  rescue
      .add_option("--gone", options.group.gone,
                  "vouch that this member, an address or node id, never comes back")
      ->type_name("NODE");
  add_floor(rescue, options.group.floor);
}

void add_subcommands(CLI::App& app, Flags& flags, Options& options) {
  add_run(app, flags, options);
  CLI::App& acquire = *app.add_subcommand("acquire", "acquire a lock and print its value");
  add_name(acquire, options);
  add_ttl(acquire, flags);
  add_wait(acquire, flags, "none");
  for (const char* name : {"extend", "release"}) {
    CLI::App& subcommand = *app.add_subcommand(name, std::string(name) + " a lock by its value");
    add_name(subcommand, options);
    subcommand.add_option("--value", options.value, "its value; - reads it from standard input")
        ->type_name("V");
    if (std::string_view(name) == "extend") add_ttl(subcommand, flags);
  }
  add_name(*app.add_subcommand("holder", "who holds a lock"), options);
  app.add_subcommand("status", "the nodes and whether a quorum grants")
      ->add_flag("--watch", options.watch, "show it again each second");
  add_admit(app, options);
  add_group(app, options);
  CLI::App& up = *app.add_subcommand("up", "start nodes on this machine, for development");
  up.add_option("--count", options.up.count, "how many (5)")->check(CLI::Range(1, 64));
  up.add_option("--port", options.up.first_port, "the first one's port (7001)");
  up.add_option("--dir", options.up.folder, "where they keep their state (redlock-up)");
  up.add_option("--node-binary", options.up.node_program, "the redlock-node program");
  add_bench(app, flags, options);
  add_drills(app, flags, options);
}

constexpr std::array kSubcommands = {
    std::pair{"run", Subcommand::run},       std::pair{"acquire", Subcommand::acquire},
    std::pair{"extend", Subcommand::extend}, std::pair{"release", Subcommand::release},
    std::pair{"holder", Subcommand::holder}, std::pair{"status", Subcommand::status},
    std::pair{"admit", Subcommand::admit},   std::pair{"group", Subcommand::group},
    std::pair{"up", Subcommand::up},         std::pair{"drill", Subcommand::drill},
    std::pair{"bench", Subcommand::bench}};

std::optional<Subcommand> subcommand_of(const CLI::App& app) {
  for (const auto& [name, subcommand] : kSubcommands) {
    if (app.got_subcommand(name)) return subcommand;
  }
  return std::nullopt;
}

CommandLine failed(Mistake mistake_made) {
  CommandLine line;
  line.exit_code = mistake_made.exit_code;
  line.text = fmt::format("redlock: {}\n", mistake_made.text);
  return line;
}

void add_flags(const Flags& flags, GivenSettings& settings) {
  for (const auto& [name, value] : flags.values) {
    if (!value.empty()) settings.set(name, {value, "--" + name, true});
  }
  if (flags.no_fence) settings.set("no-fence", {"yes", "--no-fence", true});
  if (flags.unsafe_members) settings.set("unsafe-members", {"yes", "--unsafe-members", true});
}

bool names_a_lock(Subcommand subcommand) {
  return subcommand != Subcommand::status && subcommand != Subcommand::admit &&
         subcommand != Subcommand::group && subcommand != Subcommand::bench;
}

// Neither the file nor the environment has a say in what is drilled: nodes are killed.
CommandLine resolve_drill(const CLI::App& app, const Flags& flags, CommandLine line) {
  GivenSettings settings;
  add_flags(flags, settings);
  if (Problem problem = read_drill(app, settings, line)) return failed(*problem);
  return line;
}

CommandLine resolve(const CLI::App& app, const Flags& flags, CommandLine line) {
  const Subcommand subcommand = *line.subcommand;
  if (subcommand == Subcommand::up) return line;
  if (subcommand == Subcommand::drill) return resolve_drill(app, flags, std::move(line));
  if (names_a_lock(subcommand) && line.options.name.empty()) {
    return failed({exit_code::kUsage, "the lock's name is empty"});
  }
  if (subcommand == Subcommand::run && line.options.run.command.empty()) {
    return failed(
        {exit_code::kUsage, "no command: redlock run [OPTIONS] NAME [--] COMMAND [ARG…]"});
  }
  GivenSettings settings;
  if (Problem problem = read_file(flags.config, settings)) return failed(*problem);
  const char* nodes = std::getenv("REDLOCK_NODES");
  if (nodes != nullptr && *nodes != '\0') settings.set("nodes", {nodes, "REDLOCK_NODES"});
  add_flags(flags, settings);
  if (Problem problem = read_all(settings, flags.no_wait, line)) return failed(*problem);
  if (Problem problem = read_value(subcommand, line.options)) return failed(*problem);
  return line;
}

CommandLine parse(const std::vector<std::string>& words, CommandLine line) {
  Flags flags;
  CLI::App app("Redlock: one lock over several nodes", "redlock");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kExitCodes);
  add_common(app, flags, line.options);
  add_subcommands(app, flags, line.options);
  const std::vector<std::string> ours = split_off_command(app, words, line.options.run.command);
  try {
    app.parse(std::vector<std::string>(ours.rbegin(), ours.rend()));  // as CLI11 takes them
  } catch (const CLI::CallForVersion&) {
    line.text = version_line();
    return line;
  } catch (const CLI::CallForHelp&) {
    const std::string slip = slip_in(app, ours);
    if (!slip.empty()) return failed({exit_code::kUsage, slip + " (redlock --help)"});
    line.text = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    std::string why = no_drill_named(app);
    if (why.empty()) why = slip_in(app, ours);
    if (why.empty()) why = error.what();
    return failed({exit_code::kUsage, fmt::format("{} (redlock --help)", why)});
  }
  line.subcommand = subcommand_of(app);
  return resolve(app, flags, std::move(line));
}

// Of a command line that is wrong only its texts are known: the first that names a
// subcommand counts.
std::string failure_for_shell(const std::vector<std::string>& ours, int exit_code) {
  if (std::find(ours.begin(), ours.end(), "--json") != ours.end()) return {};
  for (const std::string& text : ours) {
    if (text == "acquire") return failure_line(Over::the_lock, exit_code);
    if (text == "extend") return failure_line(Over::the_subcommand, exit_code);
    const auto is_it = [&](const auto& named) { return text == named.first; };
    if (std::any_of(kSubcommands.begin(), kSubcommands.end(), is_it)) return {};
  }
  return {};
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  const std::vector<std::string> words(argv + 1, argv + argc);
  line = parse(words, std::move(line));
  if (line.exit_code != exit_code::kDone) {
    line.for_shell = failure_for_shell(words, line.exit_code);
  }
  return line;
}

}  // namespace redlock::coordinator
