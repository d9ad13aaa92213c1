// Runs once per turn of the loop, right behind the events of a wait: all that had come from the
// sockets by then was read, and nothing else of the turn has begun.
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"

#include <functional>

namespace redlock::net {

class AfterWait {
 public:
  AfterWait(Loop& loop, std::function<void()> run);
  AfterWait(const AfterWait&) = delete;
  AfterWait& operator=(const AfterWait&) = delete;

 private:
  std::function<void()> run_;
  Handle<uv_check_t> check_;  // does not keep the loop alive
};

}  // namespace redlock::net
