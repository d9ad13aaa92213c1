// redlock status: a table of the nodes, from what they tell of themselves, what is wrong, and a
// verdict; once, or again each second until q.
#include "base/net/terminal_keys.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "coordinator/cli/output.h"
#include "coordinator/commands/commands.h"
#include "coordinator/commands/session.h"
#include "coordinator/health/group_verdict.h"
#include "coordinator/health/status_table.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using States = std::vector<NodeState>;

constexpr Duration kWatchInterval = 1s;

bool is_terminal() {
  return isatty(STDOUT_FILENO) != 0;
}

bool wants_colours() {
  return is_terminal() && std::getenv("NO_COLOR") == nullptr;
}

int exit_code_of(GroupVerdict::Level level) {
  switch (level) {
    case GroupVerdict::Level::well:
      return exit_code::kDone;
    case GroupVerdict::Level::degraded:
      return exit_code::kNo;
    case GroupVerdict::Level::down:
      return exit_code::kGroupDown;
    case GroupVerdict::Level::denied:
      return exit_code::kDenied;
    case GroupVerdict::Level::wrong_list:
      return exit_code::kConfiguration;
  }
  return exit_code::kGroupDown;
}

// What is wrong stands between the table and the verdict, which is the last line.
std::string text_of(const States& states, const GroupVerdict& verdict) {
  std::string text = status_table(states, wants_colours());
  const bool any_answers = std::any_of(states.begin(), states.end(), answers);
  if (any_answers && !is_wrong_list(states)) text += roster_note(states) + "\n";
  if (const std::string lines = lines_note(states); !lines.empty()) text += lines + "\n";
  for (const std::string& note : verdict.notes) text += note + "\n";
  return text + verdict.text + "\n";
}

std::string time_line() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}\n", fmt::localtime(std::time(nullptr)));
}

// In place of what a terminal shows already, line by line, so that nothing flickers.
std::string drawn_over(std::string_view text, std::string_view last_line) {
  std::string drawn = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') drawn += "\x1b[K";
    drawn += c;
  }
  return drawn + std::string(last_line) + "\x1b[J";
}

class StatusCommand {
 public:
  StatusCommand(const Options& options, CommandSession& session)
      : options_(options),
        session_(session),
        again_(session.loop(), net::ClockKind::monotonic, [this] { look(); }) {}

  int run() {
    if (options_.watch) begin_watching();
    return session_.run([this] { look(); });
  }

 private:
  void begin_watching() {
    if (is_terminal()) {
      print_out("\x1b[H\x1b[2J");
      keys_.emplace(session_.loop(), [this](char key) { on_key(key); });
    }
    session_.on_interrupt([this](int number) { end(exit_code::of_signal(number)); });
  }

  void on_key(char key) {
    if (key == 'q' || key == 'Q' || key == net::TerminalKeys::kEndKey) end(last_);
  }

  void end(int exit_code) {
    if (is_terminal()) print_out("\r\x1b[K");
    session_.finish(exit_code);
  }

  void look() {
    session_.client().status([this](const Result<States, Error>& result) {
      if (!result) return;  // it ends
      show(result.value());
      if (!options_.watch) return session_.finish(last_);
      if (!flush_output()) return session_.finish(exit_code::kOutput);
      again_.set(later(net::read_clock(net::ClockKind::monotonic), kWatchInterval));
    });
  }

  void show(const States& states) {
    const GroupVerdict verdict = judge_group(states, options_.client.unsafe_members);
    last_ = exit_code_of(verdict.level);
    if (options_.json) {
      JsonObject told = status_object(states, verdict);
      told.add("exit_code", last_);
      print_out("{}\n", told.text());
    } else if (!options_.watch) {
      print_text(text_of(states, verdict));
    } else {
      const std::string text = time_line() + text_of(states, verdict);
      print_text(is_terminal() ? drawn_over(text, "q: quit") : text + "\n");
    }
  }

  const Options& options_;
  CommandSession& session_;
  net::Timer again_;
  std::optional<net::TerminalKeys> keys_;
  int last_ = exit_code::kGroupDown;
};

}  // namespace

int command_status(const Options& options, CommandSession& session) {
  StatusCommand status(options, session);
  return status.run();
}

}  // namespace redlock::coordinator
