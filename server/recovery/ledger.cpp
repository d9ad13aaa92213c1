#include "server/recovery/ledger.h"

#include "base/byte_order.h"
#include "base/invariant.h"
#include "server/locks/fence.h"
#include "server/recovery/checksum.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace redlock::server {
namespace {

constexpr std::string_view kLedgerMagic = "RLLEDGER";
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kFencedAt = 12;
constexpr std::size_t kNodeIdAt = 16;
constexpr std::size_t kRunAt = 56;
constexpr std::size_t kLargestTtlAt = 64;
constexpr std::size_t kFencingBoundAt = 72;
constexpr std::size_t kRecordEnd = 80;
constexpr std::size_t kChecksumAt = kLedgerPageBytes - sizeof(std::uint64_t);

static_assert(kVersionAt == kLedgerMagic.size());
static_assert(kRunAt == kNodeIdAt + kNodeIdDigits);
static_assert(kRecordEnd == kFencingBoundAt + sizeof(std::uint64_t));
static_assert(kRecordEnd + kRosterRecordBytes <= kChecksumAt);

constexpr std::size_t kBootIdBytes = 64;
constexpr std::size_t kTimeOffsetsBytes = 256;
constexpr std::size_t kBootBytes = kBootIdBytes + kTimeOffsetsBytes + 2 * sizeof(std::uint64_t);
static_assert(kBootAt + kBootBytes + sizeof(std::uint64_t) <= kLedgerPageBytes);

// A text in a place of fixed size: its length, itself, zeros. One that does not fit is not kept,
// and so of no boot.
void append_placed_text(std::string& bytes, std::string_view text, std::size_t place) {
  if (text.size() >= std::min<std::size_t>(place, 256)) text = {};
  bytes += static_cast<char>(static_cast<unsigned char>(text.size()));
  bytes += text;
  bytes.append(place - 1 - text.size(), '\0');
}

std::string read_placed_text(std::string_view bytes, std::size_t at, std::size_t place) {
  const std::size_t size = static_cast<unsigned char>(bytes[at]);
  return size < place ? std::string(bytes.substr(at + 1, size)) : std::string();
}

BootIdentity decode_boot(std::string_view bytes) {
  if (read_little_endian<std::uint64_t>(bytes, kBootBytes) !=
      checksum(bytes.substr(0, kBootBytes))) {
    return {};
  }
  const std::size_t numbers_at = kBootIdBytes + kTimeOffsetsBytes;
  return {.boot_id = read_placed_text(bytes, 0, kBootIdBytes),
          .time_offsets = read_placed_text(bytes, kBootIdBytes, kTimeOffsetsBytes),
          .device = read_little_endian<std::uint64_t>(bytes, numbers_at),
          .inode = read_little_endian<std::uint64_t>(bytes, numbers_at + 8)};
}

constexpr std::string_view kHexDigits = "0123456789abcdef";

struct Copy {
  enum class State { damaged, unknown_version, valid };
  State state = State::damaged;
  DurableRecord record;
};

Copy decode_copy(std::string_view page) {
  if (page.size() < kLedgerPageBytes || !page.starts_with(kLedgerMagic)) return {};
  if (read_little_endian<std::uint64_t>(page, kChecksumAt) != checksum(page.substr(0, kChecksumAt)))
    return {};
  const auto version = read_little_endian<std::uint32_t>(page, kVersionAt);
  if (version < kLedgerVersionWithoutRoster || version > kLedgerVersion) {
    return {Copy::State::unknown_version, {}};
  }
  const auto fenced = read_little_endian<std::uint32_t>(page, kFencedAt);
  const auto largest_ttl = read_little_endian<std::uint64_t>(page, kLargestTtlAt);
  const auto fencing_bound = read_little_endian<std::uint64_t>(page, kFencingBoundAt);
  const std::string_view node_id = page.substr(kNodeIdAt, kNodeIdDigits);
  const bool in_range = fenced <= 1 && largest_ttl <= std::numeric_limits<std::int64_t>::max() &&
                        fencing_bound <= kTokenMax;
  std::optional<RosterRecord> roster = RosterRecord{};
  if (version == kLedgerVersion) {
    roster = decode_roster_record(page.substr(kRecordEnd, kRosterRecordBytes));
  }
  if (!in_range || !is_node_id(node_id) || !roster) return {};
  return {Copy::State::valid,
          {.node_id = std::string(node_id),
           .run = read_little_endian<std::uint64_t>(page, kRunAt),
           .largest_ttl = Duration(static_cast<std::int64_t>(largest_ttl)),
           .fencing_bound = fencing_bound,
           .fenced = fenced == 1,
           .roster = std::move(*roster)}};
}

DurableRecord larger_bounds(const DurableRecord& a, const DurableRecord& b) {
  RosterRecord roster = is_later(b.roster, a.roster) ? b.roster : a.roster;
  roster.ledger_id = a.run > b.run ? a.roster.ledger_id : b.roster.ledger_id;
  return {.node_id = a.node_id,
          .run = std::max(a.run, b.run),
          .largest_ttl = std::max(a.largest_ttl, b.largest_ttl),
          .fencing_bound = std::max(a.fencing_bound, b.fencing_bound),
          .fenced = a.fenced && b.fenced,
          .roster = std::move(roster)};
}

// Whether a was written after b: every start writes a larger run.
bool is_newer(const DurableRecord& a, const DurableRecord& b) {
  return std::tie(a.run, a.largest_ttl, a.fencing_bound) >
         std::tie(b.run, b.largest_ttl, b.fencing_bound);
}

LedgerContent judge(const Copy& copy0, const Copy& copy1) {
  using State = Copy::State;
  const bool valid0 = copy0.state == State::valid;
  const bool valid1 = copy1.state == State::valid;
  LedgerContent content;
  content.state = LedgerState::valid;
  content.write_first = valid0 ? 1 : 0;
  if (valid0 && valid1) {
    content.record = larger_bounds(copy0.record, copy1.record);
    content.write_first = is_newer(copy1.record, copy0.record) ? 1 : 0;
    if (copy0.record.node_id != copy1.record.node_id) content.state = LedgerState::damaged;
  } else if (valid0 || valid1) {
    content.record = valid0 ? copy0.record : copy1.record;
  } else {
    content.state = LedgerState::damaged;
  }
  // A newer program wrote here; what else it may have promised is not ours to guess.
  if (copy0.state == State::unknown_version || copy1.state == State::unknown_version) {
    content.state = LedgerState::unknown_version;
  }
  return content;
}

std::string_view page_of(std::string_view file, std::size_t copy) {
  const std::size_t at = ledger_copy_offset(copy);
  return at < file.size() ? file.substr(at, kLedgerPageBytes) : std::string_view();
}

}  // namespace

std::string make_node_id(std::span<const unsigned char, kNodeIdBytes> bytes) {
  std::string id;
  for (const unsigned char byte : bytes) {
    id += kHexDigits[byte >> 4];
    id += kHexDigits[byte & 15];
  }
  return id;
}

LedgerPage encode_ledger_copy(const DurableRecord& record) {
  INVARIANT(is_node_id(record.node_id), "a node id is 40 hexadecimal digits");
  INVARIANT(record.largest_ttl >= 0ns, "a TTL is never negative");
  INVARIANT(record.fencing_bound <= kTokenMax, "no token is larger than 2^53 - 1");
  std::string bytes(kLedgerMagic);
  const bool has_roster = record.roster != RosterRecord{};
  append_little_endian(bytes, has_roster ? kLedgerVersion : kLedgerVersionWithoutRoster);
  append_little_endian(bytes, std::uint32_t{record.fenced});
  bytes += record.node_id;
  append_little_endian(bytes, record.run);
  append_little_endian(bytes, static_cast<std::uint64_t>(record.largest_ttl.count()));
  append_little_endian(bytes, record.fencing_bound);
  INVARIANT(bytes.size() == kRecordEnd, "the record fills its place in the page");
  if (has_roster) bytes += encode_roster_record(record.roster);
  bytes.resize(kChecksumAt);
  append_little_endian(bytes, checksum(bytes));
  LedgerPage page;
  std::copy(bytes.begin(), bytes.end(), page.begin());
  return page;
}

std::array<char, kLatestDeadlineBytes> encode_latest_deadline(Instant latest_deadline) {
  INVARIANT(latest_deadline >= Instant{}, "a deadline before the clock began");
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    append_little_endian(bytes,
                         static_cast<std::uint64_t>(latest_deadline.time_since_epoch().count()));
  }
  std::array<char, kLatestDeadlineBytes> place;
  std::copy(bytes.begin(), bytes.end(), place.begin());
  return place;
}

std::string encode_boot(const BootIdentity& boot) {
  std::string bytes;
  append_placed_text(bytes, boot.boot_id, kBootIdBytes);
  append_placed_text(bytes, boot.time_offsets, kTimeOffsetsBytes);
  append_little_endian(bytes, boot.device);
  append_little_endian(bytes, boot.inode);
  append_little_endian(bytes, checksum(bytes));
  return bytes;
}

// A number that no Instant holds is later than any: damage, for whoever judges it.
VolatilePart decode_volatile_part(std::string_view page) {
  if (page.size() < kBootAt + kBootBytes + sizeof(std::uint64_t)) return {};
  const std::uint64_t latest = std::max(read_little_endian<std::uint64_t>(page, 0),
                                        read_little_endian<std::uint64_t>(page, 8));
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  return {.latest_deadline = Instant(Duration(static_cast<std::int64_t>(std::min(latest, kLast)))),
          .boot = decode_boot(page.substr(kBootAt))};
}

LedgerContent decode_ledger(std::string_view file) {
  LedgerContent content;
  if (file.find_first_not_of('\0') == std::string_view::npos) {
    content.state = LedgerState::unfinished;
    return content;
  }
  content = judge(decode_copy(page_of(file, 0)), decode_copy(page_of(file, 1)));
  content.volatile_part = decode_volatile_part(file.substr(0, kLedgerPageBytes));
  return content;
}

Status LedgerWriter::write(const DurableRecord& record) {
  const LedgerPage page = encode_ledger_copy(record);
  if (on_disk_ == OnDisk::doubtful) {
    if (auto synced = pages_.sync(); !synced) return synced;
  }
  on_disk_ = OnDisk::doubtful;  // until both copies are written and synced
  const std::size_t first = write_first_;
  for (const std::size_t copy : {first, 1 - first}) {
    if (auto written = write_durably(copy, page); !written) {
      write_first_ = copy;
      return written;
    }
  }
  on_disk_ = OnDisk::certain;
  return Done{};
}

Status LedgerWriter::write_durably(std::size_t copy, const LedgerPage& page) {
  if (auto written = pages_.write_copy(copy, page); !written) return written;
  return pages_.sync();
}

}  // namespace redlock::server
