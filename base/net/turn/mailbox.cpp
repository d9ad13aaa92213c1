#include "base/net/turn/mailbox.h"

#include "base/invariant.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::net {

Mailbox::Mailbox(Loop& loop) {
  INVARIANT(open(loop) == 0, "no way to wake the loop");
}

Result<std::shared_ptr<Mailbox>> Mailbox::make(Loop& loop) {
  std::shared_ptr<Mailbox> mailbox(new Mailbox);
  if (const int status = mailbox->open(loop); status != 0) {
    return Failure{fmt::format("the system gives no way to wake a loop: {}", uv_strerror(status))};
  }
  return mailbox;
}

// 0, or the error as libuv has it.
int Mailbox::open(Loop& loop) {
  const auto on_wake_up = [](uv_async_t* handle) {
    auto* self = static_cast<Mailbox*>(handle->data);
    if (self != nullptr) self->run_tasks();
  };
  const int status = uv_async_init(loop.raw(), wake_up_.raw(), on_wake_up);
  if (status == 0) wake_up_.opened(this);
  return status;
}

bool Mailbox::post(Task&& task) {
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
  for (Task& task : batch) std::exchange(task, nullptr)();  // what it holds ends with it
}

std::vector<Mailbox::Task> Mailbox::close() {
  const std::lock_guard lock(mutex_);
  open_ = false;
  wake_up_.close();
  return std::exchange(tasks_, {});
}

}  // namespace redlock::net
