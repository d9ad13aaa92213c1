// The ledger's volatile page: whatever a flipped bit or a torn write leaves of it, a start waits
// until the last lock has run out, or longer (rules R4, R6).
#include "base/byte_order.h"
#include "server/locks/latest_deadline.h"
#include "server/recovery/checksum.h"
#include "server/recovery/recovery.h"
#include "tests/unit/server/recovery/support.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

const BootIdentity kBoot{"8a1c2a3e-6a54-4c5b-9f61-1f0f5c6b7d8e\n",
                         "monotonic           0         0\nboottime            0         0\n",
                         65024, 1835};
constexpr Instant kStart(1000s);
constexpr Instant kOldLatest = kStart + 3s;
constexpr Instant kNewLatest = kStart + 7s;
const DurableRecord kRecord{kNodeA, 4, 30s, 77, true};

std::string ledger_with(Instant latest, const BootIdentity& boot = kBoot) {
  return ledger_bytes(kRecord, latest, boot);
}

Decision start(std::string_view file, const BootIdentity& boot = kBoot) {
  return decide({.folder = "/state", .ledger = decode_ledger(file), .snapshot = {}, .boot = boot},
                {}, kStart, kFreshNode);
}

}  // namespace

TEST_CASE("the volatile page keeps deadline and boot") {
  const VolatilePart part = decode_volatile_part(ledger_with(kNewLatest));
  CHECK(part.latest_deadline == kNewLatest);
  CHECK(part.boot == kBoot);
  CHECK(start(ledger_with(kNewLatest)).delay == 7s);
}

TEST_CASE("a page of zeros, of nothing, or without its end is of no boot (rule R6)") {
  CHECK(decode_volatile_part("").boot == BootIdentity{});
  CHECK(decode_volatile_part(std::string(kLedgerPageBytes, '\0')).boot == BootIdentity{});
  const std::string file = ledger_with(kNewLatest);
  for (std::size_t size = 0; size < 360; ++size) {
    const auto cut = decode_volatile_part(std::string_view(file).substr(0, size));
    if (cut.boot != BootIdentity{}) FAIL("cut at " << size);
  }
}

TEST_CASE("a text of the boot that has no room is of no boot, and breaks nothing (rule R6)") {
  BootIdentity boot = kBoot;
  boot.boot_id = std::string(64, 'x');
  CHECK_FALSE(is_same_boot(decode_volatile_part(ledger_with(kNewLatest, boot)).boot, boot));
  boot = kBoot;
  boot.time_offsets = std::string(256, 'x');
  CHECK_FALSE(is_same_boot(decode_volatile_part(ledger_with(kNewLatest, boot)).boot, boot));
  boot.time_offsets = std::string(255, 'x');
  CHECK(is_same_boot(decode_volatile_part(ledger_with(kNewLatest, boot)).boot, boot));
}

TEST_CASE("a length that its place does not have is of no text, though the checksum is right") {
  std::string identity = encode_boot(kBoot);
  identity[0] = 64;
  identity.resize(identity.size() - sizeof(std::uint64_t));
  append_little_endian(identity, checksum(identity));
  std::string file = ledger_with(kNewLatest);
  file.replace(kBootAt, identity.size(), identity);
  CHECK(decode_volatile_part(file).boot.boot_id.empty());
  CHECK(decode_volatile_part(file).boot.time_offsets == kBoot.time_offsets);
}

TEST_CASE("no flipped bit of the volatile page shortens the wait (rules R4, R6)") {
  const std::string whole = ledger_with(kNewLatest);
  for (std::size_t bit = 0; bit < 8 * kLedgerPageBytes; ++bit) {
    std::string file = whole;
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << (bit % 8)));
    if (start(file).grant_from < kNewLatest) FAIL("bit " << bit);
  }
}

TEST_CASE("no byte of the volatile page, whatever it is, shortens the wait (rules R4, R6)") {
  const std::string whole = ledger_with(kNewLatest);
  for (std::size_t at = 0; at < 400; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string file = whole;
      file[at] = static_cast<char>(value);
      if (start(file).grant_from < kNewLatest) FAIL("byte " << at << " is " << value);
    }
  }
}

TEST_CASE("no torn write of a deadline, up or down, is earlier than both (rule R4)") {
  for (const auto& [from, to] : {std::pair{kOldLatest, kNewLatest},
                                 {kNewLatest, kOldLatest},
                                 {kStart + 255ns, kStart + 256ns},
                                 {kNewLatest, Instant{}}}) {
    const auto bytes = encode_latest_deadline(to);
    std::string file = ledger_with(from);
    for (std::size_t written = 0; written <= bytes.size(); ++written) {
      if (written > 0) file[written - 1] = bytes[written - 1];
      if (start(file).grant_from < std::min(from, to)) FAIL(written << " bytes");
    }
  }
}

TEST_CASE("no torn write of the boot is this boot's, nor shortens the wait (rule R6)") {
  BootIdentity last = kBoot;
  last.boot_id[0] = '9';
  const std::string bytes = encode_boot(kBoot);
  std::string file = ledger_with(kStart - 900s, last);  // an instant of another clock
  for (std::size_t written = 1; written < bytes.size(); ++written) {
    file[kBootAt + written - 1] = bytes[written - 1];
    const Decision decision = start(file);
    const bool is_whole = file.substr(kBootAt, bytes.size()) == bytes;
    if (!is_whole && decision.cause != RestartCause::crash_of_another_boot) FAIL(written);
    if (!is_whole && decision.delay != 31'300ms) FAIL(written);
  }
}

TEST_CASE("a deadline that no Instant holds is damage (rule R4)") {
  std::string file = ledger_with(kNewLatest);
  file[7] = '\xff';
  const Decision decision = start(file);
  CHECK(decision.cause == RestartCause::ledger_damaged);
  CHECK(decision.delay == 66'650ms);
}
