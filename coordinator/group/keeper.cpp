#include "coordinator/group/keeper.h"

#include <algorithm>

namespace redlock::coordinator {
namespace {

// After an extension that found no quorum: the nodes may be coming back.
constexpr Duration retry_after(Duration ttl) {
  return std::min<Duration>(ttl / 20, 500ms);
}

}  // namespace

Keeper::Keeper(Terms terms, Instant valid_until, const ClockReading& clocks)
    : terms_(terms),
      clocks_(clocks),
      valid_until_(valid_until),
      now_(clocks.boottime),
      extend_at_(later(clocks.boottime, terms.ttl / 3)) {}

void Keeper::on_time(const ClockReading& clocks) {
  if (loss_) return;
  now_ = clocks.boottime;
  if (!clocks_.trusts(clocks)) return lose("this machine slept, or a clock of it went back");
  if (now_ >= lost_at()) return lose(kTooLate);
  extend_now_ = !extending_ && now_ >= extend_at_;
}

void Keeper::begin_extension(Instant now) {
  extend_now_ = false;
  extending_ = true;
  extend_at_ = later(now, terms_.ttl / 3);
}

void Keeper::on_extended(const ExtendResult& result, Instant now) {
  if (loss_) return;
  now_ = now;
  extending_ = false;
  // It was lost before: whoever asked meanwhile was told so.
  if (now >= lost_at()) return lose(kTooLate);
  valid_until_ = result.valid_until;
  if (result.outcome == ExtensionOutcome::extended) {
    last_failure_.clear();
    return;
  }
  last_failure_ = result.answers;
  if (result.outcome == ExtensionOutcome::lost) {
    return lose("a quorum of nodes does not have it any more");
  }
  extend_at_ = later(now, retry_after(terms_.ttl));
}

std::optional<Instant> Keeper::next_deadline() const {
  if (loss_) return std::nullopt;
  const Instant next_extension = extending_ ? kNever : extend_at_;
  return std::min({lost_at(), next_extension, later(now_, kClockInterval)});
}

void Keeper::lose(std::string_view why) {
  if (!loss_) loss_ = why;
  extend_now_ = false;
}

}  // namespace redlock::coordinator
