// Keeps an acquired lock: when to extend it, and when it counts as lost. A state machine without a
// clock or a socket, as the others.
//
//   Keeper keeper({.ttl = 30s, .notice = 3s}, valid_until, clocks);
//   keeper.on_time(clocks);                  // whenever next_deadline() says so, or more often
//   if (keeper.wants_extension()) {
//     keeper.begin_extension(now); … keeper.on_extended(result, now);
//   }
//   if (keeper.loss()) …                     // once and for good
//
// It extends at a third of the TTL. The lock counts as lost when a quorum does not have it any
// more, when `notice` before the end of its validity it has still not been extended, and when the
// holder's clocks are not to be trusted (rule C3). An extension that found no quorum
// is tried again soon.
#pragma once

#include "coordinator/group/requests.h"
#include "coordinator/group/suspend_watch.h"

#include <optional>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

class Keeper {
 public:
  struct Terms {
    Duration ttl;
    Duration notice;  // how long before the end of its validity it counts as lost
  };

  // The clocks are compared at least so often.
  static constexpr Duration kClockInterval = 1s;

  // clocks: read when it was acquired, or later.
  Keeper(Terms terms, Instant valid_until, const ClockReading& clocks);

  void on_time(const ClockReading& clocks);
  bool wants_extension() const { return extend_now_; }
  void begin_extension(Instant now);
  void on_extended(const ExtendResult& result, Instant now);
  // Somebody has seen the instant lost_at() pass, and relies on the loss.
  void on_loss_seen() { lose(kTooLate); }
  // When on_time wants to be called; nullopt once it is lost.
  std::optional<Instant> next_deadline() const;

  // Why it is lost; nullopt while it is not.
  const std::optional<std::string_view>& loss() const { return loss_; }
  // From here on it must not be relied on.
  Instant valid_until() const { return valid_until_; }
  // From here on it counts as lost, if it is not extended before.
  Instant lost_at() const { return valid_until_ - terms_.notice; }
  // Of the last extension, if that failed; else empty.
  const std::vector<Answer>& last_failure() const { return last_failure_; }

 private:
  static constexpr std::string_view kTooLate = "it could not be extended in time";

  void lose(std::string_view why);

  Terms terms_;
  SuspendWatch clocks_;
  Instant valid_until_;
  Instant now_;  // of the last event
  Instant extend_at_;
  bool extending_ = false;
  bool extend_now_ = false;
  std::optional<std::string_view> loss_;
  std::vector<Answer> last_failure_;
};

}  // namespace redlock::coordinator
