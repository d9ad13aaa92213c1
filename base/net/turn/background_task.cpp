#include "base/net/turn/background_task.h"

#include "base/invariant.h"
#include "base/net/turn/quiet_thread.h"

namespace redlock::net {

BackgroundTask::BackgroundTask(Loop& loop, std::function<void()> work,
                               std::function<void()> on_done)
    : on_done_(std::move(on_done)) {
  const auto on_sent = [](uv_async_t* handle) {
    auto* self = static_cast<BackgroundTask*>(handle->data);
    if (self == nullptr) return;
    self->wait();
    self->done_.close();
    self->on_done_();
  };
  INVARIANT(uv_async_init(loop.raw(), done_.raw(), on_sent) == 0, "no way to wake the loop");
  done_.opened(this);
  const auto run = [work = std::move(work), done = done_.raw()] {
    work();
    uv_async_send(done);
  };
  Result<std::thread> thread = start_quiet_thread(run);
  if (thread) {
    thread_ = std::move(thread).value();
  } else {
    run();
  }
}

void BackgroundTask::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace redlock::net
