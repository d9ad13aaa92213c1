#include "base/net/sockets/readable.h"

#include "base/invariant.h"

namespace redlock::net {

Readable::Readable(Loop& loop, int descriptor, std::function<void()> look)
    : look_(std::move(look)) {
  INVARIANT(uv_poll_init(loop.raw(), poll_.raw(), descriptor) == 0, "no descriptor to watch");
  poll_.opened(this);
  const auto on_readable = [](uv_poll_t* handle, int, int) {
    auto* self = static_cast<Readable*>(handle->data);
    if (self != nullptr) self->look_();
  };
  INVARIANT(uv_poll_start(poll_.raw(), UV_READABLE, on_readable) == 0,
            "a descriptor cannot be watched");
  uv_unref(poll_.handle());
}

}  // namespace redlock::net
