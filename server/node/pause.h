// Pause: CLIENT PAUSE. Until when commands wait, and which.
//
//   pause.begin(Pause::Of::writes, end);
//   if (pause.holds(flags, now)) …         // the command is postponed
//   if (pause.take_end(now)) …             // it is over: what was postponed runs
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/catalogue/command_spec.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace redlock::server {

class Pause {
 public:
  enum class Of : std::uint8_t { nothing, writes, all };

  // One that is under way is neither narrowed nor shortened.
  void begin(Of what, Instant end) {
    of_ = std::max(of_, what);
    end_ = std::max(end_, end);
  }
  void end() {
    has_ended_ = has_ended_ || is_on();
    of_ = Of::nothing;
    end_ = Instant{};
  }

  bool is_on() const { return of_ != Of::nothing; }
  // When take_end() will have something to say.
  std::optional<Instant> next_work() const {
    if (has_ended_) return Instant{};  // by end(), and nobody has looked since
    return is_on() && end_ != kNever ? std::optional(end_) : std::nullopt;
  }
  // flags: the command's, and of EXEC those of what is queued, too.
  bool holds(std::uint32_t flags, Instant now) const {
    if (!is_on() || now >= end_) return false;
    return of_ == Of::all || (flags & (protocol::kWrite | protocol::kMayReplicate)) != 0;
  }
  // Whether a pause has ended since the last call, by its time or by end().
  bool take_end(Instant now) {
    if (is_on() && now >= end_) end();
    return std::exchange(has_ended_, false);
  }

 private:
  Of of_ = Of::nothing;
  Instant end_{};
  bool has_ended_ = false;
};

}  // namespace redlock::server
