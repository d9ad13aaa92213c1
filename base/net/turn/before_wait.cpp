#include "base/net/turn/before_wait.h"

#include "base/invariant.h"

namespace redlock::net {

BeforeWait::BeforeWait(Loop& loop, std::function<void()> run) : run_(std::move(run)) {
  INVARIANT(uv_prepare_init(loop.raw(), prepare_.raw()) == 0, "the loop's turns cannot be watched");
  prepare_.opened(this);
  const auto on_turn = [](uv_prepare_t* handle) {
    auto* self = static_cast<BeforeWait*>(handle->data);
    if (self != nullptr) self->run_();
  };
  INVARIANT(uv_prepare_start(prepare_.raw(), on_turn) == 0, "the loop's turns cannot be watched");
  uv_unref(prepare_.handle());
}

}  // namespace redlock::net
