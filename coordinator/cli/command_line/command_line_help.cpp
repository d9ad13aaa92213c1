// What --help says. A subcommand's help is whole by itself: its usage, its options and those of
// all, and the exit codes that it can end with.
#include "coordinator/cli/command_line/command_line_parts.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

constexpr std::string_view kForms =
    "Durations need a unit: 500ms, 30s, 1.5s, 5m, 1h (but for 0).\n"
    "Nodes: --nodes, REDLOCK_NODES, or `nodes` in /etc/redlock/redlock.conf;\n"
    "       redis://[user:password@]host:port, rediss://… for TLS, or unix:///path,\n"
    "       separated by commas.\n"
    "Password, of nodes that are named without one: --password-file,\n"
    "       REDLOCK_PASSWORD_FILE or REDLOCK_PASSWORD.\n";

// Subcommands, each between two blanks.
constexpr std::string_view kAll = "";
constexpr std::string_view kOverNodes =
    " run hold acquire extend release holder list status admit group bench serve ";
constexpr std::string_view kForALock = " run hold acquire ";

struct ExitCode {
  std::string_view code;
  std::string_view subcommands;
  std::string_view meaning;
};

constexpr std::array kExitCodes = {
    ExitCode{"0", " run ", "the command's own; 128+N if signal N ended it"},
    ExitCode{"0", " hold ", "a signal ended it, and the lock was released"},
    ExitCode{"0", " acquire extend release group bench ", "done"},
    ExitCode{"0", " holder ", "it is held"},
    ExitCode{"0", " list ", "done, also if nothing is held"},
    ExitCode{"0", " status ", "all is well"},
    ExitCode{"0", " admit ", "every node that answered is fenced"},
    ExitCode{"0", " up ", "ended by Ctrl-C"},
    ExitCode{"0", " serve ", "ended by a signal"},
    ExitCode{"0", " drill ", "it went as told"},
    ExitCode{"1", " extend release ", "not this holder's"},
    ExitCode{"1", " holder ", "it is free"},
    ExitCode{"1", " status ", "locks are given, but a node is down or differs"},
    ExitCode{"1", " admit ", "some stay unfenced"},
    ExitCode{"1", " group ", "refused, with a reason per node"},
    ExitCode{"1", " up ", "a node or the front door died"},
    ExitCode{"1", " serve ", "it cannot listen"},
    ExitCode{"1", " drill ", "it did not go as told, or check found something"},
    ExitCode{"2", " status ", "no quorum grants fenced locks"},
    ExitCode{"64", kAll, "usage"},
    ExitCode{"65", " drill ", "check: this is no history"},
    ExitCode{"69", kForALock,
             "no quorum of nodes, or none that gives tokens; a command never started"},
    ExitCode{"69", " extend release holder list admit group bench ", "no quorum of nodes"},
    ExitCode{"69", " serve ", "no quorum of nodes, with --require-quorum"},
    ExitCode{"74", " acquire ", "what it got could not be printed, and was released"},
    ExitCode{"74", " extend ", "what it did could not be printed"},
    ExitCode{"74", " holder list status group ", "what it tells could not be printed"},
    ExitCode{"75", kForALock,
             "held by another, or the wait ran out; a command never started (see -E)"},
    ExitCode{"77", kOverNodes, "a quorum of nodes refuses the password"},
    ExitCode{"77", " drill ", "not on this machine"},
    ExitCode{"78", kOverNodes, "configuration; other nodes than those of the group"},
    ExitCode{"78", kForALock,
             "what waiting cannot change: a TTL above the nodes' max-ttl, a name that is too long"},
    ExitCode{"121", " run ", "the lock was lost, the command was stopped (see -L)"},
    ExitCode{"121", " hold ", "the lock was lost (see -L)"},
    ExitCode{"122", " run hold ", "the release could not be confirmed"},
    ExitCode{"122", " run ",
             "a process of the command could not be ended, and the lock was not released"},
    ExitCode{"124", " run ", "the command was stopped after --max-hold"},
    ExitCode{"124", " hold ", "released after --max-hold"},
    ExitCode{"126", " run ", "the command could not be executed"},
    ExitCode{"126", " hold ", "the system gives no thread"},
    ExitCode{"127", " run ", "the command was not found"},
};

constexpr std::size_t kColumns = 80;

// The text in lines of so many columns, of which all but the first begin with blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_first = column == indent;
    if (!is_first && column + 1 + word.size() > kColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// What an option does begins at this column, and goes on below it where a line is full.
std::string fitted(const std::string& help) {
  constexpr std::size_t kIndent = 30;
  std::string text;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find('\n', at), help.size());
    const std::string_view line(help.data() + at, end - at);
    const bool is_too_wide = line.size() > kColumns && line.starts_with("  ");
    text += line.substr(0, is_too_wide ? kIndent : line.size());
    if (is_too_wide) text += wrapped(line.substr(kIndent), kIndent);
    text += '\n';
    at = end + 1;
  }
  return text;
}

// " run hold " → "run, hold: "
std::string prefix_of(std::string_view subcommands) {
  std::string names;
  for (const char c : subcommands) names += c == ' ' ? std::string(", ") : std::string(1, c);
  return names.size() < 4 ? "" : names.substr(2, names.size() - 4) + ": ";
}

// Of one subcommand; empty: of all, which are named then.
std::string exit_codes(const std::string& subcommand) {
  constexpr std::size_t kIndent = 7;
  std::string text = "Exit codes:\n";
  std::string_view last;
  for (const ExitCode& row : kExitCodes) {
    const bool is_of_all = row.subcommands == kAll || row.subcommands == kOverNodes;
    const bool is_its = row.subcommands.find(" " + subcommand + " ") != std::string_view::npos;
    if (!subcommand.empty() && !is_its && row.subcommands != kAll) continue;
    const std::string prefix =
        subcommand.empty() && !is_of_all ? prefix_of(row.subcommands) : std::string();
    text += fmt::format("  {:<{}}{}\n", row.code == last ? "" : row.code, kIndent - 2,
                        wrapped(prefix + std::string(row.meaning), kIndent));
    last = row.code;
  }
  return text;
}

// The subcommand whose help is asked for: of `group` and `drill` one of theirs, if it is named.
const CLI::App* deepest(const CLI::App& app) {
  const CLI::App* found = &app;
  while (!found->get_subcommands().empty()) found = found->get_subcommands().front();
  return found;
}

std::string path_of(const CLI::App* app) {
  const CLI::App* const parent = app->get_parent();
  return parent == nullptr ? app->get_name() : path_of(parent) + " " + app->get_name();
}

// Below the root: `run`, `group` …
std::string word_of(const CLI::App* app) {
  while (app->get_parent()->get_parent() != nullptr) app = app->get_parent();
  return app->get_name();
}

// The root's, within the help of a subcommand, some of which have a -v of their own.
std::string options_of_all(const CLI::App& app) {
  std::string text = CLI::Formatter().make_groups(&app, CLI::AppFormatMode::Sub);
  const auto put = [&text](std::string_view is, std::string_view to_be) {
    const std::size_t at = text.find(is);
    if (at != std::string::npos) text.replace(at, is.size(), to_be);
  };
  put("\nOptions:", "\nOptions of all subcommands:");
  put("-v,--version", "--version   ");
  return text;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  const CLI::App* const subcommand = deepest(app);
  if (subcommand == &app) {
    return fitted(app.help()) + "redlock help SUBCOMMAND: its options and exit codes\n\n" +
           exit_codes("") + "\n" + std::string(kForms);
  }
  const CLI::Formatter form;
  std::string usage = form.make_usage(subcommand, path_of(subcommand));
  if (path_of(subcommand) == "redlock run") {
    usage.insert(usage.find_last_not_of('\n') + 1, " -- COMMAND [ARG…]");
  }
  return fitted(form.make_description(subcommand) + usage + form.make_positionals(subcommand) +
                form.make_groups(subcommand, CLI::AppFormatMode::Normal) +
                form.make_subcommands(subcommand, CLI::AppFormatMode::Normal) +
                options_of_all(app)) +
         "\n" + exit_codes(word_of(subcommand)) + "\n" + std::string(kForms);
}

}  // namespace redlock::coordinator
