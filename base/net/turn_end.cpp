#include "base/net/turn_end.h"

#include "base/invariant.h"

namespace redlock::net {

TurnEnd::TurnEnd(Loop& loop, std::function<void()> at_end) : at_end_(std::move(at_end)) {
  INVARIANT(uv_check_init(loop.raw(), check_.raw()) == 0, "the end of a turn cannot be watched");
  check_.opened(this);
  const auto run = [](uv_check_t* handle) {
    auto* self = static_cast<TurnEnd*>(handle->data);
    if (self != nullptr) self->at_end_();
  };
  INVARIANT(uv_check_start(check_.raw(), run) == 0, "the end of a turn cannot be watched");
  uv_unref(check_.handle());  // it waits for others' work, it is none itself
}

}  // namespace redlock::net
