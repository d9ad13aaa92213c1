// Runs at the end of each turn of the loop, after all callbacks of what the turn brought.
//
// Where work of several connections is to be done once: output flushed, timers set anew.
#pragma once

#include "base/net/handle.h"
#include "base/net/loop.h"

#include <functional>

namespace redlock::net {

class TurnEnd {
 public:
  TurnEnd(Loop& loop, std::function<void()> at_end);
  TurnEnd(const TurnEnd&) = delete;
  TurnEnd& operator=(const TurnEnd&) = delete;

 private:
  std::function<void()> at_end_;
  Handle<uv_check_t> check_;
};

}  // namespace redlock::net
