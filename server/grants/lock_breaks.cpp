#include "server/grants/lock_breaks.h"

#include "protocol/resp/errors.h"
#include "server/grants/refusals.h"

#include <string>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;

namespace {

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

}  // namespace

Refusal LockBreaks::refuse(std::string_view key, Break how, const Breaker& by, Instant now) {
  const Lock* const lock = locks_.find(key, now);
  if (lock == nullptr || by.knows_holder) return {};
  return Reply::error(fmt::format(
      "HELD {} is held, and {} does not name the value that holds it: {} (hold-strict is yes)",
      key_in_text(key), protocol::upper_case(by.command), advice(*lock, how)));
}

Refusal LockBreaks::refuse_all(const Breaker& by, Instant now) {
  if (by.knows_holder || !is_any_held(now)) return {};
  return Reply::error(
      fmt::format("HELD there are locks that are held, and {} names no value that holds one: "
                  "release each by its value, or wait until all have run out (hold-strict is yes)",
                  protocol::upper_case(by.command)));
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
