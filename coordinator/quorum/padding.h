// How much longer a front door asks the nodes to keep a lock than its client asked for (rule D2):
// plain arithmetic, no clock.
//
// A client counts its TTL from when it reads its OK. So the nodes keep the lock for as long as the
// door may take to get it and to hand on the answer, and for as long as the answer may be on its
// way; and their clocks may be faster than the client's.
#pragma once

#include "base/time.h"

#include <algorithm>

namespace redlock::coordinator {

struct DoorTimes {
  Duration acquire_time = 500ms;  // B: from before the first byte to the nodes until the answer is
                                  // the kernel's
  Duration reply_time = 1s;       // R: that the answer is on its way to the client, at most
  double clock_drift = 0.01;      // d (rule C1)
};

// What is left for rounding: nodes count whole milliseconds.
inline constexpr Duration kDoorRounding = 2ms;

// T': what the nodes are asked for a client's TTL. Whole milliseconds.
constexpr Duration padded(Duration ttl, const DoorTimes& times) {
  const Duration until_told = ttl + times.acquire_time + times.reply_time;
  return std::chrono::milliseconds(ceil_ms(stretch(until_told, times.clock_drift))) + kDoorRounding;
}

// What a client is told of a lock that nodes hold for `left`: never more than padded() leaves of
// its own TTL, and something as long as it is held, as a lock that is held is not gone. What has no
// deadline (Duration::max()) has none for the client.
constexpr Duration told_left(Duration left, const DoorTimes& times) {
  if (left == Duration::max()) return left;
  const auto by_a_slow_clock = Duration(
      static_cast<std::int64_t>(static_cast<double>(left.count()) / (1 + times.clock_drift)));
  const Duration told = by_a_slow_clock - times.acquire_time - times.reply_time - kDoorRounding;
  return std::max<Duration>(std::chrono::floor<std::chrono::milliseconds>(told), 1ms);
}

// The longest TTL that a client may ask for, where no node takes more than nodes_max. Not above
// zero where the nodes' is too short to be of any use.
constexpr Duration door_max_ttl(Duration nodes_max, const DoorTimes& times) {
  const auto by_a_slow_clock = Duration(static_cast<std::int64_t>(
      static_cast<double>((nodes_max - kDoorRounding).count()) / (1 + times.clock_drift)));
  Duration longest = std::chrono::floor<std::chrono::milliseconds>(
      by_a_slow_clock - times.acquire_time - times.reply_time);
  while (longest > 0ms && padded(longest, times) > nodes_max) longest -= 1ms;
  return longest;
}

}  // namespace redlock::coordinator
