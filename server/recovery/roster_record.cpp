#include "server/recovery/roster_record.h"

#include "base/byte_order.h"
#include "base/invariant.h"
#include "base/token.h"

#include <limits>
#include <tuple>
#include <utility>

namespace redlock::server {
namespace {

constexpr std::size_t kPromisedAt = 8;
constexpr std::size_t kAcceptedAt = 24;
constexpr std::size_t kLedgerIdAt = 40;
constexpr std::size_t kTextsAt = kLedgerIdAt + kNodeIdDigits;
constexpr std::size_t kTextBytes = sizeof(std::uint16_t) + kRosterBytesMax;
constexpr std::size_t kFloorAt = kTextsAt + 2 * kTextBytes;
static_assert(kFloorAt + sizeof(std::uint64_t) == kRosterRecordBytes);

void append_ballot(std::string& bytes, const RosterBallot& ballot) {
  append_little_endian(bytes, ballot.number);
  append_little_endian(bytes, ballot.proposer);
}

RosterBallot read_ballot(std::string_view bytes, std::size_t at) {
  return {read_little_endian<std::uint64_t>(bytes, at),
          read_little_endian<std::uint64_t>(bytes, at + 8)};
}

void append_roster(std::string& bytes, const Roster& roster) {
  const std::string text = roster_text(roster);
  INVARIANT(text.size() <= kRosterBytesMax, "a roster that is longer than its place");
  append_little_endian(bytes, static_cast<std::uint16_t>(text.size()));
  bytes += text;
  bytes.append(kRosterBytesMax - text.size(), '\0');
}

std::optional<Roster> read_roster(std::string_view place) {
  const std::size_t size = read_little_endian<std::uint16_t>(place, 0);
  if (size == 0) return Roster{};
  if (size > kRosterBytesMax) return std::nullopt;
  auto roster = parse_roster(place.substr(sizeof(std::uint16_t), size));
  if (!roster) return std::nullopt;
  return std::move(roster).value();
}

}  // namespace

bool is_later(const RosterRecord& a, const RosterRecord& b) {
  return std::tie(a.current.epoch, a.promised, a.accepted_ballot) >
         std::tie(b.current.epoch, b.promised, b.accepted_ballot);
}

std::string encode_roster_record(const RosterRecord& record) {
  INVARIANT(record.longest >= 0ns, "a TTL is never negative");
  INVARIANT(record.floor <= kTokenMax, "no token is larger than 2^53 - 1");
  INVARIANT(record.ledger_id.empty() || is_node_id(record.ledger_id), "a ledger id has 40 digits");
  std::string bytes;
  append_little_endian(bytes, static_cast<std::uint64_t>(record.longest.count()));
  append_ballot(bytes, record.promised);
  append_ballot(bytes, record.accepted_ballot);
  bytes += record.ledger_id;
  bytes.resize(kTextsAt);
  append_roster(bytes, record.current);
  append_roster(bytes, record.accepted);
  append_little_endian(bytes, record.floor);
  INVARIANT(bytes.size() == kRosterRecordBytes, "the record fills its place in the copy");
  return bytes;
}

std::optional<RosterRecord> decode_roster_record(std::string_view bytes) {
  const auto longest = read_little_endian<std::uint64_t>(bytes, 0);
  std::string_view ledger_id = bytes.substr(kLedgerIdAt, kNodeIdDigits);
  if (ledger_id.find_first_not_of('\0') == std::string_view::npos) ledger_id = {};
  auto current = read_roster(bytes.substr(kTextsAt, kTextBytes));
  auto accepted = read_roster(bytes.substr(kTextsAt + kTextBytes, kTextBytes));
  const auto floor = read_little_endian<std::uint64_t>(bytes, kFloorAt);
  const bool in_range = longest <= std::numeric_limits<std::int64_t>::max() && floor <= kTokenMax &&
                        (ledger_id.empty() || is_node_id(ledger_id));
  if (!in_range || !current || !accepted) return std::nullopt;
  RosterRecord record{.current = std::move(*current),
                      .longest = Duration(static_cast<std::int64_t>(longest)),
                      .floor = floor,
                      .ledger_id = std::string(ledger_id),
                      .promised = read_ballot(bytes, kPromisedAt),
                      .accepted_ballot = read_ballot(bytes, kAcceptedAt),
                      .accepted = std::move(*accepted)};
  const std::uint64_t next = record.has_accepted() ? record.current.epoch + 1 : 0;
  if (record.accepted.epoch != next) return std::nullopt;
  return record;
}

}  // namespace redlock::server
