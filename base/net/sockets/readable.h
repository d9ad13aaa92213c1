// A descriptor that is watched until it can be read: a pipe or a socket that belongs to somebody
// else, who reads it, too.
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"

#include <functional>

namespace redlock::net {

class Readable {
 public:
  // `look` runs on the loop as long as there is something to read, or the other end is closed. The
  // descriptor must stay open until this object is gone. Watching does not keep a loop alive.
  Readable(Loop& loop, int descriptor, std::function<void()> look);
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;

 private:
  std::function<void()> look_;
  Handle<uv_poll_t> poll_;
};

}  // namespace redlock::net
