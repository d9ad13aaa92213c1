#include "server/settings/event_flags.h"

#include <algorithm>
#include <array>

namespace redlock::server {
namespace {

struct Letter {
  char letter;
  EventFlags flag;
};

// What A stands for, and the others, each in the order in which Redis prints them.
constexpr std::array kOfAll = {Letter{'g', kGenericEvent}, Letter{'$', kStringEvent},
                               Letter{'l', kListEvent},    Letter{'s', kSetEvent},
                               Letter{'h', kHashEvent},    Letter{'z', kSortedSetEvent},
                               Letter{'x', kExpiredEvent}, Letter{'e', kEvictedEvent},
                               Letter{'t', kStreamEvent},  Letter{'d', kModuleEvent}};
constexpr std::array kOthers = {Letter{'n', kNewKeyEvent}, Letter{'K', kToKeyspace},
                                Letter{'E', kToKeyevent}, Letter{'m', kMissEvent}};

constexpr EventFlags flags_of_a() {
  EventFlags flags = 0;
  for (const Letter& known : kOfAll) flags |= known.flag;
  return flags;
}

EventFlags flags_of(char letter) {
  if (letter == 'A') return flags_of_a();
  EventFlags flags = 0;
  const auto take_if_it_is = [&](const Letter& known) {
    if (known.letter == letter) flags = known.flag;
  };
  std::for_each(kOfAll.begin(), kOfAll.end(), take_if_it_is);
  std::for_each(kOthers.begin(), kOthers.end(), take_if_it_is);
  return flags;
}

}  // namespace

Result<EventFlags> read_event_flags(std::string_view letters) {
  EventFlags flags = 0;
  for (const char letter : letters) {
    const EventFlags more = flags_of(letter);
    if (more == 0) return Failure{"Invalid event class character. Use 'Ag$lshzxeKEtmdn'."};
    flags |= more;
  }
  return flags;
}

std::string event_flags_text(EventFlags flags) {
  std::string text;
  const bool has_all = (flags & flags_of_a()) == flags_of_a();
  if (has_all) {
    text += 'A';
    flags &= ~(flags_of_a() | kNewKeyEvent);  // Redis tells of n behind those of A, or not at all
  }
  for (const Letter& known : kOfAll) {
    if ((flags & known.flag) != 0) text += known.letter;
  }
  for (const Letter& known : kOthers) {
    if ((flags & known.flag) != 0) text += known.letter;
  }
  return text;
}

}  // namespace redlock::server
