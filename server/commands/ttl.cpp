#include "server/commands/ttl.h"

#include "base/text/duration_text.h"
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/node/node.h"

#include <limits>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using protocol::Reply;

constexpr std::int64_t kMostMs = std::numeric_limits<std::int64_t>::max();

TtlReading refused(Reply refusal) {
  return {{}, std::move(refusal)};
}

TtlReading invalid(const Call& call) {
  return refused(
      Reply::error(fmt::format("ERR invalid expire time in '{}' command", call.command.spec.name)));
}

// The user's own limit, if that is what it is above.
std::optional<Reply> above_own_max_ttl(const Node& node, std::int64_t ms) {
  const Duration own = node.grants().max_ttl();
  if (own >= node.settings().max_ttl) return std::nullopt;
  return Reply::error(
      fmt::format("ERR a TTL of {} ms is above the max-ttl of this user ({} ms): ask for less", ms,
                  ceil_ms(own)));
}

// Advice to raise max-ttl is for a TTL that it can be raised to.
Reply above_max_ttl(const Node& node, std::int64_t ms) {
  if (auto of_user = above_own_max_ttl(node, ms)) return std::move(*of_user);
  if (const std::string* bound = node.ttl_bound()) {
    return Reply::error(fmt::format("ERR a TTL of {} ms is above {}", ms, *bound));
  }
  if (ms > kDurationTextMax / 1ms) {
    return Reply::error(fmt::format(
        "ERR a TTL of {} ms is above this node's max-ttl ({} ms), and above any that a node can "
        "have ({}): ask for less",
        ms, ceil_ms(node.settings().max_ttl), duration_text(kDurationTextMax)));
  }
  return Reply::error(fmt::format(
      "ERR a TTL of {} ms is above this node's max-ttl ({} ms): ask for less, or raise max-ttl in "
      "its configuration",
      ms, ceil_ms(node.settings().max_ttl)));
}

bool is_absolute(TtlForm form) {
  return form == TtlForm::at_seconds || form == TtlForm::at_milliseconds;
}

}  // namespace

std::optional<TtlForm> ttl_form_of(std::string_view option) {
  if (equals_ignoring_case(option, "PX")) return TtlForm::milliseconds;
  if (equals_ignoring_case(option, "EX")) return TtlForm::seconds;
  if (equals_ignoring_case(option, "PXAT")) return TtlForm::at_milliseconds;
  if (equals_ignoring_case(option, "EXAT")) return TtlForm::at_seconds;
  return std::nullopt;
}

void tell_of_grant(const Call& call, std::string_view key) {
  call.node.notify(kStringEvent, "set", key);
  call.node.notify(kGenericEvent, "expire", key);
}

TtlReading read_ttl(const Call& call, std::string_view word, TtlForm form,
                    NonPositive non_positive) {
  const auto number = parse_int64(word);
  if (!number) return refused(Reply::error_view(protocol::kNotAnInteger));
  if (*number <= 0 && non_positive == NonPositive::refused) return invalid(call);
  std::int64_t ms = *number;
  if (form == TtlForm::seconds || form == TtlForm::at_seconds) {
    if (ms > kMostMs / 1000 || ms < -kMostMs / 1000) return invalid(call);
    ms *= 1000;
  }
  const Duration since_epoch = call.now.wall.time_since_epoch();
  const std::int64_t wall_ms = floor_ms(since_epoch);
  if (is_absolute(form)) {
    if (ms < 0) return {Duration(-1ms), {}};
    if (ms - wall_ms > ceil_ms(call.node.grants().max_ttl()))
      return refused(above_max_ttl(call.node, ms - wall_ms));
    if (ms <= wall_ms) return {Duration::zero(), {}};
    return {std::chrono::milliseconds(ms) - since_epoch, {}};
  }
  if (ms > kMostMs - wall_ms) return invalid(call);  // as Redis, which keeps the sum
  if (ms <= 0) return {Duration::zero(), {}};
  if (ms > ceil_ms(call.node.grants().max_ttl())) return refused(above_max_ttl(call.node, ms));
  return {std::chrono::milliseconds(ms), {}};
}

protocol::Refusal refuse_kept_deadline(const Call& call, Instant deadline) {
  const Duration own = call.node.grants().max_ttl();
  if (own >= call.node.settings().max_ttl) [[likely]]
    return {};
  if (deadline == kNever) {
    return Reply::error_view("ERR this key has no TTL, and the locks of this user need one");
  }
  const std::int64_t ms = ceil_ms(deadline - call.instant());
  if (ms <= ceil_ms(own)) return {};
  return std::move(*above_own_max_ttl(call.node, ms));
}

protocol::Refusal refuse_ttl(const Node& node, Duration ttl) {
  const std::int64_t ms = ceil_ms(ttl);
  if (ms <= ceil_ms(node.grants().max_ttl())) return {};
  return above_max_ttl(node, ms);
}

}  // namespace redlock::server
