// CostlyWork: what any stranger can make a process do, as a handshake or the beginning of a
// session, for a short while of each turn of its loop.
//
//   if (!work.has_time()) return work.do_later([…] { … });
//   const Instant began = read_clock(ClockKind::monotonic);
//   …
//   work.note(read_clock(ClockKind::monotonic) - began);
//
// It takes kTurnMax of a turn and one piece more at most. The rest waits in line: the streams that
// are open have their turn before. Thread safety: none.
#pragma once

#include "base/net/turn/handle.h"
#include "base/time.h"

#include <cstdint>
#include <deque>
#include <functional>

namespace redlock::net {

class CostlyWork {
 public:
  static constexpr Duration kTurnMax = 2ms;

  explicit CostlyWork(uv_loop_t* loop);
  CostlyWork(const CostlyWork&) = delete;
  CostlyWork& operator=(const CostlyWork&) = delete;

  // False: this turn has had its share, or others wait in line.
  bool has_time() const;
  void note(Duration took);
  // In a later turn, first come, first served.
  void do_later(std::function<void()> piece);

 private:
  void take_turn();
  bool has_time_this_turn() const;

  uv_loop_t* loop_;
  std::deque<std::function<void()>> pieces_;
  bool is_its_turn_ = false;
  std::uint64_t turn_ = 0;  // as libuv tells its time; took_ is about it
  Duration took_{};
  Handle<uv_idle_t> idle_;
};

}  // namespace redlock::net
