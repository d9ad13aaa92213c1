#include "base/net/turn/loop.h"

#include "base/invariant.h"
#include "base/net/process/spare_descriptors.h"
#include "base/net/turn/handle.h"

#include <deque>
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

class Loop::CostlyLine {
 public:
  explicit CostlyLine(Loop& loop) : loop_(loop) {
    uv_idle_init(loop.raw_, idle_.raw());
    idle_.opened(this);
  }

  void join(std::function<void()> piece) {
    if (pieces_.empty()) uv_idle_start(idle_.raw(), on_turn);
    pieces_.push_back(std::move(piece));
  }
  // Those that come now have their turn behind those that wait.
  bool is_passable() const { return pieces_.empty() || is_its_turn_; }

 private:
  static void on_turn(uv_idle_t* handle) {
    if (auto* self = static_cast<CostlyLine*>(handle->data)) self->take_turn();
  }
  void take_turn() {
    is_its_turn_ = true;
    while (!pieces_.empty() && loop_.has_time_for_costly_work()) {
      const std::function<void()> piece = std::move(pieces_.front());
      pieces_.pop_front();
      piece();
    }
    is_its_turn_ = false;
    if (pieces_.empty()) uv_idle_stop(idle_.raw());
  }

  Loop& loop_;
  std::deque<std::function<void()>> pieces_;
  bool is_its_turn_ = false;
  Handle<uv_idle_t> idle_;
};

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
  costly_line_.reset();
  while (own_ && uv_loop_close(raw_) == UV_EBUSY) uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::run() {
  uv_run(raw_, UV_RUN_DEFAULT);
}

void Loop::stop() {
  uv_stop(raw_);
}

// libuv looks at the clock when it has waited.
bool Loop::has_time_for_costly_work() const {
  if (costly_line_ && !costly_line_->is_passable()) return false;
  return costly_turn_ != uv_now(raw_) || costly_took_ < kCostlyTurnMax;
}

void Loop::note_costly_work(Duration took) {
  const std::uint64_t turn = uv_now(raw_);
  if (std::exchange(costly_turn_, turn) != turn) costly_took_ = {};
  costly_took_ += took;
}

void Loop::do_costly_work_later(std::function<void()> piece) {
  if (!costly_line_) costly_line_ = std::make_unique<CostlyLine>(*this);
  costly_line_->join(std::move(piece));
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
