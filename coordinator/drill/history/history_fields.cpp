#include "coordinator/drill/history/history_fields.h"

#include "base/invariant.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace redlock::drill {
namespace {

enum : unsigned {
  kLock = 1U << 0,
  kHold = 1U << 1,
  kAsked = 1U << 2,
  kToken = 1U << 3,
  kValidUntil = 1U << 4,
  kWhy = 1U << 5,
  kAccepted = 1U << 6,
  kUntil = 1U << 7,
  kFrom = 1U << 8,
  kDirection = 1U << 9,
  kMs = 1U << 10,
  kByMs = 1U << 11,
  kTtlMs = 1U << 12,
  kChange = 1U << 13,
};

// In the order of What.
constexpr std::array kKinds = {
    KindOfEvent{What::asks, "asks", true, kLock, 0},
    KindOfEvent{What::waits, "waits", true, kLock, kUntil},
    KindOfEvent{What::acquired, "acquired", true, kLock | kHold | kAsked | kValidUntil,
                kToken | kTtlMs},
    KindOfEvent{What::refused, "refused", true, kLock, kWhy},
    KindOfEvent{What::extended, "extended", true, kLock | kHold | kValidUntil, kTtlMs},
    KindOfEvent{What::releases, "releases", true, kLock | kHold, 0},
    KindOfEvent{What::lost, "lost", true, kLock | kHold, kWhy},
    KindOfEvent{What::wrote, "wrote", true, kLock | kHold | kAccepted, kToken},
    KindOfEvent{What::killed, "killed", false, 0, kWhy | kChange},
    KindOfEvent{What::started, "started", false, 0, kChange},
    KindOfEvent{What::stopped, "stopped", false, 0, kChange},
    KindOfEvent{What::continued, "continued", false, 0, 0},
    KindOfEvent{What::stalled, "stalled", false, kMs, 0},
    KindOfEvent{What::recovering, "recovering", false, kUntil, 0},
    KindOfEvent{What::serving, "serving", false, 0, 0},
    KindOfEvent{What::cut, "cut", false, 0, kFrom | kDirection | kChange},
    KindOfEvent{What::healed, "healed", false, 0, 0},
    KindOfEvent{What::slowed, "slowed", false, kMs, 0},
    KindOfEvent{What::unslowed, "unslowed", false, 0, 0},
    KindOfEvent{What::clock_jumped, "clock_jumped", false, kByMs, 0},
};
static_assert(kKinds.size() == kWhats);

constexpr std::string_view kNameIs = "a text of 1 to 256 bytes";
constexpr std::string_view kTimeIs = "a whole number of nanoseconds, from 0 to 2^62";
constexpr std::string_view kDirectionIs = R"("both", "in" or "out")";
constexpr std::int64_t kMsMax = std::int64_t{100} * 365 * 24 * 3600 * 1000;

bool read_ms(const ReadJson& value, std::int64_t& ms) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMsMax) return false;
  ms = value.get<std::int64_t>();
  return ms >= -kMsMax && ms <= kMsMax;
}

bool read_token(const ReadJson& value, std::uint64_t& token) {
  if (!value.is_number_unsigned()) return false;
  token = value.get<std::uint64_t>();
  return token <= kHistoryTokenMax;
}

bool read_bool(const ReadJson& value, bool& is) {
  if (!value.is_boolean()) return false;
  is = value.get<bool>();
  return true;
}

bool read_names(const ReadJson& value, std::vector<std::string>& names) {
  if (!value.is_array()) return false;
  names.resize(value.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!read_name(value[i], names[i])) return false;
  }
  return true;
}

bool read_direction(const ReadJson& value, Direction& direction) {
  if (!value.is_string()) return false;
  for (const Direction candidate : {Direction::both, Direction::in, Direction::out}) {
    direction = candidate;
    if (value.get_ref<const std::string&>() == name_of(candidate)) return true;
  }
  return false;
}

Json time_json(Instant time) {
  return time.time_since_epoch().count();
}

bool always(const Event& /*event*/) {
  return true;
}

using In = const ReadJson&;
using Of = const Event&;

constexpr std::array kFields = {
    EventField{kLock, "lock", kNameIs, [](In v, Event& e) { return read_name(v, e.lock); },
               [](Of e) -> Json { return e.lock; }, always},
    EventField{kHold, "hold", kNameIs, [](In v, Event& e) { return read_name(v, e.hold); },
               [](Of e) -> Json { return e.hold; }, always},
    EventField{kAsked, "asked", kTimeIs, [](In v, Event& e) { return read_time(v, e.asked); },
               [](Of e) { return time_json(e.asked); }, always},
    EventField{kToken, "token", "a whole number from 0 (none) to 2^53 - 1",
               [](In v, Event& e) { return read_token(v, e.token); },
               [](Of e) -> Json { return e.token; }, [](Of e) { return e.token != 0; }},
    EventField{kValidUntil, "valid_until", kTimeIs,
               [](In v, Event& e) { return read_time(v, e.valid_until); },
               [](Of e) { return time_json(e.valid_until); }, always},
    EventField{kTtlMs, "ttl_ms", "a whole number of milliseconds, from 1",
               [](In v, Event& e) { return read_ms(v, e.ttl_ms) && e.ttl_ms >= 1; },
               [](Of e) -> Json { return e.ttl_ms; }, [](Of e) { return e.ttl_ms != 0; }},
    EventField{kWhy, "why", "a text", [](In v, Event& e) { return read_text(v, e.why); },
               [](Of e) -> Json { return e.why; }, [](Of e) { return !e.why.empty(); }},
    EventField{kAccepted, "accepted", "true or false",
               [](In v, Event& e) { return read_bool(v, e.accepted); },
               [](Of e) -> Json { return e.accepted; }, always},
    EventField{kUntil, "until", kTimeIs, [](In v, Event& e) { return read_time(v, e.until); },
               [](Of e) { return time_json(e.until); }, [](Of e) { return e.until != Instant(); }},
    EventField{kFrom, "from", "a list of names",
               [](In v, Event& e) { return read_names(v, e.from); },
               [](Of e) -> Json { return e.from; }, [](Of e) { return !e.from.empty(); }},
    EventField{kDirection, "direction", kDirectionIs,
               [](In v, Event& e) { return read_direction(v, e.direction); },
               [](Of e) -> Json { return name_of(e.direction); },
               [](Of e) { return e.direction != Direction::both; }},
    EventField{kMs, "ms", "a whole number of milliseconds",
               [](In v, Event& e) { return read_ms(v, e.ms) && e.ms >= 0; },
               [](Of e) -> Json { return e.ms; }, always},
    EventField{kByMs, "by_ms", "a whole number of milliseconds",
               [](In v, Event& e) { return read_ms(v, e.by_ms); },
               [](Of e) -> Json { return e.by_ms; }, always},
    EventField{kChange, "x_change", "a text", [](In v, Event& e) { return read_text(v, e.change); },
               [](Of e) -> Json { return e.change; }, [](Of e) { return !e.change.empty(); }},
};

}  // namespace

std::span<const EventField> event_fields() {
  return kFields;
}

const KindOfEvent& kind_of(What what) {
  const KindOfEvent& kind = kKinds.at(static_cast<std::size_t>(what));
  INVARIANT(kind.what == what, "the kinds of events stand in the order of What");
  return kind;
}

const KindOfEvent* find_kind(std::string_view name) {
  const auto* found = std::find_if(kKinds.begin(), kKinds.end(),
                                   [&](const KindOfEvent& kind) { return kind.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

bool read_time(const ReadJson& value, Instant& time) {
  if (!value.is_number_unsigned()) return false;
  const auto ns = value.get<std::uint64_t>();
  if (ns > static_cast<std::uint64_t>(kHistoryTimeMax)) return false;
  time = Instant(Duration(static_cast<std::int64_t>(ns)));
  return true;
}

bool read_text(const ReadJson& value, std::string& text) {
  if (!value.is_string()) return false;
  text = value.get<std::string>();
  return true;
}

bool read_name(const ReadJson& value, std::string& name) {
  return read_text(value, name) && !name.empty() && name.size() <= kHistoryNameMax;
}

}  // namespace redlock::drill
