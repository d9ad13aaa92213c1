#include "server/recovery/ledger.h"

#include "server/locks/fence.h"
#include "server/recovery/checksum.h"
#include "tests/unit/server/recovery/support.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

const DurableRecord kOld{kNodeA, 4, 30s, 1000, true};
const DurableRecord kNew{kNodeA, 5, 60s, 2000, true};

// A page whose checksum is right, whatever stands in it.
LedgerPage with_checksum(LedgerPage page) {
  std::uint64_t sum = checksum(text_of(page).substr(0, kLedgerPageBytes - 8));
  for (std::size_t i = 0; i < 8; ++i, sum >>= 8) {
    page[kLedgerPageBytes - 8 + i] = static_cast<char>(sum & 255);
  }
  return page;
}

LedgerPage of_version(char version) {
  LedgerPage page = encode_ledger_copy(kNew);
  page[8] = version;
  return with_checksum(page);
}

// What is in force at a crash, and what may be found after it.
void check_old_or_new(const LedgerContent& found) {
  REQUIRE(found.state == LedgerState::valid);
  CHECK((found.record == kOld || found.record == kNew));
}

}  // namespace

TEST_CASE("a ledger keeps its record to the bit") {
  DurableRecord largest = kNew;
  largest.roster = {.longest = Duration::max(), .floor = kTokenMax};
  for (const DurableRecord& record :
       {kNew, largest, DurableRecord{kNodeB, 0, 0ns, 0, false},
        DurableRecord{kNodeB, ~std::uint64_t{0}, Duration::max(), kTokenMax, true}}) {
    const LedgerContent content = decode_ledger(ledger_bytes(record, record));
    CHECK(content.state == LedgerState::valid);
    CHECK(content.record == record);
  }
}

TEST_CASE("the layout of a ledger's copy is the one that is drawn") {
  const LedgerPage page = encode_ledger_copy({kNodeA, 0x0102030405060708, 1ns, 3, true});
  const std::string_view text = text_of(page);
  CHECK(text.substr(0, 8) == "RLLEDGER");
  CHECK(text.substr(8, 4) == std::string_view("\1\0\0\0", 4));
  CHECK(text.substr(12, 4) == std::string_view("\1\0\0\0", 4));
  CHECK(text.substr(16, 40) == kNodeA);
  CHECK(text.substr(56, 8) == "\x08\x07\x06\x05\x04\x03\x02\x01");
  CHECK(text.substr(64, 8) == std::string_view("\1\0\0\0\0\0\0\0", 8));
  CHECK(text.substr(72, 8) == std::string_view("\3\0\0\0\0\0\0\0", 8));
  CHECK(text.substr(80, 4008).find_first_not_of('\0') == std::string_view::npos);
}

TEST_CASE("a new node id is 40 lower-case hexadecimal digits") {
  std::array<unsigned char, kNodeIdBytes> bytes{0x00, 0x1f, 0xff};
  CHECK(make_node_id(bytes) == "001fff" + std::string(34, '0'));
}

TEST_CASE(
    "what a node knows of its group stands in both copies, of a version of their own (rules G)") {
  DurableRecord record = kNew;
  record.roster = {
      .current = {2, {{kNodeA, kNodeA, 1, "10.0.0.1:7001"}, {kNodeB, kNodeB, 2, "10.0.0.2:7001"}}},
      .longest = 65s,
      .floor = 77,
      .ledger_id = kNodeB,
      .promised = {9, 3},
      .accepted_ballot = {7, 1},
      .accepted = {3, {{kNodeA, kNodeA, 1, "10.0.0.1:7001"}}}};
  CHECK(encode_ledger_copy(record)[8] == 2);
  CHECK(encode_ledger_copy(kNew)[8] == 1);
  const LedgerContent content = decode_ledger(ledger_bytes(record, record));
  CHECK(content.state == LedgerState::valid);
  CHECK(content.record == record);
  record.roster = {.ledger_id = kNodeB};
  CHECK(record.ledger_id() == kNodeB);
  CHECK(kNew.ledger_id() == kNodeA);
  CHECK(decode_ledger(ledger_bytes(record, record)).record == record);
}

TEST_CASE(
    "of a group the later of two copies counts, also where it stands in the first (rule G2)") {
  DurableRecord before = kNew;
  before.roster.current = {1, {{kNodeA, kNodeA, 1, "h:1"}}};
  std::vector<RosterRecord> later(4, before.roster);
  later[0].promised = {1, 1};
  later[1].promised = later[1].accepted_ballot = {1, 1};
  later[1].accepted = {2, {{kNodeB, kNodeB, 2, "h:2"}}};
  later[2].current.epoch = 2;
  later[3] = {.current = {1, {{kNodeA, kNodeA, 1, "h:1"}}}, .promised = {3, 1}};
  for (const RosterRecord& roster : later) {
    DurableRecord after = before;
    after.roster = roster;
    CHECK(decode_ledger(ledger_bytes(before, after)).record.roster == roster);
    CHECK(decode_ledger(ledger_bytes(after, before)).record.roster == roster);
  }
}

TEST_CASE(
    "the ledger's id is that of the larger run, whichever copy knows more of the group (G4)") {
  DurableRecord before = kOld;
  before.roster = {.ledger_id = kNodeB, .promised = {1, 1}};
  DurableRecord after = kNew;
  after.roster = {.ledger_id = kFreshNode};
  for (const auto& file : {ledger_bytes(before, after), ledger_bytes(after, before)}) {
    CHECK(decode_ledger(file).record.ledger_id() == kFreshNode);
    CHECK(decode_ledger(file).record.roster.promised == RosterBallot{1, 1});
  }
}

TEST_CASE("a roster that cannot be is damage") {
  DurableRecord record = kNew;
  record.roster = {
      .promised = {1, 1}, .accepted_ballot = {1, 1}, .accepted = {1, {{kNodeA, kNodeA, 1, "h:1"}}}};
  const LedgerPage good = encode_ledger_copy(record);
  CHECK(decode_ledger(ledger_bytes(text_of(good), text_of(good))).state == LedgerState::valid);
  constexpr std::size_t kLedgerId = 80 + 40;
  constexpr std::size_t kCurrent = kLedgerId + 40;
  constexpr std::size_t kAcceptedText = kCurrent + 2 + kRosterBytesMax + 2;
  const auto damaged = [&](std::size_t at, char byte) {
    LedgerPage page = good;
    page[at] = byte;
    page = with_checksum(page);
    return decode_ledger(ledger_bytes(text_of(page), text_of(page))).state == LedgerState::damaged;
  };
  CHECK(damaged(80 + 7, '\x80'));  // a longest TTL that no Duration holds
  CHECK(damaged(kLedgerId, 'a'));
  CHECK(damaged(kCurrent, 1));           // a length without a text
  CHECK(damaged(kCurrent + 1, '\xff'));  // and beyond its place
  CHECK(damaged(kAcceptedText, '2'));    // accepted for another epoch than the next
  CHECK(damaged(80 + 24, 0));            // accepted under no ballot
  CHECK(damaged(kAcceptedText + kRosterBytesMax + 6, '\xff'));  // a floor that is no token
}

TEST_CASE("a roster may fill its place to the last byte, and no length reaches beyond") {
  DurableRecord record = kNew;
  record.roster.current = {1, {{kNodeA, kNodeA, 1, "h"}}};
  std::string& address = record.roster.current.members[0].address;
  address.append(kRosterBytesMax - roster_text(record.roster.current).size(), 'h');
  LedgerPage page = encode_ledger_copy(record);
  CHECK(decode_ledger(ledger_bytes(text_of(page), text_of(page))).record == record);
  ++page[80 + 80];  // its length
  page = with_checksum(page);
  CHECK(decode_ledger(ledger_bytes(text_of(page), text_of(page))).state == LedgerState::damaged);
}

TEST_CASE("every flipped bit of one copy leaves the other in force (rule R7)") {
  for (std::size_t copy = 0; copy < kLedgerCopies; ++copy) {
    std::string file = ledger_bytes(kNew, kNew);
    for (std::size_t bit = 0; bit < kLedgerPageBytes * 8; ++bit) {
      char& byte = file[ledger_copy_offset(copy) + bit / 8];
      const char whole = byte;
      byte = static_cast<char>(byte ^ (1 << bit % 8));
      const LedgerContent content = decode_ledger(file);
      const bool is_right = content.state == LedgerState::valid && content.record == kNew &&
                            content.write_first == copy;
      if (!is_right) FAIL("copy " << copy << ", bit " << bit);
      byte = whole;
    }
  }
}

TEST_CASE("the volatile page says nothing about the durable record") {
  std::string file = ledger_bytes(kNew, kNew);
  file.replace(0, kLedgerPageBytes, std::string(kLedgerPageBytes, 'x'));
  CHECK(decode_ledger(file).record == kNew);
}

TEST_CASE("no valid copy is damage (rule R7)") {
  std::string file = ledger_bytes(kNew, kNew);
  file[ledger_copy_offset(0) + 60] ^= 1;
  file[ledger_copy_offset(1) + 4000] ^= 1;
  CHECK(decode_ledger(file).state == LedgerState::damaged);
  CHECK(decode_ledger("not a ledger at all").state == LedgerState::damaged);
}

TEST_CASE("a record that no program writes is damage, though its checksum is right") {
  LedgerPage page = encode_ledger_copy(kNew);
  SECTION("fenced twice") {
    page[12] = 2;
  }
  SECTION("a TTL of 600 years") {
    page[71] = '\xff';
  }
  SECTION("a fencing bound above the largest token") {
    page[78] = '\x20';  // 2^53
  }
  SECTION("a node id that is none") {
    page[16] = 'X';
  }
  page = with_checksum(page);
  CHECK(decode_ledger(ledger_bytes(text_of(page), text_of(page))).state == LedgerState::damaged);
}

TEST_CASE("an empty file and one of zeros were never written") {
  CHECK(decode_ledger("").state == LedgerState::unfinished);
  for (const std::size_t size : {std::size_t{1}, kLedgerPageBytes, kLedgerBytes}) {
    CHECK(decode_ledger(std::string(size, '\0')).state == LedgerState::unfinished);
  }
}

TEST_CASE("a file that was cut lacks the copies that stood there") {
  const std::string file = ledger_bytes(kNew, kNew);
  for (std::size_t size = 0; size <= kLedgerBytes; ++size) {
    const LedgerState state = decode_ledger(std::string_view(file).substr(0, size)).state;
    const LedgerState expected = size >= ledger_copy_offset(1)   ? LedgerState::valid
                                 : size <= ledger_copy_offset(0) ? LedgerState::unfinished
                                                                 : LedgerState::damaged;
    if (state != expected) FAIL("cut at " << size);
  }
}

TEST_CASE("a ledger of a newer version is told apart from a damaged one") {
  const LedgerPage newer = of_version(3);
  CHECK(decode_ledger(ledger_bytes(text_of(newer), text_of(newer))).state ==
        LedgerState::unknown_version);
  LedgerPage damaged = newer;
  damaged[100] = 1;
  CHECK(decode_ledger(ledger_bytes(text_of(damaged), text_of(damaged))).state ==
        LedgerState::damaged);
}

TEST_CASE(
    "one copy of a newer version makes the ledger one, and what the other says still counts") {
  const LedgerPage newer = of_version(3);
  for (const bool newer_first : {true, false}) {
    const LedgerPage known = encode_ledger_copy(kOld);
    const LedgerContent content =
        decode_ledger(newer_first ? ledger_bytes(text_of(newer), text_of(known))
                                  : ledger_bytes(text_of(known), text_of(newer)));
    CHECK(content.state == LedgerState::unknown_version);
    CHECK(content.record.largest_ttl == kOld.largest_ttl);
  }
}

TEST_CASE("of two valid copies the larger bounds count, each by itself (rule R7)") {
  const DurableRecord a{kNodeA, 4, 60s, 10, true};
  const DurableRecord b{kNodeA, 5, 30s, 20, true};
  for (const auto& file : {ledger_bytes(a, b), ledger_bytes(b, a)}) {
    CHECK(decode_ledger(file).record == DurableRecord{kNodeA, 5, 60s, 20, true});
  }
}

TEST_CASE("a node is fenced only when both valid copies say so") {
  DurableRecord unfenced = kNew;
  unfenced.fenced = false;
  CHECK_FALSE(decode_ledger(ledger_bytes(unfenced, kNew)).record.fenced);
  CHECK_FALSE(decode_ledger(ledger_bytes(kNew, unfenced)).record.fenced);
  CHECK(decode_ledger(ledger_bytes(kNew, kNew)).record.fenced);
}

TEST_CASE("copies of two nodes are damage, and the longer wait is kept") {
  DurableRecord other = kOld;
  other.node_id = kNodeB;
  const LedgerContent content = decode_ledger(ledger_bytes(kNew, other));
  CHECK(content.state == LedgerState::damaged);
  CHECK(content.record.largest_ttl == 60s);
}

TEST_CASE("after an unfinished write the newer copy is overwritten first") {
  CHECK(decode_ledger(ledger_bytes(kNew, kOld)).write_first == 0);
  CHECK(decode_ledger(ledger_bytes(kOld, kNew)).write_first == 1);
}

TEST_CASE("every prefix of a write that a power loss tears leaves the old record or the new") {
  for (std::size_t copy = 0; copy < kLedgerCopies; ++copy) {
    const LedgerPage page = encode_ledger_copy(kNew);
    std::string file = ledger_bytes(kOld, kOld);
    for (std::size_t written = 0; written <= kLedgerPageBytes; ++written) {
      if (written > 0) file[ledger_copy_offset(copy) + written - 1] = page[written - 1];
      const LedgerContent content = decode_ledger(file);
      const bool is_right =
          content.state == LedgerState::valid && (content.record == kOld || content.record == kNew);
      if (!is_right) FAIL("copy " << copy << ", " << written << " bytes");
    }
  }
}

TEST_CASE("a crash after each operation of a write leaves the old record or the new (rule R7)") {
  MemoryLedger whole(ledger_bytes(kOld, kOld));
  REQUIRE(write_record(whole, kNew));
  CHECK(whole.disk() == ledger_bytes(kNew, kNew));
  for (int operations = 0; operations < whole.operations(); ++operations) {
    for (const std::size_t torn :
         {std::size_t{0}, std::size_t{1}, std::size_t{70}, std::size_t{4090}, kLedgerPageBytes}) {
      MemoryLedger ledger(ledger_bytes(kOld, kOld));
      ledger.die_after(operations, torn);
      CHECK_FALSE(write_record(ledger, kNew));
      check_old_or_new(decode_ledger(ledger.cache()));  // killed
      check_old_or_new(decode_ledger(ledger.disk()));   // power loss, only what was synced
    }
  }
}

TEST_CASE("a record is durable in both copies when write says so, and not before") {
  for (int operations = 0; operations < 5; ++operations) {
    MemoryLedger ledger(ledger_bytes(kOld, kOld));
    ledger.die_after(operations);
    CHECK_FALSE(write_record(ledger, kNew));
    CHECK(ledger.disk() != ledger_bytes(kNew, kNew));
  }
}

TEST_CASE("after a write or fdatasync that failed all bytes are written again (rule R7)") {
  for (int failing = 0; failing < 5; ++failing) {
    MemoryLedger ledger(ledger_bytes(kOld, kOld));
    LedgerWriter writer(ledger, 0);
    ledger.fail_at(failing);
    CHECK_FALSE(writer.write(kNew));
    check_old_or_new(decode_ledger(ledger.disk()));
    DurableRecord newest = kNew;
    newest.largest_ttl = 90s;
    const int before = ledger.operations();
    CHECK(writer.write(newest));
    CHECK(ledger.operations() - before == 5);
    CHECK(ledger.disk() == ledger_bytes(newest, newest));
  }
}

TEST_CASE("the copy that a failed write left in doubt is overwritten first") {
  for (const int failing : {3, 4}) {  // the second copy's write, its fdatasync
    MemoryLedger ledger(ledger_bytes(kOld, kOld));
    LedgerWriter writer(ledger, 0);
    ledger.fail_at(failing);
    REQUIRE_FALSE(writer.write(kNew));
    DurableRecord newest = kNew;
    newest.run = 6;
    ledger.die_after(1, 100);  // in the middle of the next write
    REQUIRE_FALSE(writer.write(newest));
    const LedgerContent left = decode_ledger(ledger.cache());
    REQUIRE(left.state == LedgerState::valid);
    CHECK(left.record == kNew);
    CHECK(left.write_first == 1);
  }
}

TEST_CASE("a copy that only the page cache holds does not cost the other") {
  Random random(1);
  for (int round = 0; round < 5000; ++round) {
    INFO("round " << round);
    MemoryLedger ledger(ledger_bytes(kOld, kOld));
    const int operations = static_cast<int>(random.below(6));
    if (random.below(2) == 0) {
      ledger.die_after(operations, random.below(kLedgerPageBytes + 1));
    } else {
      ledger.fail_at(operations);  // and the process gives up
    }
    (void)write_record(ledger, kNew);
    ledger.killed();
    ledger.die_after(static_cast<int>(random.below(6)), random.below(kLedgerPageBytes + 1));
    (void)write_record(ledger, kNew);
    ledger.lost_power(random);
    check_old_or_new(decode_ledger(ledger.disk()));
  }
}
