// What a command knows of one of its keys.
#pragma once

#include "base/time.h"
#include "base/token.h"
#include "coordinator/front_door/records/record.h"
#include "coordinator/front_door/records/record_change.h"
#include "coordinator/quorum/answer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

enum class Certainty : std::uint8_t {
  guess,      // by what this door did or read before
  unknown,    // a guess that was wrong, or others hold it: only a reading tells
  possible,   // read: this value, if any, is held (rule D3)
  confirmed,  // read, or voted on, since the command came
};

// As a reading told it: who the holder says it is, and for how long it has the lock.
struct KeyLabel {
  std::string text = {};  // empty: not told
  Duration held = 0ns;
};

struct KeyState {
  std::string key;
  std::optional<std::string> value = {};  // the whole record; nullopt: the key is free
  Instant deadline = {};                  // as its client is told it (rule D2)
  Duration ttl = 0ns;  // that this door gave it last; 0: another did, or not known
  Token token = 0;
  KeyLabel label = {};
  bool has_settled_token = false;  // read by who waited until the nodes tell one token, or none
  Certainty certainty = Certainty::guess;
  std::vector<Answer> answers = {};  // of a reading
  Instant read_at = {};              // when a reading told it; {}: none did
  Instant kept_until = {};           // of a reading: until then a quorum keeps this value

  // As a run sees it. What is held lives on for a moment at least, whatever its padding says.
  std::optional<SeenRecord> seen(Instant now) const {
    if (!value) return std::nullopt;
    const Record record = read_record(*value);
    return SeenRecord{record.kind, std::string(record.payload), std::max(deadline, now + 1ms)};
  }
  bool is_foreign() const { return value && read_record(*value).is_foreign; }
};

}  // namespace redlock::coordinator
