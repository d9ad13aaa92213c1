#include "base/net/turn/mailbox.h"

#include "base/invariant.h"

#include <utility>

namespace redlock::net {

Mailbox::Mailbox(Loop& loop) {
  const auto on_wake_up = [](uv_async_t* handle) {
    auto* self = static_cast<Mailbox*>(handle->data);
    if (self != nullptr) self->run_tasks();
  };
  INVARIANT(uv_async_init(loop.raw(), wake_up_.raw(), on_wake_up) == 0, "no way to wake the loop");
  wake_up_.opened(this);
}

bool Mailbox::post(Task task) {
  const std::lock_guard lock(mutex_);
  if (!open_) return false;
  tasks_.push_back(std::move(task));
  uv_async_send(wake_up_.raw());  // under the mutex: the handle is not closed meanwhile
  return true;
}

// A task may post another, or close the mailbox: those behind it run all the same.
void Mailbox::run_tasks() {
  std::vector<Task> batch;
  {
    const std::lock_guard lock(mutex_);
    batch.swap(tasks_);
  }
  for (const Task& task : batch) task();
}

std::vector<Mailbox::Task> Mailbox::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  wake_up_.close();
  return std::exchange(tasks_, {});
}

}  // namespace redlock::net
