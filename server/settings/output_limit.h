// OutputLimit: how many bytes a client may leave unread before it is closed, and UnreadWatch, which
// says when that is so (client-output-buffer-limit).
//
// Redis's figures: at no moment more than the hard limit, nor for long more than the soft one.
// Whoever listens to channels has limits of its own, as what it is sent is up to others.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <optional>

namespace redlock::server {

struct OutputLimit {
  std::uint64_t hard = 0;  // bytes; 0: any
  std::uint64_t soft = 0;  // bytes; 0: any
  Duration soft_time{};    // so long may it be more than the soft limit

  friend bool operator==(const OutputLimit&, const OutputLimit&) = default;
};

// Of one client. It looks when something is written to it: what nobody adds to does not grow.
class UnreadWatch {
 public:
  // Whether this much unread is too much. Asked with 0 bytes too, once there was more.
  bool is_too_much(std::uint64_t bytes, const OutputLimit& limit, Instant now) {
    if (limit.hard != 0 && bytes > limit.hard) return true;
    if (limit.soft == 0 || bytes <= limit.soft) {
      over_soft_since_.reset();
      return false;
    }
    if (!over_soft_since_) over_soft_since_ = now;
    return now - *over_soft_since_ > limit.soft_time;
  }
  // Whether it waits for the end of the soft time.
  bool is_counting() const { return over_soft_since_.has_value(); }

 private:
  std::optional<Instant> over_soft_since_;
};

}  // namespace redlock::server
