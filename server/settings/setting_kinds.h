// The kinds of values that the rows of the setting table name: how each is read into its member of
// Settings and printed from it. For setting_table.cpp alone.
//
// A kind has two static functions. `read` gets at least one word, exactly one unless the row is a
// list, and leaves the settings as they were when it fails.
#pragma once

#include "base/roster.h"
#include "base/text/duration_text.h"
#include "base/text/printable.h"
#include "base/text/words.h"
#include "protocol/resp/limits.h"
#include "server/settings/setting_values.h"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace redlock::server::kinds {

using Words = std::vector<std::string>;

inline constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kUnsignedMax = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kScriptMemoryMin = 1 << 20;
// Less would close clients for a request of some size.
inline constexpr std::uint64_t kClientMemoryMin = 1 << 20;
// A holder's name or token, with room; what a request can bring at most.
inline constexpr std::uint64_t kValueSizeMin = 1024;
inline constexpr std::uint64_t kValueSizeMax = protocol::kBulkBytesMax;
inline constexpr std::uint64_t kScriptSizeMin = 16 * 1024;  // the known scripts are shorter
// A smaller block would flush the disk every few hundred locks. With a larger one fewer than 256
// restarts would bring a node's counter a leap (2^32) above the others' (rule F1).
inline constexpr std::uint64_t kFenceBlockMin = 1000;
inline constexpr std::uint64_t kFenceBlockMax = std::uint64_t{1} << 24;

inline constexpr std::string_view kRestartReplies[] = {"error", "held"};
inline constexpr std::string_view kDebugCommand[] = {"no", "local", "yes"};
inline constexpr std::string_view kEvalScripts[] = {"all", "known"};
inline constexpr std::string_view kSupervised[] = {"no", "systemd", "auto"};
inline constexpr std::string_view kTlsClients[] = {"no", "yes", "optional"};
inline constexpr std::string_view kTlsUsers[] = {"off", "CN"};
inline constexpr std::string_view kAuditFormats[] = {"text", "json"};
inline constexpr std::string_view kLogLevels[] = {"debug", "verbose", "notice", "warning"};

template <bool Settings::*member>
struct YesNo {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_yes_no(words[0]);
    if (!value) return value.error();
    settings.*member = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) { return yes_no_text(settings.*member); }
};

template <auto member, std::int64_t low, std::int64_t high>
struct Integer {
  using Number = std::remove_cvref_t<decltype(std::declval<Settings>().*member)>;

  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_integer(words[0], low, high);
    if (!value) return value.error();
    settings.*member = static_cast<Number>(value.value());
    return Applied{};
  }
  static std::string print(const Settings& settings) { return fmt::to_string(settings.*member); }
};

template <std::uint64_t Settings::*member, std::uint64_t low,
          std::uint64_t high = std::numeric_limits<std::uint64_t>::max()>
struct Memory {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_memory(words[0]);
    if (!value) return value.error();
    if (value.value() < low) return Failure{fmt::format("argument must be at least {}", low)};
    if (value.value() > high) return Failure{fmt::format("argument must be at most {}", high)};
    settings.*member = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) { return fmt::to_string(settings.*member); }
};

// The same, or 0: no bound.
template <std::uint64_t Settings::*member, std::uint64_t low>
struct MemoryOrAny : Memory<member, low> {
  static Result<Applied> read(Settings& settings, const Words& words) {
    if (words[0] != "0") return Memory<member, low>::read(settings, words);
    settings.*member = 0;
    return Applied{};
  }
};

// A duration of ours: read and printed as people write it. Zero would switch off what it bounds.
template <Duration Settings::*member>
struct Length {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_duration(words[0], 1ms, 1ms, kDurationTextMax);
    if (!value) return value.error();
    settings.*member = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) { return duration_text(settings.*member); }
};

template <std::string Settings::*member>
struct Text {
  static Result<Applied> read(Settings& settings, const Words& words) {
    settings.*member = words[0];
    return Applied{};
  }
  static std::string print(const Settings& settings) { return settings.*member; }
};

// A list that is kept in one piece.
template <std::string Settings::*member>
struct Joined {
  static Result<Applied> read(Settings& settings, const Words& words) {
    settings.*member = fmt::format("{}", fmt::join(words, " "));
    return Applied{};
  }
  static std::string print(const Settings& settings) { return settings.*member; }
};

struct AuditPlace {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const std::string& place = words[0];
    const bool is_place =
        place == kNoAudit || place == kAuditInLog || place.find('/') != std::string::npos;
    if (!is_place) return Failure{"argument must be no, log or a path with a / in it"};
    settings.audit = place;
    return Applied{};
  }
  static std::string print(const Settings& settings) { return settings.audit; }
};

struct Bind {
  static Result<Applied> read(Settings& settings, const Words& words) {
    std::vector<std::string> addresses;
    for (const std::string& word : words) {
      if (word.find_first_of(kWordBlanks) != std::string::npos) {
        return Failure{fmt::format("'{}' is no address, as there is a blank in it: a word for each",
                                   printable(word))};
      }
      if (!word.empty()) addresses.push_back(word);
    }
    settings.bind = std::move(addresses);
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return fmt::format("{}", fmt::join(settings.bind, " "));
  }
};

struct SocketMode {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto mode = read_octal(words[0]);
    if (!mode) return mode.error();
    settings.unixsocketperm = mode.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) { return octal_text(settings.unixsocketperm); }
};

// A duration of Redis's: a plain number counts in `Unit`, as which it is printed too.
template <Duration Settings::*member, class Unit, std::int64_t low, std::int64_t high>
struct RedisLength {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_redis_duration(words[0], Unit(1), Unit(low), Unit(high));
    if (!value) return value.error();
    settings.*member = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return fmt::to_string(std::chrono::ceil<Unit>(settings.*member).count());
  }
};

template <Duration Settings::*member>
using Seconds = RedisLength<member, std::chrono::seconds, 0, kIntMax>;

struct ClockDrift {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_share(words[0], kClockDriftMax);
    if (!value) return value.error();
    settings.clock_drift = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) { return share_text(settings.clock_drift); }
};

struct NodeId {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const std::string& id = words[0];
    if (!id.empty() && !is_node_id(id)) {
      return Failure{"argument must be 40 lower-case hexadecimal digits"};
    }
    settings.node_id = id;
    return Applied{};
  }
  static std::string print(const Settings& settings) { return settings.node_id; }
};

struct Delay {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto value = read_restart_delay(words[0]);
    if (!value) return value.error();
    settings.restart_delay = value.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return restart_delay_text(settings.restart_delay);
  }
};

// One of a few names, in the order of the member's enum.
template <auto member, const auto& names>
struct Choice {
  using Value = std::remove_cvref_t<decltype(std::declval<Settings>().*member)>;

  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto choice = read_choice(words[0], names);
    if (!choice) return choice.error();
    settings.*member = static_cast<Value>(choice.value());
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return std::string(names[static_cast<std::size_t>(settings.*member)]);
  }
};

struct OutputBufferLimit {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto limits =
        read_output_limits(words, {settings.output_limit, settings.listener_output_limit});
    if (!limits) return limits.error();
    settings.output_limit = limits.value().normal;
    settings.listener_output_limit = limits.value().listener;
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return output_limits_text({settings.output_limit, settings.listener_output_limit});
  }
};

struct EventLetters {
  static Result<Applied> read(Settings& settings, const Words& words) {
    const auto flags = read_event_flags(words[0]);
    if (!flags) return flags.error();
    settings.notify_keyspace_events = flags.value();
    return Applied{};
  }
  static std::string print(const Settings& settings) {
    return event_flags_text(settings.notify_keyspace_events);
  }
};

struct StateDirectory : Text<&Settings::dir> {
  static std::string print(const Settings& settings) { return state_directory(settings); }
};

// Answers that never change. A file that wants something else is warned why it will not get it.
struct FixedAnswer {
  std::string_view value;
  std::string_view reason;

  Result<Applied> read(const Words& words) const {
    if (fmt::format("{}", fmt::join(words, " ")) == value) return Applied{};
    return Applied{.warning = std::string(reason), .meaningless = {}};
  }
};

template <const FixedAnswer& answer>
struct Fixed {
  static Result<Applied> read(Settings&, const Words& words) { return answer.read(words); }
  static std::string print(const Settings&) { return std::string(answer.value); }
};

inline constexpr FixedAnswer kDatabases{"1", "there is one database, number 0"};
inline constexpr FixedAnswer kSave{"",
                                   "locks are not kept in RDB files: see dir and restart-delay"};
inline constexpr FixedAnswer kAppendonly{"no",
                                         "locks are not kept in an AOF: see dir and restart-delay"};
inline constexpr FixedAnswer kClusterEnabled{"no", "a lock node is not part of a Redis cluster"};
inline constexpr FixedAnswer kReplicaReadOnly{"yes", "a node has no replicas"};
inline constexpr FixedAnswer kDaemonize{
    "no", "a node stays in the foreground: let systemd run it, or the shell's &"};

// A policy that evicts would take locks from their holders, so another one is an error.
struct EvictionPolicy {
  static Result<Applied> read(Settings&, const Words& words) {
    const auto choice = read_choice(words[0], kNames);
    if (!choice) return choice.error();
    return Applied{};
  }
  static std::string print(const Settings&) { return std::string(kNames[0]); }

 private:
  static constexpr std::string_view kNames[] = {"noeviction"};
};

}  // namespace redlock::server::kinds
