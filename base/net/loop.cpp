#include "base/net/loop.h"

#include "base/invariant.h"

#include <uv.h>

namespace redlock::net {
namespace {

constexpr std::size_t kReceiveBufferBytes = 64 * 1024;

}  // namespace

Loop::Loop() : raw_(std::make_unique<uv_loop_t>()), receive_buffer_(kReceiveBufferBytes) {
  INVARIANT(uv_loop_init(raw_.get()) == 0, "no event loop can be had");
}

Loop::~Loop() {
  while (uv_loop_close(raw_.get()) == UV_EBUSY) uv_run(raw_.get(), UV_RUN_DEFAULT);
}

void Loop::run() {
  uv_run(raw_.get(), UV_RUN_DEFAULT);
}

void Loop::stop() {
  uv_stop(raw_.get());
}

}  // namespace redlock::net
