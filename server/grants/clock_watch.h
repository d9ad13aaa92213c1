// ClockWatch: whether the node's clock may be trusted (rule C3).
//
// Fed with the reading of every turn. A clock that went back would end new locks before their
// holders think, and one that stands still would end none: either is a broken machine, and the node
// grants nothing from then on until it is restarted.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <string_view>

namespace redlock::server {

class ClockWatch {
 public:
  enum class State { sound, went_back, stands_still };

  // Readings in a row that may be equal. A turn takes microseconds and the coarsest clocks step
  // every 10 ms, so a sound clock repeats itself a few thousand times at most.
  static constexpr std::uint32_t kSameReadingsMax = 1'000'000;

  void observe(Instant now) {
    if (state_ != State::sound) return;
    same_readings_ = now == last_ ? same_readings_ + 1 : 0;
    if (now < last_) state_ = State::went_back;
    if (same_readings_ > kSameReadingsMax) state_ = State::stands_still;
    last_ = now;
  }

  // The reading of the turn under way.
  Instant latest() const { return last_; }
  bool is_sound() const { return state_ == State::sound; }
  State state() const { return state_; }

  // For INFO and for refusals.
  std::string_view text() const {
    switch (state_) {
      case State::sound:
        return "sound";
      case State::went_back:
        return "went back";
      case State::stands_still:
        return "stands still";
    }
    return "";
  }

 private:
  Instant last_{Duration::min()};
  std::uint32_t same_readings_ = 0;
  State state_ = State::sound;
};

}  // namespace redlock::server
