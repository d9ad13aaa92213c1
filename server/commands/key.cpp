// EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT, PERSIST, TTL, PTTL, EXPIRETIME, PEXPIRETIME: how long a
// lock still lives.
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/ttl.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

struct ExpireConditions {
  bool only_without = false;  // NX: the key has no deadline
  bool only_with = false;     // XX
  bool only_later = false;    // GT; a key without a deadline lives for ever, so none is later
  bool only_earlier = false;  // LT
};

Refusal read_conditions(Request words, ExpireConditions& conditions) {
  for (const std::string_view word : words.subspan(3)) {
    if (equals_ignoring_case(word, "NX")) {
      conditions.only_without = true;
    } else if (equals_ignoring_case(word, "XX")) {
      conditions.only_with = true;
    } else if (equals_ignoring_case(word, "GT")) {
      conditions.only_later = true;
    } else if (equals_ignoring_case(word, "LT")) {
      conditions.only_earlier = true;
    } else {
      const std::size_t end = word.find_last_not_of("\r\n") + 1;  // an error ends with its line
      return Reply::error(fmt::format("ERR Unsupported option {}", echoed(word.substr(0, end))));
    }
  }
  const bool about_deadline =
      conditions.only_with || conditions.only_later || conditions.only_earlier;
  if (conditions.only_without && about_deadline) {
    return Reply::error_view("ERR NX and XX, GT or LT options at the same time are not compatible");
  }
  if (conditions.only_later && conditions.only_earlier) {
    return Reply::error_view("ERR GT and LT options at the same time are not compatible");
  }
  return std::nullopt;
}

// Deadlines are told apart to the millisecond, as in Redis: so a wall-clock time that comes twice
// is the same deadline, although both clocks were read again.
bool is_later(Instant deadline, Instant than) {
  if (than == kNever || deadline == kNever) return deadline > than;
  return deadline - than >= 500us;
}

bool holds(const ExpireConditions& conditions, const Lock& lock, Instant deadline) {
  if (conditions.only_without && lock.has_deadline()) return false;
  if (conditions.only_with && !lock.has_deadline()) return false;
  if (conditions.only_later && !is_later(deadline, lock.deadline())) return false;
  return !conditions.only_earlier || is_later(lock.deadline(), deadline);
}

// The same value with a new deadline: an extension (rule L4); a time that has passed deletes.
Reply expire_by(Call& call, TtlForm form) {
  ExpireConditions conditions;
  if (Refusal no = read_conditions(call.words, conditions)) return no;
  TtlReading ttl = read_ttl(call, call.word(2), form, NonPositive::taken);
  if (ttl.refusal) return std::move(ttl.refusal);
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return Reply::integer(0);
  Instant deadline = later(call.instant(), ttl.remaining);
  if (!holds(conditions, *lock, deadline)) return Reply::integer(0);
  if (Refusal no = refuse_shortening(call, *lock, deadline)) return no;
  if (Refusal no = call.node.grants().move_deadline(call.word(1), deadline, call.instant()))
    return no;
  return Reply::integer(1);
}

Reply expire(Call& call) {
  return expire_by(call, TtlForm::seconds);
}
Reply pexpire(Call& call) {
  return expire_by(call, TtlForm::milliseconds);
}
Reply expireat(Call& call) {
  return expire_by(call, TtlForm::at_seconds);
}
Reply pexpireat(Call& call) {
  return expire_by(call, TtlForm::at_milliseconds);
}

Reply persist(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr || !lock->has_deadline()) return Reply::integer(0);
  if (Refusal no = call.node.grants().take_deadline_away(call.word(1), call.instant())) return no;
  return Reply::integer(1);
}

constexpr std::int64_t kNoSuchKey = -2;
constexpr std::int64_t kNoDeadline = -1;

// Milliseconds left, rounded up (rule C2): what is told is never less than what is.
std::int64_t ms_left(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return kNoSuchKey;
  if (!lock->has_deadline()) return kNoDeadline;
  return ceil_ms(lock->deadline() - call.instant());
}

Reply pttl(Call& call) {
  return Reply::integer(ms_left(call));
}

Reply ttl(Call& call) {
  const std::int64_t ms = ms_left(call);
  return Reply::integer(ms < 0 ? ms : (ms + 500) / 1000);  // to the nearest second, as Redis
}

// The wall-clock time of the deadline, as far as the wall clock can be trusted (rule C6). To the
// nearest millisecond, so that PEXPIREAT's own word comes back.
std::int64_t wall_ms_of_deadline(Call& call) {
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return kNoSuchKey;
  if (!lock->has_deadline()) return kNoDeadline;
  const Duration left = lock->deadline() - call.instant();
  return floor_ms(call.now.wall.time_since_epoch() + left + 500us);
}

Reply pexpiretime(Call& call) {
  return Reply::integer(wall_ms_of_deadline(call));
}

Reply expiretime(Call& call) {
  const std::int64_t ms = wall_ms_of_deadline(call);
  return Reply::integer(ms < 0 ? ms : (ms + 500) / 1000);
}

constexpr std::string_view kExpireSyntax = "key seconds [NX|XX|GT|LT]";
constexpr std::string_view kPexpireSyntax = "key milliseconds [NX|XX|GT|LT]";
constexpr std::string_view kExpireatSyntax = "key unix-time-seconds [NX|XX|GT|LT]";
constexpr std::string_view kPexpireatSyntax = "key unix-time-milliseconds [NX|XX|GT|LT]";

constexpr Command kKeyCommands[] = {
    {{"expire", -3, kWrite | kFast, 1, 1, 1, "generic", "1.0.0",
      "Sets the time that a key has left, in seconds.", kExpireSyntax},
     expire},
    {{"pexpire", -3, kWrite | kFast, 1, 1, 1, "generic", "2.6.0",
      "Extends a lock: sets the time that a key has left, in milliseconds.", kPexpireSyntax},
     pexpire},
    {{"expireat", -3, kWrite | kFast, 1, 1, 1, "generic", "1.2.0",
      "Sets the wall-clock second at which a key ends.", kExpireatSyntax},
     expireat},
    {{"pexpireat", -3, kWrite | kFast, 1, 1, 1, "generic", "2.6.0",
      "Sets the wall-clock millisecond at which a key ends.", kPexpireatSyntax},
     pexpireat},
    {{"persist", 2, kWrite | kFast, 1, 1, 1, "generic", "2.2.0",
      "Takes a key's TTL away; refused where locks need one.", "key"},
     persist},
    {{"ttl", 2, kReadOnly | kFast, 1, 1, 1, "generic", "1.0.0",
      "Answers the seconds that a key has left.", "key"},
     ttl},
    {{"pttl", 2, kReadOnly | kFast, 1, 1, 1, "generic", "2.6.0",
      "Answers the milliseconds that a key has left.", "key"},
     pttl},
    {{"expiretime", 2, kReadOnly | kFast, 1, 1, 1, "generic", "7.0.0",
      "Answers the wall-clock second at which a key ends.", "key"},
     expiretime},
    {{"pexpiretime", 2, kReadOnly | kFast, 1, 1, 1, "generic", "7.0.0",
      "Answers the wall-clock millisecond at which a key ends.", "key"},
     pexpiretime},
};

}  // namespace

Family key_commands() {
  return kKeyCommands;
}

}  // namespace redlock::server
