// WaitTicket: since when somebody waits for a lock, and so who is first (rule Q7).
//
//   1764178532000-3735928559     wall-clock milliseconds, and a random number among equals
//
// A coordinator takes one when it begins to wait, and shows it to every node (LOCK.WAIT … AT), so
// that the nodes agree on the order. A ticket is an order, never a proof: clocks differ, and
// whoever likes may forge one. So nothing of safety rests on tickets, and a node trusts them only
// so far (server/notify/waiters.h).
#pragma once

#include "base/time.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock {

struct WaitTicket {
  std::uint64_t ms = 0;  // since 1970-01-01 00:00:00 UTC
  std::uint64_t number = 0;

  friend auto operator<=>(const WaitTicket&, const WaitTicket&) = default;
};

// The largest part of a ticket: what a double can hold, so that no client's number loses digits.
inline constexpr std::uint64_t kWaitTicketPartMax = (std::uint64_t{1} << 53) - 1;

// At most 33 bytes.
std::string wait_ticket_text(const WaitTicket& ticket);
// Strict: what is accepted has this very text. nullopt: it is no ticket.
std::optional<WaitTicket> parse_wait_ticket(std::string_view text);
// For how long its bearer waits, as it says, in whole milliseconds; 0: it is of a
// time to come.
Duration age_of(const WaitTicket& ticket, WallTime now);

}  // namespace redlock
