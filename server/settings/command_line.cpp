#include "server/settings/command_line.h"

#include "base/text/number.h"
#include "base/text/quoted_words.h"
#include "base/text/words.h"
#include "base/token.h"
#include "server/settings/setting_table.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

using Deed = NodeCommandLine::Deed;

constexpr std::string_view kTryHelp = "; see redlock-node --help";

struct Flag {
  std::string name;
  std::vector<std::string> words;
};

// The arguments, sorted out but not yet applied: flags come last wherever they stand.
struct Arguments {
  Deed deed = Deed::run;
  std::uint64_t floor = 0;
  std::string file;
  bool standard_input = false;
  std::vector<Flag> flags;
};

bool is_flag(std::string_view argument) {
  return argument.starts_with("--");
}

class ArgumentReader {
 public:
  explicit ArgumentReader(std::span<const std::string> arguments) : rest_(arguments) {}

  Result<Arguments> read() {
    while (!rest_.empty()) {
      const std::string argument = take();
      if (argument == "-v" || argument == "--version") return asking(Deed::show_version);
      if (argument == "-h" || argument == "--help") return asking(Deed::show_help);
      const Status taken = take_argument(argument);
      if (!taken) return taken.error();
    }
    return std::move(read_);
  }

 private:
  static Arguments asking(Deed deed) {
    Arguments only;
    only.deed = deed;
    return only;
  }

  Status take_argument(const std::string& argument) {
    if (argument == "-") {
      read_.standard_input = true;
      return Done{};
    }
    if (argument == "--bootstrap") return take_bootstrap();
    if (is_flag(argument)) return take_flag(argument);
    if (argument.starts_with('-')) {
      return Failure{fmt::format("'{}' is not an option: settings are given as --name value{}",
                                 argument, kTryHelp)};
    }
    if (taken_ > 1) {
      return Failure{fmt::format("'{}': the configuration file comes first, before all flags{}",
                                 argument, kTryHelp)};
    }
    read_.file = argument;
    return Done{};
  }

  // A deed, with the floor when a number follows.
  Status take_bootstrap() {
    read_.deed = Deed::bootstrap;
    if (rest_.empty() || rest_.front().starts_with('-')) return Done{};
    const std::string word = take();
    const auto floor = parse_int64(word);
    if (!floor || *floor > static_cast<std::int64_t>(kTokenMax)) {
      return Failure{
          fmt::format("--bootstrap '{}': the floor is the largest token that the group gave, a "
                      "number from 0 to {}; leave it out for a new group",
                      word, kTokenMax)};
    }
    read_.floor = static_cast<std::uint64_t>(*floor);
    return Done{};
  }

  Status take_flag(const std::string& argument) {
    // "--port 7001" as one argument; else the whole argument is the name.
    auto words = split_quoted_words(std::string_view(argument).substr(2));
    if (!words || words->empty()) {
      return Failure{fmt::format("'{}' is not an option{}", argument, kTryHelp)};
    }
    Flag flag{words->front(), {words->begin() + 1, words->end()}};
    if (flag.words.empty() && !rest_.empty() && is_value_of(flag.name))
      flag.words.push_back(take());
    while (!rest_.empty() && !is_flag(rest_.front()) && !is_last_dash())
      flag.words.push_back(take());
    read_.flags.push_back(std::move(flag));
    return Done{};
  }

  // Whether the next argument is the flag's value though it may start with "--". As Redis has it,
  // `--save --port 7001` is an empty save.
  bool is_value_of(std::string_view name) const {
    return !is_last_dash() && !(is_flag(rest_.front()) && equals_ignoring_case(name, "save"));
  }

  // A '-' at the very end is standard input, not a value.
  bool is_last_dash() const { return rest_.size() == 1 && rest_.front() == "-"; }

  std::string take() {
    ++taken_;
    std::string argument = rest_.front();
    rest_ = rest_.subspan(1);
    return argument;
  }

  std::span<const std::string> rest_;
  std::size_t taken_ = 0;
  Arguments read_;
};

// Redis's `--save` without a word means an empty one.
void complete(Flag& flag) {
  if (flag.words.empty() && equals_ignoring_case(flag.name, "save")) flag.words.emplace_back();
}

// What systemd has put there for this unit alone: LoadCredential=requirepass:FILE. Empty: nothing.
std::string credential(const ConfigurationInput& input) {
  constexpr std::string_view kVariable = "CREDENTIALS_DIRECTORY=";
  for (const std::string& entry : input.environment) {
    if (!entry.starts_with(kVariable)) continue;
    const std::string path = entry.substr(kVariable.size()) + "/requirepass";
    if (input.has_file && input.has_file(path)) return path;
  }
  return {};
}

// A password that stands in a file of its own: its first line.
Status read_password(const ConfigurationInput& input, Settings& settings) {
  std::string path = settings.requirepass_file;
  if (!path.empty() && !settings.requirepass.empty()) {
    return Failure{"requirepass and requirepass-file contradict each other: name one"};
  }
  if (!settings.requirepass.empty()) return Done{};
  if (path.empty()) path = credential(input);
  if (path.empty()) return Done{};
  const auto text = input.read_file(path);
  if (!text)
    return Failure{fmt::format("the password cannot be read from {}: {}", path, text.error().text)};
  settings.requirepass = text.value().substr(0, text.value().find_first_of("\r\n"));
  if (!settings.requirepass.empty()) return Done{};
  return Failure{fmt::format("{}: the first line, which is the password, is empty", path)};
}

Status read_sources(Arguments& arguments, const ConfigurationInput& input,
                    Configuration& configuration) {
  if (!arguments.file.empty()) {
    Status file = read_config_file(arguments.file, input.read_file, configuration);
    if (!file) return file;
  }
  Status environment = read_environment(input.environment, input.read_file, configuration);
  if (!environment) return environment;
  if (arguments.standard_input) {
    const auto text = input.read_standard_input();
    if (!text) return Failure{fmt::format("standard input cannot be read: {}", text.error().text)};
    Status read = read_config_text(text.value(), "standard input", input.read_file, configuration);
    if (!read) return read;
  }
  for (Flag& flag : arguments.flags) {
    complete(flag);
    Status applied = apply_flag(flag.name, flag.words, input.read_file, configuration);
    if (!applied) return applied;
  }
  Status password = read_password(input, configuration.settings);
  return password ? check(configuration.settings) : password;
}

}  // namespace

Result<NodeCommandLine> read_command_line(std::span<const std::string> arguments,
                                          const ConfigurationInput& input) {
  auto sorted = ArgumentReader(arguments).read();
  if (!sorted) return sorted.error();
  NodeCommandLine line;
  line.deed = sorted.value().deed;
  line.bootstrap_floor = sorted.value().floor;
  line.config_file = sorted.value().file;
  if (line.deed == Deed::show_version || line.deed == Deed::show_help) return line;
  const Status read = read_sources(sorted.value(), input, line.configuration);
  if (!read) return read.error();
  return line;
}

std::string_view help_text() {
  return R"(redlock-node: a lock node that speaks the Redis protocol

Usage: redlock-node [FILE] [--name value ...] [-]
       redlock-node [FILE] --bootstrap [FLOOR] [--name value ...]
       redlock-node -v | --version
       redlock-node -h | --help

FILE is written like redis.conf; `-` reads more of it from standard input. Every
setting is a flag, too, and a variable: REDLOCK_NODE_MAX_TTL=10s. Flags win over
standard input, that over variables, and those over the file.

  --port 6379               where clients connect
  --bind 127.0.0.1 -::1     at which addresses; others need a password as well
  --requirepass-file FILE   what clients must say (AUTH) before anything else
  --dir FOLDER              state of this node alone (./redlock-node-PORT)
  --max-ttl 65s             the longest time a lock can be asked for
  --require-ttl yes         a key without a TTL is refused
  --clock-drift 0.01        how much faster one clock of the group may run
  --restart-delay auto      how long a restarted node grants nothing
  --loglevel notice         debug, verbose, notice, warning
  --supervised no           systemd: tell it when the node is ready

A duration is a number of milliseconds, or 30s, 5m, 1h. The rest, with what each
setting is for, stands in redlock-node.conf.

--bootstrap makes the folder's ledger for a node of a NEW group and exits: you
vouch that none of its locks is live and that it never gave a token (or none
above FLOOR). Without it a first start waits as if it had lost its memory. Never
use it for a node that replaces another.

Examples:
  redlock-node --bootstrap --port 7001 && redlock-node --port 7001
  redlock-node /etc/redlock/a.conf --loglevel debug
  echo "requirepass secret" | redlock-node --port 7001 -
)";
}

}  // namespace redlock::server
