#include "base/net/turn/loop.h"

#include "base/invariant.h"
#include "base/net/process/spare_descriptors.h"
#include "base/net/turn/costly_work.h"

#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {
namespace {

constexpr std::size_t kReceiveBufferBytes = 64 * 1024;
// The first loop of a process makes a pipe for signals, and libuv ends the process if it cannot. It
// does so with the loop's first descriptor open.
constexpr int kFirstDescriptors = 3;

// 0, or the error as libuv has it; then nothing stays open.
// (libuv 1.44 closes all but the first descriptor.)
int open_loop(uv_loop_t* loop) {
  const int status = uv_loop_init(loop);
  if (status != 0 && loop->backend_fd != -1) close(loop->backend_fd);
  return status;
}

}  // namespace

Loop::Loop(std::unique_ptr<uv_loop_s> own)
    : own_(std::move(own)), raw_(own_.get()), receive_buffer_(kReceiveBufferBytes) {}

Loop::Loop() : Loop(std::make_unique<uv_loop_t>()) {
  INVARIANT(open_loop(raw_) == 0, "no event loop can be had");
}

Result<std::unique_ptr<Loop>> Loop::make() {
  const Status room = try_descriptors(kFirstDescriptors, "an event loop");
  if (!room) return room.error();
  auto own = std::make_unique<uv_loop_t>();
  if (const int status = open_loop(own.get()); status != 0) {
    return Failure{fmt::format("the system gives no event loop: {}", uv_strerror(status))};
  }
  return std::unique_ptr<Loop>(new Loop(std::move(own)));
}

Loop::Loop(uv_loop_s* adopted) : raw_(adopted), receive_buffer_(kReceiveBufferBytes) {}

Loop::~Loop() {
  costly_work_.reset();
  while (own_ && uv_loop_close(raw_) == UV_EBUSY) uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::run() {
  uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::stop() {
  uv_stop(raw_);
}

CostlyWork& Loop::costly_work() {
  if (!costly_work_) costly_work_ = std::make_unique<CostlyWork>(raw_);
  return *costly_work_;
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
