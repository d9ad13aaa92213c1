// What the parsers of the subcommands share: mistakes, flags on their way to settings, and the
// settings that many subcommands have. For command_line*.cpp alone.
#pragma once

#include "coordinator/cli/options.h"
#include "coordinator/cli/settings_file.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace redlock::coordinator {

// A mistake, with the exit code that it earns.
struct Mistake {
  int exit_code;
  std::string text;
};
using Problem = std::optional<Mistake>;

// A usage error if it was a flag, else one of the configuration.
Mistake mistake(const GivenSetting& setting, std::string_view text);

// CLI11's options write here; what the file may also say goes through GivenSettings.
struct Flags {
  std::string config;
  bool no_wait = false;
  bool no_fence = false;
  bool unsafe_members = false;
  std::vector<std::string> listen;      // serve
  std::vector<std::string> listen_tls;  // serve
  std::string page;                     // status --http
  std::map<std::string, std::string> values;
  std::multimap<std::string, const CLI::Option*> options;  // of several subcommands, by setting

  bool is_given(const std::string& name) const;
};

// `names` as CLI11 has them ("-w,--wait"), `name` as the file does.
CLI::Option* add_setting(CLI::App& app, Flags& flags, const std::string& names,
                         const std::string& name, const std::string& help, const std::string& type);

// Each leaves the value as it is where the setting is not given.
Problem read_duration(const GivenSettings& settings, std::string_view name, Duration& value);
// --for: how long a bench or a drill goes on.
Problem read_length(const GivenSettings& settings, Duration& length);
// As the file has a value for everything, a flag that is given stands for `yes`.
Problem read_yes_no(const GivenSettings& settings, std::string_view name, bool& is_yes);
Problem read_drift(const GivenSettings& settings, double& drift);
Problem read_nodes(const GivenSettings& settings, CommandLine& line);
// The first line of the file that a setting names; where neither it nor a password is given, of the
// credential that systemd has put there for this unit.
Problem read_password_file(const GivenSettings& settings, std::string_view name,
                           std::string_view credential_name, std::string& password);
// What depends on more than one setting.
Problem check_times(const GivenSettings& settings, Options& options);

// Ours of the words, without the command of `run` and its `--`: the command begins behind `--`, or
// with the first word behind the name. `help WORD` becomes `WORD --help`.
std::vector<std::string> split_off_command(const CLI::App& app, std::vector<std::string> words,
                                           std::vector<std::string>& command);
// Writes stars over the passwords of --nodes, and over --value and --requirepass, so that no list
// of processes shows them any longer.
void hide_secrets(std::span<char*> words);
// After a mistake: a sentence about the first subcommand or option that there is not, with what may
// have been meant; empty if it is another mistake.
std::string slip_in(const CLI::App& app, const std::vector<std::string>& words);

// The options of all subcommands, and the subcommands with theirs.
void add_common(CLI::App& app, Flags& flags, Options& options);
void add_subcommands(CLI::App& app, Flags& flags, Options& options);

// What a file and the environment say; flags go over it.
Problem read_file(const std::string& given, GivenSettings& settings);
void read_environment(GivenSettings& settings);
Problem read_all(const GivenSettings& settings, const Flags& flags, CommandLine& line);
// The lock's, of extend and release.
Problem read_value(Subcommand subcommand, Options& options);

// Of the subcommand that was named, or of the whole.
std::string help_text(const CLI::App& app);

// `redlock bench`: its options, and what of them needs a look.
void add_bench(CLI::App& app, Flags& flags, Options& options);
Problem read_bench(const GivenSettings& settings, Options& options);

// `redlock serve`: its options, and what was asked for.
void add_status(CLI::App& app, Flags& flags, Options& options);
void add_serve(CLI::App& app, Flags& flags, Options& options);
Problem read_serve(const GivenSettings& settings, Options& options);

// `redlock drill …`: its drills and their options, and what was asked for.
void add_drills(CLI::App& app, Flags& flags, Options& options);
// After a mistake: a sentence that names the drills, if `drill` was followed by none of them.
std::string no_drill_named(const CLI::App& app);
Problem read_drill(const CLI::App& app, const GivenSettings& settings, CommandLine& line);

}  // namespace redlock::coordinator
