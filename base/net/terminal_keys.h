// Keys of the terminal at standard input, one by one: without Enter, and without an echo. Ctrl-C
// and its like stay signals.
//
// The terminal is ours while this object lives, and as it was found afterwards; also after Ctrl-Z
// and `fg`, which puts the shell's modes in between. In the background nothing is changed: the
// terminal is another's.
#pragma once

#include "base/net/sockets/readable.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/signal.h"

#include <functional>
#include <memory>
#include <optional>
#include <termios.h>

namespace redlock::net {

class TerminalKeys {
 public:
  static constexpr char kEndKey = '\x04';  // Ctrl-D

  // Where standard input is no terminal, nothing is ever told.
  TerminalKeys(Loop& loop, std::function<void(char)> on_key);
  ~TerminalKeys();
  TerminalKeys(const TerminalKeys&) = delete;
  TerminalKeys& operator=(const TerminalKeys&) = delete;

 private:
  void take();
  void read();

  std::function<void(char)> on_key_;
  std::optional<termios> found_;
  std::unique_ptr<Readable> input_;
  std::unique_ptr<Signal> continued_;
};

}  // namespace redlock::net
