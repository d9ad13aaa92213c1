#include "base/net/background_task.h"

#include "base/invariant.h"

#include <csignal>
#include <pthread.h>

namespace redlock::net {
namespace {

// A new thread takes over the signal mask of the one that makes it: while this lives, one in which
// no signal can land.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

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
  const AllSignalsBlocked blocked;  // signals are the loop's thread's
  thread_ = std::thread([work = std::move(work), done = done_.raw()] {
    work();
    uv_async_send(done);
  });
}

void BackgroundTask::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace redlock::net
