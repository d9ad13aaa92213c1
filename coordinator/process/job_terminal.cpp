#include "coordinator/process/job_terminal.h"

#include "base/net/process/signals_blocked.h"

#include <unistd.h>

namespace redlock::coordinator {

using net::SignalsBlocked;

namespace {

constexpr int kTerminal = STDIN_FILENO;

std::optional<termios> read_modes() {
  termios modes{};
  if (tcgetattr(kTerminal, &modes) != 0) return std::nullopt;
  return modes;
}

// At once: waiting until output has drained could take for ever (Ctrl-S), and the lock waits too.
void write_modes(const std::optional<termios>& modes) {
  if (modes) tcsetattr(kTerminal, TCSANOW, &*modes);
}

}  // namespace

JobTerminal::JobTerminal() : exists_(isatty(kTerminal) == 1), ours_(read_modes()) {}

bool JobTerminal::is_ours() const {
  return exists_ && tcgetpgrp(kTerminal) == getpgrp();
}

void JobTerminal::lend(pid_t group) {
  const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
  write_modes(the_commands_);
  tcsetpgrp(kTerminal, group);
  lent_ = true;
}

void JobTerminal::take_back(Modes modes) {
  if (!lent_) return;
  lent_ = false;
  // SIGTTOU, as we are in the background now.
  const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
  tcsetpgrp(kTerminal, getpgrp());
  the_commands_ = read_modes();
  if (modes == Modes::restore) write_modes(ours_);
}

}  // namespace redlock::coordinator
