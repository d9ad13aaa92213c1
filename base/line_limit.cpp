#include "base/line_limit.h"

#include <utility>

namespace redlock {

void LineLimit::begin_interval(Instant now) {
  ends_at_ = later(now, kInterval);
  passed_ = 0;
}

// After lines were left out their number comes first.
bool LineLimit::lets_pass(Instant now) {
  if (left_out_ == 0 && now >= ends_at_) begin_interval(now);
  if (left_out_ == 0 && passed_ < lines_) {
    ++passed_;
    return true;
  }
  ++left_out_;
  return false;
}

std::optional<Instant> LineLimit::tells_at() const {
  return left_out_ > 0 ? std::optional(ends_at_) : std::nullopt;
}

std::uint64_t LineLimit::take_left_out(Instant now) {
  begin_interval(now);
  ++passed_;
  return std::exchange(left_out_, 0);
}

}  // namespace redlock
