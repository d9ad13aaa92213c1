// Runs once per turn of the loop, right before it waits for the next events: the place to write out
// in one piece what the turn's events have brought together, and to set the next timer. It also
// sees what was begun from outside, before the loop runs.
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"

#include <functional>

namespace redlock::net {

class BeforeWait {
 public:
  BeforeWait(Loop& loop, std::function<void()> run);
  BeforeWait(const BeforeWait&) = delete;
  BeforeWait& operator=(const BeforeWait&) = delete;

 private:
  std::function<void()> run_;
  Handle<uv_prepare_t> prepare_;  // does not keep the loop alive
};

}  // namespace redlock::net
