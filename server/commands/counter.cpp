// INCR, INCRBY, DECR, DECRBY: counters. A counter is a text, the number in decimal.
#include "base/text/number.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/ttl.h"
#include "server/grants/grants.h"
#include "server/grants/lock_breaks.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <limits>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// A counter that is there keeps its deadline; a new one gets max-ttl (rule L2). Another number is
// another value, so a grant (rule L4).
const Lock* store(Call& call, const Lock* old, std::int64_t number) {
  const std::string_view key = call.word(1);
  const fmt::format_int digits(number);
  const std::string_view text(digits.data(), digits.size());
  if (old == nullptr) return call.node.grants().grant_without_ttl(key, text, call.instant());
  return call.node.grants().grant(key, text, old->deadline(), call.instant());
}

Reply change_by(Call& call, std::int64_t increment) {
  const std::string_view key = call.word(1);
  if (Refusal no = call.node.grants().refuse_size(key)) return no;
  const Lock* old = call.node.locks().find(key, call.instant());
  if (is_hash(old)) return Reply::error_view(kWrongType);
  const auto number = old == nullptr ? 0 : parse_int64(old->value());
  if (!number) return Reply::error_view(kNotAnInteger);
  std::int64_t changed = 0;
  if (__builtin_add_overflow(*number, increment, &changed)) {
    return Reply::error_view("ERR increment or decrement would overflow");
  }
  if (Refusal no = call.node.grants().refuse(key, call.instant())) return no;
  if (Refusal no = old != nullptr ? refuse_kept_deadline(call, old->deadline()) : Refusal())
    return no;
  if (Refusal no = refuse_break(call, key, Break::overwrites)) return no;
  if (store(call, old, changed) == nullptr) return Reply::error_view(kNoMemory);
  call.node.notify(kStringEvent, "incrby", key);
  return Reply::integer(changed);
}

Reply incr(Call& call) {
  return change_by(call, 1);
}
Reply decr(Call& call) {
  return change_by(call, -1);
}

Reply incrby(Call& call) {
  const auto increment = parse_int64(call.word(2));
  return increment ? change_by(call, *increment) : Reply::error_view(kNotAnInteger);
}

Reply decrby(Call& call) {
  const auto decrement = parse_int64(call.word(2));
  if (!decrement) return Reply::error_view(kNotAnInteger);
  if (*decrement == std::numeric_limits<std::int64_t>::min()) {  // has no negative
    return Reply::error_view("ERR decrement would overflow");
  }
  return change_by(call, -*decrement);
}

constexpr std::uint32_t kFlags = kWrite | kDenyOom | kFast;

constexpr Command kCounterCommands[] = {
    {{"incr", 2, kFlags, 1, 1, 1, "string", "1.0.0", "Counts a number up by one.", "key"}, incr},
    {{"incrby", 3, kFlags, 1, 1, 1, "string", "1.0.0", "Adds to a number.", "key increment"},
     incrby},
    {{"decr", 2, kFlags, 1, 1, 1, "string", "1.0.0", "Counts a number down by one.", "key"}, decr},
    {{"decrby", 3, kFlags, 1, 1, 1, "string", "1.0.0", "Takes from a number.", "key decrement"},
     decrby},
};

}  // namespace

Family counter_commands() {
  return kCounterCommands;
}

}  // namespace redlock::server
