#include "base/net/terminal_keys.h"

#include <csignal>
#include <unistd.h>
#include <utility>

namespace redlock::net {
namespace {

constexpr int kTerminal = STDIN_FILENO;

bool is_ours() {
  return tcgetpgrp(kTerminal) == getpgrp();
}

}  // namespace

TerminalKeys::TerminalKeys(Loop& loop, std::function<void(char)> on_key)
    : on_key_(std::move(on_key)) {
  termios modes{};
  if (tcgetattr(kTerminal, &modes) != 0 || !is_ours()) return;
  found_ = modes;
  take();
  input_ = std::make_unique<Readable>(loop, kTerminal, [this] { read(); });
  continued_ = std::make_unique<Signal>(loop, SIGCONT, [this] { take(); });
}

TerminalKeys::~TerminalKeys() {
  if (found_ && is_ours()) tcsetattr(kTerminal, TCSANOW, &*found_);
}

void TerminalKeys::take() {
  if (!is_ours()) return;
  termios modes = *found_;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  tcsetattr(kTerminal, TCSANOW, &modes);
}

// A terminal that has hung up can be read for ever, and says nothing: as if its user ended it.
void TerminalKeys::read() {
  char key = 0;
  if (!is_ours()) return;
  on_key_(::read(kTerminal, &key, 1) == 1 ? key : kEndKey);
}

}  // namespace redlock::net
