#include "base/net/turn/signal.h"

#include "base/invariant.h"

namespace redlock::net {

Signal::Signal(Loop& loop, int number, std::function<void()> on_signal)
    : on_signal_(std::move(on_signal)) {
  INVARIANT(uv_signal_init(loop.raw(), signal_.raw()) == 0, "a signal cannot be watched");
  signal_.opened(this);
  const auto deliver = [](uv_signal_t* handle, int) {
    auto* self = static_cast<Signal*>(handle->data);
    if (self != nullptr) self->on_signal_();
  };
  INVARIANT(uv_signal_start(signal_.raw(), deliver, number) == 0, "a signal cannot be watched");
  keep_loop_alive(false);
}

void Signal::keep_loop_alive(bool keep) {
  if (keep) {
    uv_ref(signal_.handle());
  } else {
    uv_unref(signal_.handle());
  }
}

}  // namespace redlock::net
