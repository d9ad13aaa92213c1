// Settings of the command line, of the environment and of a file, on their way into Options.
#include "base/label.h"
#include "base/net/text_file.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "coordinator/cli/command_line/command_line_parts.h"

#include <array>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <pwd.h>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

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

Problem read_wait(const GivenSettings& settings, const Flags& flags, Subcommand subcommand,
                  std::optional<Duration>& wait) {
  if (flags.no_wait && flags.is_given("wait")) {
    return Mistake{exit_code::kUsage, "--no-wait and --wait contradict each other: name one"};
  }
  const bool is_for_ever = subcommand == Subcommand::run || subcommand == Subcommand::hold;
  if (is_for_ever) wait = std::nullopt;
  if (Problem problem = read_optional_duration(settings, "wait", wait)) return problem;
  if (flags.no_wait) wait = Duration(0);
  return {};
}

// 0 is none: a script has a value for everything.
Problem read_max_hold(const GivenSettings& settings, std::optional<Duration>& max_hold) {
  if (Problem problem = read_optional_duration(settings, "max-hold", max_hold)) return problem;
  if (max_hold == Duration(0)) max_hold = std::nullopt;
  return {};
}

// The first line of a file, or the variable's text: for nodes that are named without one.
Problem read_password(const GivenSettings& settings, std::string& password) {
  if (const GivenSetting* text = settings.find("password")) password = text->value;
  return read_password_file(settings, "password-file", "nodes-password", password);
}

void read_text(const GivenSettings& settings, std::string_view name, std::string& text) {
  if (const GivenSetting* setting = settings.find(name)) text = setting->value;
}

// "backup@web3:4711 rsync": whom to ask. An `acquire` is over before anybody asks, so the process
// that called it stands for the holder.
std::string own_label(const CommandLine& line) {
  const passwd* user = getpwuid(geteuid());
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string_view name(host.data());
  std::string label =
      fmt::format("{}@{}:{}", user != nullptr ? user->pw_name : std::to_string(geteuid()),
                  name.substr(0, name.find('.')),
                  line.subcommand == Subcommand::acquire ? getppid() : getpid());
  const std::vector<std::string>& command = line.options.run.command;
  if (!command.empty()) label += " " + std::filesystem::path(command[0]).filename().string();
  return label.substr(0, kLabelBytesMax);
}

Problem read_label(const GivenSettings& settings, CommandLine& line) {
  const Subcommand subcommand = *line.subcommand;
  const bool acquires = subcommand == Subcommand::run || subcommand == Subcommand::hold ||
                        subcommand == Subcommand::acquire;
  if (!acquires) return {};
  const GivenSetting* setting = settings.find("label");
  line.options.client.label = setting != nullptr ? setting->value : own_label(line);
  if (line.options.client.label.size() <= kLabelBytesMax) return {};
  return mistake(*setting, fmt::format("a label has at most {} bytes", kLabelBytesMax));
}

// What systemd has put there for this unit alone: LoadCredential=NAME:FILE.
std::optional<GivenSetting> credential(std::string_view name) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr) return std::nullopt;
  std::string path = fmt::format("{}/{}", folder, name);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return GivenSetting{std::move(path), fmt::format("the credential {}", name)};
}

}  // namespace

Problem read_yes_no(const GivenSettings& settings, std::string_view name, bool& is_yes) {
  const GivenSetting* setting = settings.find(name);
  if (setting == nullptr) return {};
  is_yes = equals_ignoring_case(setting->value, "yes");
  if (is_yes || equals_ignoring_case(setting->value, "no")) return {};
  return mistake(*setting, fmt::format("'{}' is neither yes nor no", setting->value));
}

Problem read_password_file(const GivenSettings& settings, std::string_view name,
                           std::string_view credential_name, std::string& password) {
  const GivenSetting* file = settings.find(name);
  std::optional<GivenSetting> of_unit;
  if (file == nullptr && password.empty()) of_unit = credential(credential_name);
  if (of_unit) file = &*of_unit;
  if (file == nullptr) return {};
  const auto text = net::read_text_file(file->value);
  if (!text) {
    return mistake(*file, fmt::format("{} cannot be read: {}", file->value, text.error().text));
  }
  password = text.value().substr(0, text.value().find_first_of("\r\n"));
  if (!password.empty()) return {};
  return mistake(*file,
                 fmt::format("{}: the first line, which is the password, is empty", file->value));
}

void read_environment(GivenSettings& settings) {
  constexpr std::array kVariables = {std::pair{"REDLOCK_NODES", "nodes"},
                                     std::pair{"REDLOCK_PASSWORD", "password"},
                                     std::pair{"REDLOCK_TLS_CA", "tls-ca"},
                                     std::pair{"REDLOCK_PASSWORD_FILE", "password-file"},
                                     std::pair{"REDLOCK_REQUIREPASS_FILE", "requirepass-file"},
                                     std::pair{"REDLOCK_TLS_CERT", "tls-cert"},
                                     std::pair{"REDLOCK_TLS_KEY", "tls-key"}};
  for (const auto& [variable, name] : kVariables) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') settings.set(name, {value, variable});
  }
}

Problem read_all(const GivenSettings& settings, const Flags& flags, CommandLine& line) {
  Options& options = line.options;
  if (options.quiet && options.verbose) {
    return Mistake{exit_code::kUsage, "--quiet and --verbose contradict each other: name one"};
  }
  if (Problem problem = read_nodes(settings, line)) return problem;
  if (Problem problem = read_password(settings, options.client.password)) return problem;
  read_text(settings, "tls-ca", options.client.tls_ca);
  read_text(settings, "tls-cert", options.client.tls_cert);
  read_text(settings, "tls-key", options.client.tls_key);
  if (Problem problem = read_label(settings, line)) return problem;
  if (Problem problem = read_duration(settings, "node-timeout", options.client.node_timeout)) {
    return problem;
  }
  if (Problem problem = read_drift(settings, options.client.clock_drift)) return problem;
  if (Problem problem = read_yes_no(settings, "unsafe-members", options.client.unsafe_members)) {
    return problem;
  }
  if (*line.subcommand == Subcommand::serve) return read_serve(settings, options);
  if (Problem problem = read_duration(settings, "ttl", options.ttl)) return problem;
  if (Problem problem = read_wait(settings, flags, *line.subcommand, options.wait)) return problem;
  bool no_fence = false;
  if (Problem problem = read_yes_no(settings, "no-fence", no_fence)) return problem;
  options.fence = !no_fence;
  if (Problem problem = read_max_hold(settings, options.run.max_hold)) return problem;
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

}  // namespace redlock::coordinator
