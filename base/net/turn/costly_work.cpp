#include "base/net/turn/costly_work.h"

#include <utility>

namespace redlock::net {

CostlyWork::CostlyWork(uv_loop_t* loop) : loop_(loop) {
  uv_idle_init(loop, idle_.raw());
  idle_.opened(this);
}

// Those that come now have their turn behind those that wait.
bool CostlyWork::has_time() const {
  return (pieces_.empty() || is_its_turn_) && has_time_this_turn();
}

// libuv looks at the clock when it has waited.
bool CostlyWork::has_time_this_turn() const {
  return turn_ != uv_now(loop_) || took_ < kTurnMax;
}

void CostlyWork::note(Duration took) {
  const std::uint64_t turn = uv_now(loop_);
  if (std::exchange(turn_, turn) != turn) took_ = {};
  took_ += took;
}

void CostlyWork::do_later(std::function<void()> piece) {
  const auto on_turn = [](uv_idle_t* handle) {
    if (auto* self = static_cast<CostlyWork*>(handle->data)) self->take_turn();
  };
  if (pieces_.empty()) uv_idle_start(idle_.raw(), on_turn);
  pieces_.push_back(std::move(piece));
}

void CostlyWork::take_turn() {
  is_its_turn_ = true;
  while (!pieces_.empty() && has_time_this_turn()) {
    const std::function<void()> piece = std::move(pieces_.front());
    pieces_.pop_front();
    piece();
  }
  is_its_turn_ = false;
  if (pieces_.empty()) uv_idle_stop(idle_.raw());
}

}  // namespace redlock::net
