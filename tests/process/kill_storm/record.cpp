#include "tests/process/kill_storm/record.h"

#include <algorithm>

namespace redlock::kill_storm {

std::optional<Gone> make(LockRecord& lock, const Change& change, Instant answered) {
  const LockRecord before = lock;
  const Instant earliest = change.sent + change.ttl;
  const Instant latest = answered + change.ttl;
  switch (change.kind) {
    case Change::Kind::grant_if_free:
    case Change::Kind::set_deadline:
      lock = {earliest, latest};
      break;
    case Change::Kind::extend:
      lock = {std::max(before.certain_until, earliest), std::max(before.possible_until, latest)};
      break;
    case Change::Kind::end:
      lock = {};
      break;
  }
  if (before.possible_until <= lock.possible_until) return std::nullopt;
  return Gone{answered, before.possible_until};
}

void doubt(LockRecord& lock, const Change& change, Instant dead) {
  switch (change.kind) {
    case Change::Kind::grant_if_free:
    case Change::Kind::extend:
      break;
    case Change::Kind::set_deadline:
      lock.certain_until = std::min(lock.certain_until, change.sent + change.ttl);
      break;
    case Change::Kind::end:
      lock.certain_until = {};
      return;
  }
  lock.possible_until = std::max(lock.possible_until, dead + change.ttl);
}

void Endings::add(const Gone& gone) {
  constexpr Duration kKept = 30s;  // no node is starved of its processor for longer
  while (!endings_.empty() && endings_.front().answered + kKept < gone.answered) {
    endings_.pop_front();
  }
  endings_.push_back(gone);
}

std::optional<Instant> Endings::latest(Instant since) const {
  std::optional<Instant> latest;
  for (auto gone = endings_.rbegin(); gone != endings_.rend() && gone->answered >= since; ++gone) {
    latest = std::max(latest.value_or(Instant()), gone->possible_until);
  }
  return latest;
}

}  // namespace redlock::kill_storm
