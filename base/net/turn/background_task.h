// One piece of blocking work, a flush of the disk say, on a thread of its own while the loop runs.
//
// Thread safety: `work` runs on the other thread and must touch nothing that the loop's thread uses
// meanwhile; whatever it wrote may be read in on_done, and after wait().
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"

#include <functional>
#include <thread>

namespace redlock::net {

class BackgroundTask {
 public:
  // Begins at once. `on_done` comes on the loop, which is kept alive until then. Where the system
  // gives no thread the work is done before this returns: late is better than not at all.
  BackgroundTask(Loop& loop, std::function<void()> work, std::function<void()> on_done);
  // Waits for the work; on_done does not come any more.
  ~BackgroundTask() { wait(); }
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // Blocks until the work is done, if it is not yet.
  void wait();

 private:
  std::function<void()> on_done_;
  Handle<uv_async_t> done_;
  std::thread thread_;
};

}  // namespace redlock::net
