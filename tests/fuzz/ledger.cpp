// A ledger whose checksums are right: whatever stands in it, a start decides, and what it then
// writes promises no less than what it read.
//
// The input: the fields of copy 0 and of copy 1, then the volatile page's beginning.
#include "server/recovery/ledger.h"

#include "base/byte_order.h"
#include "server/locks/fence.h"
#include "server/recovery/checksum.h"
#include "server/recovery/recovery.h"
#include "tests/fuzz/target.h"

#include <string>

namespace redlock::fuzz {
namespace {

using namespace redlock::server;

constexpr std::size_t kCopyFieldBytes = 80;
constexpr std::size_t kVolatileBytes = 352;  // without its checksum

std::string mended(std::string_view fields, std::size_t from, std::size_t size) {
  std::string bytes(fields.substr(0, size));
  bytes.resize(size, '\0');
  append_little_endian(bytes, checksum(std::string_view(bytes).substr(from)));
  return bytes;
}

std::string ledger_of(std::string_view input) {
  constexpr std::size_t kBeforeChecksum = kLedgerPageBytes - sizeof(std::uint64_t);
  std::string copies;
  for (std::size_t copy = 0; copy < kLedgerCopies; ++copy) {
    copies += mended(take(input, kCopyFieldBytes), 0, kBeforeChecksum);
  }
  std::string first_page = mended(input, kBootAt, kVolatileBytes);
  first_page.resize(kLedgerPageBytes, '\0');
  return first_page + copies;
}

// A file in memory.
struct Pages final : LedgerPages {
  std::string bytes;

  void put(std::string_view piece, std::size_t at) { bytes.replace(at, piece.size(), piece); }
  Status write_latest_deadline(Instant latest) override {
    const auto piece = encode_latest_deadline(latest);
    put({piece.data(), piece.size()}, 0);
    return Done{};
  }
  Status write_boot(const BootIdentity& boot) override {
    put(encode_boot(boot), kBootAt);
    return Done{};
  }
  Status write_copy(std::size_t copy, const LedgerPage& page) override {
    put({page.data(), page.size()}, ledger_copy_offset(copy));
    return Done{};
  }
  Status sync() override { return Done{}; }
};

}  // namespace

void run(std::string_view input) {
  Pages pages;
  pages.bytes = ledger_of(input);
  const BootIdentity boot{"boot", "offsets", 1, 2};
  const Found found{
      .folder = "folder", .ledger = decode_ledger(pages.bytes), .snapshot = {}, .boot = boot};
  const DurableRecord& before = found.ledger.record;
  const std::string fresh_node_id(40, before.node_id.starts_with('a') ? 'b' : 'a');
  const Decision decision = decide(found, Settings(), Instant(1000s), fresh_node_id);
  INVARIANT(decision.delay >= 0ns && decision.grant_from >= Instant(1000s), "a wait below nothing");
  LedgerWriter writer(pages, found.ledger.write_first);
  INVARIANT(begin_run(decision, boot, pages, writer, [] { return Status(Done{}); }),
            "a run that cannot begin");
  const LedgerContent after = decode_ledger(pages.bytes);
  INVARIANT(after.state == LedgerState::valid, "what a start wrote is not valid");
  INVARIANT(after.record.fencing_bound <= kTokenMax, "a bound above every token");
  if (found.ledger.state != LedgerState::valid) return;
  INVARIANT(after.record.run > before.run || before.node_id != after.record.node_id,
            "a run that does not count on");
  INVARIANT(after.record.fencing_bound >= before.fencing_bound, "a bound that was lowered");
}

}  // namespace redlock::fuzz
