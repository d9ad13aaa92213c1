#include "base/version.h"
#include "coordinator/cli/command_line/command_line_parts.h"
#include "coordinator/cli/shell_lines.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

std::string version_line() {
  return fmt::format("redlock {}\n", kRedlockVersion);
}

constexpr std::array kSubcommands = {
    std::pair{"run", Subcommand::run},         std::pair{"acquire", Subcommand::acquire},
    std::pair{"hold", Subcommand::hold},       std::pair{"extend", Subcommand::extend},
    std::pair{"release", Subcommand::release}, std::pair{"holder", Subcommand::holder},
    std::pair{"list", Subcommand::list},       std::pair{"status", Subcommand::status},
    std::pair{"admit", Subcommand::admit},     std::pair{"group", Subcommand::group},
    std::pair{"up", Subcommand::up},           std::pair{"drill", Subcommand::drill},
    std::pair{"bench", Subcommand::bench},     std::pair{"serve", Subcommand::serve}};

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
    if (flags.is_given(name)) settings.set(name, {value, "--" + name, true});
  }
  const auto add_places = [&](const char* name, const std::vector<std::string>& addresses) {
    std::string all;
    for (const std::string& address : addresses) all += address + ' ';
    if (!all.empty()) settings.set(name, {all, fmt::format("--{}", name), true});
  };
  add_places("listen", flags.listen);
  add_places("listen-tls", flags.listen_tls);
  if (flags.no_fence) settings.set("no-fence", {"yes", "--no-fence", true});
  if (flags.unsafe_members) settings.set("unsafe-members", {"yes", "--unsafe-members", true});
}

bool names_a_lock(Subcommand subcommand) {
  return subcommand != Subcommand::list && subcommand != Subcommand::status &&
         subcommand != Subcommand::admit && subcommand != Subcommand::group &&
         subcommand != Subcommand::bench && subcommand != Subcommand::serve;
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
  read_environment(settings);
  add_flags(flags, settings);
  if (Problem problem = read_all(settings, flags, line)) return failed(*problem);
  if (Problem problem = read_value(subcommand, line.options)) return failed(*problem);
  return line;
}

// Where a word is missing, an option may have taken it for its duration: `run -w job -- make`.
std::string word_taken_for_duration(const Flags& flags) {
  for (const char* name : {"wait", "ttl", "max-hold", "kill-after", "node-timeout"}) {
    if (!flags.is_given(name)) continue;
    GivenSettings settings;
    settings.set(name, {flags.values.at(name), fmt::format("--{}", name), true});
    Duration ignored{};
    if (const Problem problem = read_duration(settings, name, ignored)) return problem->text;
  }
  return {};
}

CommandLine parse(const std::vector<std::string>& words, CommandLine line) {
  Flags flags;
  CLI::App app("Redlock: one lock over several nodes", "redlock");
  app.require_subcommand(1);
  app.fallthrough();
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
    line.text = help_text(app);
    return line;
  } catch (const CLI::ParseError& error) {
    std::string why = no_drill_named(app);
    if (why.empty()) why = slip_in(app, ours);
    if (why.empty()) why = word_taken_for_duration(flags);
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

// What stands before the command of `run`, which gets its words as they are.
std::size_t own_words(const CommandLine& line, int argc) {
  return static_cast<std::size_t>(argc) - line.options.run.command.size();
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  const std::vector<std::string> words(argv + 1, argv + argc);
  line = parse(words, std::move(line));
  if (line.exit_code != exit_code::kDone) {
    line.for_shell = failure_for_shell(words, line.exit_code);
  }
  hide_secrets(std::span(argv, static_cast<std::size_t>(argc)).first(own_words(line, argc)));
  return line;
}

}  // namespace redlock::coordinator
