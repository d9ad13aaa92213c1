// The shortest sequence that still differs: steps are left out, many at a time and then one by one
// (delta debugging, Zeller and Hildebrandt 2002), then words are left out and made plain.
#pragma once

#include "tests/differential/step.h"

#include <cstdint>
#include <functional>

namespace redlock::differential {

struct Shrunk {
  Sequence sequence;
  std::uint64_t plays = 0;  // that it took
};

// REQUIRES: still_differs(sequence).
Shrunk shrink(Sequence sequence, const std::function<bool(const Sequence&)>& still_differs);

}  // namespace redlock::differential
