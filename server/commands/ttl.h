// TTLs as commands give them: read as strictly as Redis does, capped by max-ttl (rule L1), and
// absolute times turned into what remains, once, on receipt (rule C6).
#pragma once

#include "protocol/resp/refusal.h"
#include "server/node/command.h"

#include <optional>
#include <string_view>

namespace redlock::server {

enum class TtlForm {
  seconds,          // EX, EXPIRE
  milliseconds,     // PX, PEXPIRE
  at_seconds,       // EXAT, EXPIREAT
  at_milliseconds,  // PXAT, PEXPIREAT
};

// The form that an option of SET and GETEX names, in any case: EX, PX, EXAT, PXAT.
std::optional<TtlForm> ttl_form_of(std::string_view option);

// What remains of the lock from the instant of the call on: may be zero or less for a time that has
// passed. Or why the word is refused.
struct TtlReading {
  Duration remaining{};
  protocol::Refusal refusal;
};

enum class NonPositive {
  refused,  // SET: "invalid expire time"
  taken,    // EXPIRE: the key is deleted
};

// Tells of a text that was put under a key with a TTL.
void tell_of_grant(const Call& call, std::string_view key);

TtlReading read_ttl(const Call& call, std::string_view word, TtlForm form,
                    NonPositive non_positive);

// Of a TTL that was read before, and is asked for only now: max-ttl may be less by then.
protocol::Refusal refuse_ttl(const Node& node, Duration ttl);

// Of a command that makes another's lock the caller's and keeps its deadline: that may be longer
// than the user's own locks may be (max-ttl), or there is none.
protocol::Refusal refuse_kept_deadline(const Call& call, Instant deadline);

}  // namespace redlock::server
