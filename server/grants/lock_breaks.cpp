#include "server/grants/lock_breaks.h"

#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"
#include "server/locks/packed_hash.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;

namespace {

// What a library keeps beside its locks and deletes by a bare DEL: Redisson's latch of a release,
// by which a release that comes a second time has the answer of the first. No holder relies on it.
bool is_bookkeeping(std::string_view key) {
  return key.starts_with("redisson_unlock_latch:");
}

// What to do instead, with this key.
std::string advice(const Lock& lock, Break how) {
  const std::string key = key_in_text(lock.key());
  if (lock.is_hash()) return "a hash is changed by the script of its lock library alone";
  switch (how) {
    case Break::ends:
      return fmt::format("use LOCK.RELEASE {} value", key);
    case Break::overwrites:
      return fmt::format("use SET {} value NX PX 30000 to take it once it is free", key);
    case Break::shortens:
      break;
  }
  return fmt::format("use LOCK.REPLACE {} value value PX 1000 SHORTEN", key);
}

std::string_view name_of(Break how) {
  switch (how) {
    case Break::ends:
      return "ends";
    case Break::overwrites:
      return "overwrites";
    case Break::shortens:
      break;
  }
  return "shortens";
}

// A hash has one for each of its fields; lock libraries make one with the holder's.
std::string name_of_holder(const Lock& lock) {
  if (!lock.is_hash()) return std::string(lock.value());
  std::string name;
  PackedHash(lock.value()).for_each([&](const HashField& field) {
    if (name.empty()) name = field.name;
  });
  return name;
}

}  // namespace

Refusal LockBreaks::refuse(std::string_view key, Break how, const Breaker& by, Now now) {
  const Lock* const lock = locks_.find(key, now.monotonic);
  if (lock == nullptr || by.compares || is_bookkeeping(key)) return {};
  if (audit_.is_on() && (is_refused(by) || !is_own(*lock, by))) tell(*lock, how, by, now);
  if (!is_refused(by)) return {};
  return Reply::error(fmt::format(
      "HELD {} is held, and {} does not name the value that holds it: {} (hold-strict is yes)",
      key_in_text(key), protocol::upper_case(by.command), advice(*lock, how)));
}

Refusal LockBreaks::refuse_all(const Breaker& by, Now now) {
  if (!is_any_held(now.monotonic)) return {};
  if (audit_.is_on()) {
    const auto event = is_refused(by) ? Audit::Event::break_refused : Audit::Event::lock_broken;
    const std::string count = std::to_string(locks_.size());
    audit_.tell(event, by.who, {{"command", by.command}, {"how", "ends"}, {"locks", count}}, now);
  }
  if (!is_refused(by)) return {};
  return Reply::error(
      fmt::format("HELD there are locks that are held, and {} names no value that holds one: "
                  "release each by its value, or wait until all have run out (hold-strict is yes)",
                  protocol::upper_case(by.command)));
}

// A connection that took the lock may change it as it likes, and who has its value among his words
// knows it. Of a pool's other connections nothing tells whose they are: they count as others.
bool LockBreaks::is_own(const Lock& lock, const Breaker& by) const {
  const bool names_it = !lock.is_hash() &&
                        std::find(by.words.begin(), by.words.end(), lock.value()) != by.words.end();
  return names_it || takers_.is_taken_by(locks_.hash_of(lock.key()), lock.token(), by.who.id);
}

// A script may break a lock again and again: it is told once for each way to do it.
void LockBreaks::keep(const Lock& lock, Break how, const Breaker& by) {
  const bool is_kept = std::any_of(kept_.begin(), kept_.end(), [&](const BrokenLock& kept) {
    return kept.how == how && kept.key == lock.key();
  });
  if (is_kept) return;
  kept_.push_back({.key = std::string(lock.key()),
                   .token = lock.token(),
                   .how = how,
                   .command = std::string(by.command),
                   .holder = Audit::value_hash(name_of_holder(lock)),
                   .label = std::string(lock.label().text)});
}

void LockBreaks::tell(const BrokenLock& lock, const Audit::Who& who, Now now) {
  audit_.tell(Audit::Event::lock_broken, who,
              {{"command", lock.command},
               {"how", name_of(lock.how)},
               {"key", lock.key},
               {"holder", lock.holder},
               {"label", lock.label},
               {"outcome", lock.is_certain ? "done" : "unknown"}},
              now);
}

void LockBreaks::tell(const Lock& lock, Break how, const Breaker& by, Now now) {
  if (keeps_) return keep(lock, how, by);
  const auto event = is_refused(by) ? Audit::Event::break_refused : Audit::Event::lock_broken;
  if (!audit_.takes(event, now)) return;
  const std::string holder = Audit::value_hash(name_of_holder(lock));
  const std::string_view label = lock.label().text;
  audit_.tell_taken(event, by.who,
                    {{"command", by.command},
                     {"how", name_of(how)},
                     {"key", lock.key()},
                     {"holder", holder},
                     {"label", label}},
                    now.wall);
}

// The first that is held ends the walk. Those that ran out are given back soon, so it is short.
bool LockBreaks::is_any_held(Instant now) const {
  constexpr std::size_t kKeysOfLook = 16;
  bool is_held = false;
  std::uint32_t next = 0;
  do {
    next = locks_.scan(next, kKeysOfLook,
                       [&](const Lock& lock) { is_held = is_held || !lock.is_over(now); });
  } while (next != 0 && !is_held);
  return is_held;
}

}  // namespace redlock::server
