#include "base/wait_ticket.h"

#include "base/text/number.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock {
namespace {

std::optional<std::uint64_t> parse_part(std::string_view text) {
  const auto number = parse_int64(text);
  if (!number || *number < 0) return std::nullopt;
  const auto part = static_cast<std::uint64_t>(*number);
  if (part > kWaitTicketPartMax) return std::nullopt;
  return part;
}

}  // namespace

std::string wait_ticket_text(const WaitTicket& ticket) {
  return fmt::format("{}-{}", ticket.ms, ticket.number);
}

std::optional<WaitTicket> parse_wait_ticket(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto ms = parse_part(text.substr(0, dash));
  const auto number = parse_part(text.substr(dash + 1));
  if (!ms || !number) return std::nullopt;
  return WaitTicket{*ms, *number};
}

Duration age_of(const WaitTicket& ticket, WallTime now) {
  const std::int64_t age = floor_ms(now.time_since_epoch()) - static_cast<std::int64_t>(ticket.ms);
  return std::chrono::milliseconds(std::max<std::int64_t>(age, 0));
}

}  // namespace redlock
