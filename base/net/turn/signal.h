// A signal, delivered on the loop.
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"

#include <functional>

namespace redlock::net {

class Signal {
 public:
  Signal(Loop& loop, int number, std::function<void()> on_signal);
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  // As Timer's; waiting for a signal does not keep a loop alive unless asked to.
  void keep_loop_alive(bool keep);

 private:
  std::function<void()> on_signal_;
  Handle<uv_signal_t> signal_;
};

}  // namespace redlock::net
