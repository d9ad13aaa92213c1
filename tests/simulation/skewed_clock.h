// SkewedClock: what one machine's clock shows, as a function of true time. It starts somewhere, and
// runs a little faster than true time, by so many millionths: whole numbers, so that every machine
// computes the same.
#pragma once

#include "tests/simulation/true_time.h"

#include <algorithm>
#include <cstdint>

namespace redlock::simulation {

class SkewedClock {
 public:
  SkewedClock(TrueTime since, Instant shows, std::int64_t faster_millionths)
      : since_(since), base_(shows), faster_(faster_millionths) {}

  Instant at(TrueTime when) const {
    const std::int64_t passed = (when - since_).count();
    // In two parts, or the product would overflow after some hours.
    return base_ +
           Duration(passed + passed / kMillion * faster_ + passed % kMillion * faster_ / kMillion);
  }

  // The first true time, `from` or later, at which it shows this, or more.
  TrueTime when(Instant shown, TrueTime from) const {
    if (shown == kNever) return kEndOfTime;
    const std::int64_t left = (shown - at(from)).count();
    if (left <= 0) return from;
    const std::int64_t rate = kMillion + faster_;
    TrueTime guess = from + Duration(left / rate * kMillion + left % rate * kMillion / rate);
    while (at(guess) < shown) guess += Duration(1);
    return guess;
  }

  // From now on; what it shows at `now` stays.
  void set_rate(TrueTime now, std::int64_t faster_millionths) {
    base_ = at(now);
    since_ = now;
    faster_ = faster_millionths;
  }
  void jump(Duration by) { base_ += by; }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  TrueTime since_;
  Instant base_;
  std::int64_t faster_;
};

}  // namespace redlock::simulation
