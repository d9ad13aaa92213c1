#include "coordinator/drill/runs/command_process.h"

#include "base/net/turn/clock.h"
#include "base/text/number.h"
#include "coordinator/drill/runs/work_board.h"
#include "coordinator/drill/world/store_link.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace redlock::drill {
namespace {

constexpr Duration kBeatEvery = 2ms;
constexpr int kBeatsOfWrite = 12;  // a write to the store each

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void ignore_ends() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, SIG_IGN);
}

class CommandProcess {
 public:
  CommandProcess(WorkBoard board, std::size_t run, StoreWrite write, std::string store,
                 Duration length)
      : board_(std::move(board)),
        run_(run),
        write_(std::move(write)),
        store_(std::move(store)),
        until_(net::holder_now() + length),
        half_(net::holder_now() + length / 2) {}

  void be(CommandKind kind);

 private:
  bool goes_on(Instant until) const { return net::holder_now() < until && !board_.is_over(); }

  void work(Instant until, bool forks = false);
  void work_in_child(bool in_session);
  void leave_a_daemon();
  void write_until_blocked() const;

  WorkBoard board_;
  const std::size_t run_;
  const StoreWrite write_;
  const std::string store_;
  const Instant until_;
  const Instant half_;
};

void CommandProcess::be(CommandKind kind) {
  board_.begin(run_, write_.token);
  if (kind != CommandKind::plain && kind != CommandKind::blocked) ignore_ends();
  switch (kind) {
    case CommandKind::plain:
    case CommandKind::deaf:
      return work(until_);
    case CommandKind::sessions:
      for (int child = 0; child < 2; ++child) work_in_child(true);
      work(until_);
      break;
    case CommandKind::forking:
      return work(until_, true);
    case CommandKind::daemon:
      leave_a_daemon();
      return work(half_);
    case CommandKind::blocked:
      work_in_child(false);
      write_until_blocked();
      break;
  }
  while (wait(nullptr) > 0) continue;
}

// A store that is gone is a drill that is gone: nobody is left to work for. With `forks` the rest
// of the work is a child's, again and again.
void CommandProcess::work(Instant until, bool forks) {
  auto store = StoreLink::connect(store_);
  for (int beats = 1; store && goes_on(until); ++beats) {
    board_.beat(run_);
    if (beats % kBeatsOfWrite == 0) {
      if (!store.value().write(write_)) return;
      board_.beat(run_);
    }
    if (forks && fork() > 0) _exit(0);
    std::this_thread::sleep_for(kBeatEvery);
  }
}

void CommandProcess::work_in_child(bool in_session) {
  if (fork() != 0) return;
  ignore_ends();
  if (in_session) setsid();
  work(until_);
  _exit(0);
}

// As daemon(3) does it, but for the streams.
void CommandProcess::leave_a_daemon() {
  const pid_t first = fork();
  if (first == 0) {
    setsid();
    if (fork() == 0) work(until_);
    _exit(0);
  }
  waitpid(first, nullptr, 0);
}

// Where somebody reads it, it writes on: a line now and then.
void CommandProcess::write_until_blocked() const {
  constexpr std::string_view kLine = "at work\n";
  while (goes_on(until_) && write(STDOUT_FILENO, kLine.data(), kLine.size()) > 0) {
    std::this_thread::sleep_for(10 * kBeatEvery);
  }
}

}  // namespace

Status run_command_process(const CommandProcessSettings& settings) {
  auto board = WorkBoard::open(settings.board);
  if (!board) return board.error();
  if (settings.run >= board.value().runs()) return Failure{"the board has no such run"};
  const auto token = parse_int64(environment("REDLOCK_TOKEN"));
  StoreWrite write{.client = settings.hold.substr(0, settings.hold.find('/')),
                   .hold = settings.hold,
                   .lock = std::string(environment("REDLOCK_NAME")),
                   .token = static_cast<std::uint64_t>(token.value_or(0))};
  CommandProcess(std::move(board).value(), settings.run, std::move(write), settings.store,
                 settings.length)
      .be(settings.kind);
  return Done{};
}

}  // namespace redlock::drill
