// Which keyspace events are told: the setting notify-keyspace-events, a letter for each kind.
//
//   K  to __keyspace@0__:KEY, the event's name     g  DEL, EXPIRE, PERSIST, …    x  a key ran out
//   E  to __keyevent@0__:EVENT, the key            $  strings    h  hashes       n  a new key
//   A  all kinds but n
//
// Redis's other letters are accepted: of l s z t d e a lock node has nothing to tell, and m, a key
// that was asked for and is not there, it does not tell.
#pragma once

#include <redlock/result.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::server {

using EventFlags = std::uint32_t;  // of EventFlag

enum EventFlag : EventFlags {
  kToKeyspace = 1u << 0,
  kToKeyevent = 1u << 1,
  kGenericEvent = 1u << 2,
  kStringEvent = 1u << 3,
  kListEvent = 1u << 4,
  kSetEvent = 1u << 5,
  kHashEvent = 1u << 6,
  kSortedSetEvent = 1u << 7,
  kExpiredEvent = 1u << 8,
  kEvictedEvent = 1u << 9,
  kStreamEvent = 1u << 10,
  kModuleEvent = 1u << 11,
  kNewKeyEvent = 1u << 12,
  kMissEvent = 1u << 13,
};

Result<EventFlags> read_event_flags(std::string_view letters);
// In the order in which Redis prints them; A for all that it stands for.
std::string event_flags_text(EventFlags flags);

// Whether events of this kind reach anybody: it is asked for, and told to one of the two channels.
constexpr bool are_told(EventFlags asked, EventFlag kind) {
  return (asked & kind) != 0 && (asked & (kToKeyspace | kToKeyevent)) != 0;
}

}  // namespace redlock::server
