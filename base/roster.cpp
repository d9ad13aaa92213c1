#include "base/roster.h"

#include "base/text/number.h"
#include "base/text/printable.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace redlock {
namespace {

constexpr std::size_t kProposerDigits = 16;

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// An epoch, or a ballot's number.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto number = parse_int64(text);
  if (!number || *number <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// The next piece of the text, and the text behind it.
std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return piece;
}

bool is_address(std::string_view text) {
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_visible);
}

Result<RosterMember> parse_member(std::string_view text) {
  const std::string_view whole = text;
  const std::string_view id = cut(text, ',');
  const std::string_view ledger = cut(text, ',');
  const auto since = parse_count(cut(text, ','));
  if (!is_node_id(id) || !is_node_id(ledger) || !since || !is_address(text)) {
    return Failure{fmt::format("no member of a roster: {}", printable(whole))};
  }
  return RosterMember{std::string(id), std::string(ledger), *since, std::string(text)};
}

// Why the member cannot stand beside those before it; empty: it can.
std::string_view trouble_with(const RosterMember& member, const Roster& roster) {
  if (member.since > roster.epoch) return "is a member since a later epoch";
  for (const RosterMember& other : roster.members) {
    const bool is_same = other.id == member.id || other.ledger == member.ledger;
    if (is_same || other.address == member.address) return "stands there twice";
  }
  return "";
}

}  // namespace

bool is_node_id(std::string_view text) {
  return text.size() == kNodeIdDigits && is_hexadecimal(text);
}

const RosterMember* Roster::find(std::string_view id, std::string_view ledger) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [id, ledger](const RosterMember& member) {
        return member.id == id && member.ledger == ledger;
      });
  return found == members.end() ? nullptr : &*found;
}

std::string roster_text(const Roster& roster) {
  if (roster.epoch == 0) return "";
  std::string text = fmt::format("{}", roster.epoch);
  for (const RosterMember& member : roster.members) {
    text += fmt::format(" {},{},{},{}", member.id, member.ledger, member.since, member.address);
  }
  return text;
}

Result<Roster> parse_roster(std::string_view text) {
  if (text.size() > kRosterBytesMax) {
    return Failure{fmt::format("a roster of {} bytes: at most {}", text.size(), kRosterBytesMax)};
  }
  const std::string_view whole = text;
  const auto epoch = parse_count(cut(text, ' '));
  if (!epoch) return Failure{fmt::format("a roster begins with its epoch: {}", printable(whole))};
  Roster roster{*epoch, {}};
  while (!text.empty()) {
    auto member = parse_member(cut(text, ' '));
    if (!member) return member.error();
    const std::string_view trouble = trouble_with(member.value(), roster);
    if (!trouble.empty()) return Failure{fmt::format("node {} {}", member.value().id, trouble)};
    roster.members.push_back(std::move(member).value());
  }
  if (roster.members.empty()) return Failure{"a roster has at least one member"};
  if (roster_text(roster) != whole) return Failure{"a roster ends with its last member"};
  return roster;
}

std::string_view trouble_with_successor(const Roster& roster, const Roster& next) {
  if (next.epoch != roster.epoch + 1) return "it is not of the next epoch";
  const bool is_first = roster.epoch == 0;
  std::size_t stay = 0;
  for (const RosterMember& member : next.members) {
    const RosterMember* before = roster.find(member.id, member.ledger);
    if (before != nullptr) ++stay;
    if (member.since != (before != nullptr ? before->since : next.epoch)) {
      return "a member is one since the epoch that it came with";
    }
  }
  const bool is_one_at_most = next.members.size() <= stay + 1 && roster.members.size() <= stay + 1;
  return is_first || is_one_at_most ? "" : "one member at a time joins, leaves, or is replaced";
}

std::string ballot_text(const RosterBallot& ballot) {
  return fmt::format("{}.{:016x}", ballot.number, ballot.proposer);
}

Result<RosterBallot> parse_ballot(std::string_view text) {
  const std::string_view whole = text;
  const auto number = parse_count(cut(text, '.'));
  if (!number || text.size() != kProposerDigits || !is_hexadecimal(text)) {
    return Failure{fmt::format("no ballot: {}", printable(whole))};
  }
  std::uint64_t proposer = 0;
  std::from_chars(text.data(), text.data() + text.size(), proposer, 16);
  return RosterBallot{*number, proposer};
}

}  // namespace redlock
