#include "server/recovery/ledger_keeper.h"

#include "server/locks/fence.h"
#include "server/locks/latest_deadline.h"
#include "tests/unit/server/recovery/support.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Instant kNow(24h);

struct Page final : LatestDeadlinePage {
  Status write_latest_deadline(Instant latest) override {
    if (fails) return Failure{"cannot write"};
    told.push_back(latest);
    return Done{};
  }
  std::vector<Instant> told;
  bool fails = false;
};

LedgerKeeper::Start with_bounds(Duration largest_ttl, std::uint64_t bound) {
  return {.record = {kNodeA, 1, largest_ttl, bound, true},
          .latest_deadline = {},
          .max_ttl = 60s,
          .fence_block = 1000,
          .now = kNow};
}

void write(LedgerKeeper& keeper) {
  REQUIRE(keeper.begin_write(kNow));
  keeper.end_write(Done{}, kNow);
}

}  // namespace

TEST_CASE("the latest deadline is told rounded up, and only when it grows (rule R4)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 0), &page);
  CHECK(keeper.cover(kNow + 1s));
  CHECK(keeper.cover(kNow + 500ms));
  CHECK(keeper.cover(kNow + 1s + 1ns));
  CHECK(keeper.cover(kNow + 1s + 10ms));
  CHECK(page.told == std::vector<Instant>{kNow + 1s, kNow + 1s + 10ms});
}

TEST_CASE("a hundred writes a second at most, however many locks are granted (rule R4)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 0), &page);
  for (int i = 0; i < 100'000; ++i) CHECK(keeper.cover(kNow + i * 10us));
  CHECK(page.told.size() <= 101);
}

TEST_CASE("a deadline that cannot be written is not covered, and is tried again (rule R4)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 0), &page);
  page.fails = true;
  CHECK_FALSE(keeper.cover(kNow + 1s));
  CHECK(keeper.recorded_deadline() == Instant{});
  page.fails = false;
  CHECK(keeper.cover(kNow + 1s));
}

TEST_CASE("it is lowered, and after a lowering that failed nothing is counted on (rule R5)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 0), &page);
  CHECK(keeper.cover(kNow + 30s));
  keeper.lower(kNow + 40s);  // not a lowering
  CHECK(page.told.size() == 1);
  keeper.lower(kNow + 20s);
  CHECK(page.told.back() == kNow + 20s);
  page.fails = true;
  keeper.lower(kNow + 10s);
  page.fails = false;
  CHECK(keeper.cover(kNow + 20s));
  CHECK(page.told.size() == 3);
}

TEST_CASE("a TTL above the largest is raised to the next power of two, at most max-ttl (rule R8)") {
  LedgerKeeper keeper(with_bounds(0ns, 0), nullptr);
  keeper.want_ttl(1025ms);
  CHECK(keeper.largest_ttl() == 0ns);  // not before it is durable
  const auto record = keeper.begin_write(kNow);
  REQUIRE(record);
  CHECK(record->largest_ttl == 2048ms);
  CHECK_FALSE(keeper.begin_write(kNow));  // one at a time
  keeper.end_write(Done{}, kNow);
  CHECK(keeper.largest_ttl() == 2048ms);
  CHECK_FALSE(keeper.wants_write());
  keeper.want_ttl(50s);
  write(keeper);
  CHECK(keeper.largest_ttl() == 60s);
}

TEST_CASE("a TTL that no power of two in reach is above is raised to max-ttl (rule R8)") {
  constexpr Duration kCenturies = 285 * 365 * 24h;
  LedgerKeeper::Start start = with_bounds(0ns, 0);
  start.max_ttl = Duration::max();
  LedgerKeeper keeper(start, nullptr);
  keeper.want_ttl(kCenturies);
  write(keeper);
  CHECK(keeper.largest_ttl() == Duration::max());
}

TEST_CASE("a raise that failed counts as not done, and is refused for a second (rule R7)") {
  LedgerKeeper keeper(with_bounds(0ns, 100), nullptr);
  keeper.want_ttl(1s);
  keeper.want_bound(500);
  REQUIRE(keeper.begin_write(kNow));
  keeper.end_write(Failure{"no room"}, kNow);
  CHECK(keeper.largest_ttl() == 0ns);
  CHECK(keeper.record().fencing_bound == 100);
  CHECK(keeper.refusal(kNow) == "no room");
  keeper.want_ttl(1s);
  CHECK_FALSE(keeper.begin_write(kNow + LedgerKeeper::kRefusalTime - 1ns));
  CHECK_FALSE(keeper.refusal(kNow + LedgerKeeper::kRefusalTime));
  CHECK(keeper.begin_write(kNow + LedgerKeeper::kRefusalTime));
}

TEST_CASE("of a write that failed nothing comes with the next one (rule R7)") {
  LedgerKeeper keeper(with_bounds(60s, 100), nullptr);
  const RosterRecord first{.promised = {1, 1}};
  const RosterRecord second{.promised = {2, 1}};
  keeper.want_roster(first);
  keeper.want_unfenced();
  REQUIRE(keeper.begin_write(kNow - 2s));
  keeper.end_write(Failure{"no room"}, kNow - 2s);
  CHECK_FALSE(keeper.wants_write());
  keeper.want_roster(second);
  write(keeper);
  CHECK(keeper.record().roster == second);
  CHECK(keeper.record().fenced);
}

TEST_CASE("fenced, and unfenced again: each is a write of its own (rule F6)") {
  LedgerKeeper keeper(with_bounds(60s, 100), nullptr);
  for (const bool fenced : {false, true, false}) {
    fenced ? keeper.want_fenced() : keeper.want_unfenced();
    CHECK(keeper.wants_write());
    write(keeper);
    CHECK(keeper.record().fenced == fenced);
    CHECK_FALSE(keeper.wants_write());
  }
}

TEST_CASE("the fencing bound is raised ahead of time, by two blocks (rule F1)") {
  LedgerKeeper keeper(with_bounds(60s, 1000), nullptr);
  keeper.stay_ahead(500);
  CHECK_FALSE(keeper.wants_write());
  keeper.stay_ahead(501);
  write(keeper);
  CHECK(keeper.record().fencing_bound == 2501);
  keeper.want_bound(10'000);
  write(keeper);
  CHECK(keeper.record().fencing_bound == 12'000);
}

TEST_CASE("the fencing bound stays a number of every language (rule F1)") {
  LedgerKeeper keeper(with_bounds(60s, kTokenMax - 10), nullptr);
  keeper.stay_ahead(kTokenMax - 12);
  write(keeper);
  CHECK(keeper.record().fencing_bound == kTokenMax);
  keeper.stay_ahead(kTokenMax);
  CHECK_FALSE(keeper.begin_write(kNow));
}

TEST_CASE("what is wanted during a write comes with the next one") {
  LedgerKeeper keeper(with_bounds(0ns, 1000), nullptr);
  keeper.want_ttl(1s);
  REQUIRE(keeper.begin_write(kNow));
  keeper.want_ttl(4s);
  keeper.want_fenced();
  keeper.end_write(Done{}, kNow);
  CHECK(keeper.largest_ttl() == 1024ms);
  CHECK(keeper.wants_write());
  write(keeper);
  CHECK(keeper.largest_ttl() == 4096ms);
}

TEST_CASE("the largest TTL is lowered to that of the last ten minutes (rule R8)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 1000), &page);
  CHECK_FALSE(keeper.window_end());  // nothing was granted
  keeper.note_ttl(3s);
  REQUIRE(keeper.window_end() == kNow + LedgerKeeper::kTtlWindow);
  keeper.end_window(*keeper.window_end(), 0ns);
  CHECK(keeper.largest_ttl() == 4096ms);      // in memory first
  CHECK(keeper.record().largest_ttl == 60s);  // then in the file
  CHECK(keeper.wants_write());
  write(keeper);
  CHECK(keeper.record().largest_ttl == 4096ms);
}

TEST_CASE("the largest TTL is not lowered below what a live lock has left, nor when idle (R8)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 1000), &page);
  keeper.note_ttl(1s);
  keeper.end_window(kNow + 10min, 20s);
  CHECK(keeper.largest_ttl() == 32'768ms);
  write(keeper);
  keeper.end_window(kNow + 20min, 0ns);
  CHECK(keeper.largest_ttl() == 32'768ms);
  CHECK_FALSE(keeper.wants_write());
  keeper.note_ttl(1s);
  CHECK(keeper.window_end() == kNow + 30min);
}

TEST_CASE("the end of a window raises nothing, and wants no write for what stands there (R8)") {
  const Duration longest = GENERATE(30s, 50s);  // a step above them is 32.768 s, and max-ttl
  Page page;
  LedgerKeeper keeper(with_bounds(longest == 30s ? 32'768ms : 55s, 1000), &page);
  const Duration before = keeper.largest_ttl();
  keeper.note_ttl(longest);
  keeper.end_window(kNow + 10min, 0ns);
  CHECK(keeper.largest_ttl() == before);
  CHECK_FALSE(keeper.wants_write());
}

TEST_CASE("a lowering that failed comes with the next write (rule R8)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 1000), &page);
  keeper.note_ttl(1s);
  keeper.end_window(kNow + 10min, 0ns);
  REQUIRE(keeper.begin_write(kNow - 2s));
  keeper.end_write(Failure{"no room"}, kNow - 2s);
  CHECK(keeper.largest_ttl() == 1024ms);
  keeper.want_bound(1000);
  write(keeper);
  CHECK(keeper.largest_ttl() == 1024ms);
  CHECK(keeper.record().largest_ttl == 1024ms);
}

TEST_CASE("a raise that comes while a lowering is written is above it in the end (rule R8)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 1000), &page);
  keeper.note_ttl(1s);
  keeper.end_window(kNow + 10min, 0ns);
  REQUIRE(keeper.begin_write(kNow));
  keeper.want_ttl(30s);
  keeper.end_write(Done{}, kNow);
  CHECK(keeper.largest_ttl() == 1024ms);
  write(keeper);
  CHECK(keeper.largest_ttl() == 32'768ms);
}

TEST_CASE(
    "a raise is written though it comes before the lowering was, or after one that failed (R8)") {
  Page page;
  LedgerKeeper keeper(with_bounds(60s, 1000), &page);
  keeper.note_ttl(1s);
  keeper.end_window(kNow + 10min, 0ns);
  SECTION("before it was written") {}
  SECTION("after it failed: the file may be lower than the record in force") {
    REQUIRE(keeper.begin_write(kNow - 2s));
    keeper.end_write(Failure{"no room"}, kNow - 2s);
  }
  keeper.want_ttl(60s);
  write(keeper);
  CHECK(keeper.largest_ttl() == 60s);
}
