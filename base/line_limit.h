// LineLimit: how often a kind of log line may come that others can cause, such as any client.
//
// So many lines a second are logged, and those left out are counted. At the end of the second their
// number is a line of its own, which counts as the first of the next second: whatever comes, no
// more lines than these are logged, and each one is accounted for.
//
//   if (limit.lets_pass(now)) log(line);
//   if (const auto when = limit.tells_at(); when && *when <= now) log(limit.take_left_out(now));
//
// Pure: time is an argument.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>

namespace redlock {

class LineLimit {
 public:
  static constexpr Duration kInterval = 1s;

  explicit LineLimit(std::uint64_t lines) : lines_(lines) {}

  bool lets_pass(Instant now);

  // When the number of lines left out wants to be told; nullopt: none was.
  std::optional<Instant> tells_at() const;
  std::uint64_t take_left_out(Instant now);

 private:
  void begin_interval(Instant now);

  std::uint64_t lines_;  // an interval
  Instant ends_at_{};
  std::uint64_t passed_ = 0;  // in this interval
  std::uint64_t left_out_ = 0;
};

}  // namespace redlock
