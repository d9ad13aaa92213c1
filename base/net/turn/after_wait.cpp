#include "base/net/turn/after_wait.h"

#include "base/invariant.h"

namespace redlock::net {

AfterWait::AfterWait(Loop& loop, std::function<void()> run) : run_(std::move(run)) {
  INVARIANT(uv_check_init(loop.raw(), check_.raw()) == 0, "the loop's waits cannot be watched");
  check_.opened(this);
  const auto on_events = [](uv_check_t* handle) {
    auto* self = static_cast<AfterWait*>(handle->data);
    if (self != nullptr) self->run_();
  };
  INVARIANT(uv_check_start(check_.raw(), on_events) == 0, "the loop's waits cannot be watched");
  uv_unref(check_.handle());
}

}  // namespace redlock::net
