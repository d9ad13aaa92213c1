#include "base/net/turn/loop.h"

#include "base/invariant.h"

#include <uv.h>

namespace redlock::net {
namespace {

constexpr std::size_t kReceiveBufferBytes = 64 * 1024;

}  // namespace

Loop::Loop()
    : own_(std::make_unique<uv_loop_t>()), raw_(own_.get()), receive_buffer_(kReceiveBufferBytes) {
  INVARIANT(uv_loop_init(raw_) == 0, "no event loop can be had");
}

Loop::Loop(uv_loop_s* adopted) : raw_(adopted), receive_buffer_(kReceiveBufferBytes) {}

Loop::~Loop() {
  while (own_ && uv_loop_close(raw_) == UV_EBUSY) uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::run() {
  uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::stop() {
  uv_stop(raw_);
}

// libuv calls back when a handle is closed, at the end of its turn.
void Loop::keep_for_a_turn(std::shared_ptr<void> object) {
  struct Kept {
    uv_idle_t handle;
    std::shared_ptr<void> object;
  };
  auto* const kept = new Kept{{}, std::move(object)};
  uv_idle_init(raw_, &kept->handle);
  kept->handle.data = kept;
  uv_close(reinterpret_cast<uv_handle_t*>(&kept->handle),
           [](uv_handle_t* handle) { delete static_cast<Kept*>(handle->data); });
}

}  // namespace redlock::net
