// Mailbox: work for a loop's thread, from any thread.
//
// Thread safety: post() from anywhere; all else on the loop's thread. The object may outlive its
// loop once it is closed.
#pragma once

#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"
#include <redlock/move_only_function.h>
#include <redlock/result.h>

#include <memory>
#include <mutex>
#include <vector>

namespace redlock::net {

class Mailbox {
 public:
  using Task = MoveOnlyFunction<void()>;

  explicit Mailbox(Loop& loop);
  // The same, and the failure where the system gives no way to wake the loop.
  static Result<std::shared_ptr<Mailbox>> make(Loop& loop);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Runs it on the loop, after what was posted before. False once it is closed: the task is the
  // caller's then, as it was. Keeps the loop alive until it is closed.
  bool post(Task&& task);
  // Returns what was posted and has not run.
  std::vector<Task> close();

 private:
  Mailbox() = default;
  int open(Loop& loop);
  void run_tasks();

  Handle<uv_async_t> wake_up_;
  std::mutex mutex_;  // over what follows
  std::vector<Task> tasks_;
  bool open_ = true;
};

}  // namespace redlock::net
