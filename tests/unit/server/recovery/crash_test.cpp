// Starts, stops and crashes one after the other, over a disk that forgets: what the operator is
// told to rely on must hold at every instant (rules R3, R7, R9).
#include "server/locks/latest_deadline.h"
#include "server/recovery/ledger_keeper.h"
#include "server/recovery/recovery.h"
#include "tests/unit/server/recovery/support.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

// The snapshot file: its removal is durable only after the folder was synced.
struct SnapshotFile {
  SnapshotContent cache;
  SnapshotContent disk;

  void save(const SnapshotContent& content) { cache = disk = content; }
};

struct Disk {
  MemoryLedger ledger;
  SnapshotFile snapshot;

  Status discard_snapshot() {
    if (snapshot.cache.state == SnapshotContent::State::missing) return Done{};
    if (!ledger.step()) return Failure{"dead before unlink"};
    snapshot.cache = {};
    if (!ledger.step()) return Failure{"dead before the folder's fsync"};
    snapshot.disk = {};
    return Done{};
  }

  void killed() { ledger.killed(); }
  void lost_power(Random& random) {
    ledger.lost_power(random);
    if (random.below(2) == 0) snapshot.disk = snapshot.cache;
    snapshot.cache = snapshot.disk;
  }

  Found found(const BootIdentity& boot) const {
    return {.folder = "/state",
            .ledger = decode_ledger(ledger.cache()),
            .snapshot = snapshot.cache,
            .boot = boot};
  }
};

BootIdentity boot_number(std::uint64_t number) {
  return {std::to_string(number), "monotonic 0 0\n", 1, 1};
}

Status start(Disk& disk, const Decision& decision, const BootIdentity& boot) {
  LedgerWriter writer(disk.ledger, decode_ledger(disk.ledger.cache()).write_first);
  return begin_run(decision, boot, disk.ledger, writer, [&] { return disk.discard_snapshot(); });
}

SnapshotContent snapshot_of(const DurableRecord& record, Instant copied_at, Instant latest) {
  SnapshotContent content;
  content.state = SnapshotContent::State::readable;
  content.header = {record.node_id, record.run, boot_number(1), copied_at};
  content.locks = 1;
  content.latest_deadline = latest;
  return content;
}

// A machine, its node, and the locks that clients believe in, in true time.
class World {
 public:
  World(std::uint64_t seed, bool is_bootstrapped) : random_(seed) {
    if (is_bootstrapped) REQUIRE(write_record(disk_.ledger, {kNodeA, 0, 0ns, 0, true}));
  }

  // One process, from its start to its end. `settings` may change from one to the next.
  void live(const Settings& settings) {
    now_ += random_duration(3s);
    const Decision decision =
        decide(disk_.found(boot_number(boot_)), settings, clock(), kFreshNode);
    if (random_.below(3) == 0) disk_.ledger.die_after(some(20), random_torn_bytes());
    const Status begun = start(disk_, decision, boot_number(boot_));
    if (!begun) return crash();
    check_granting_is_safe(settings, decision);
    account_for_saved_locks(decision);
    if (settings.restart_delay.mode == RestartDelay::Mode::by_facts) {
      const Instant told = true_time(decision.grant_from);
      CHECK(told >= told_until_);
      told_until_ = told;
    }
    serve(settings, decision);
    const bool may_stop = !disk_.ledger.is_dead() && clock() >= decision.snapshot_from;
    if (may_stop && random_.below(2) == 0) return stop(decision);
    crash();
  }

 private:
  struct Lock {
    Instant deadline;  // true time
  };

  Duration random_duration(Duration most) {
    return Duration(
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most.count()) + 1)));
  }
  // Of a page, or of the sixteen bytes of a deadline.
  std::size_t random_torn_bytes() {
    return random_.below(random_.below(2) == 0 ? kLatestDeadlineBytes : kLedgerPageBytes);
  }
  int some(std::uint64_t below) { return static_cast<int>(random_.below(below)); }

  // The machine's monotonic clock starts at another value with every boot.
  Instant clock() const { return now_ + clock_ahead_; }
  Instant true_time(Instant of_clock) const { return of_clock - clock_ahead_; }

  // Nothing that an earlier run granted and this one does not know may be live once it grants.
  void check_granting_is_safe(const Settings& settings, const Decision& decision) {
    if (settings.restart_delay.mode != RestartDelay::Mode::by_facts) return;
    const Instant grants = true_time(decision.grant_from);
    for (const Lock& lock : forgotten_) CHECK(lock.deadline <= grants);
    if (decision.restoration) return;
    for (const Lock& lock : saved_) CHECK(lock.deadline <= grants);
  }

  void account_for_saved_locks(const Decision& decision) {
    for (const Lock& lock : saved_) {
      if (!decision.restoration) {
        forgotten_.push_back(lock);
        continue;
      }
      const Instant saved = lock.deadline + saved_clock_ahead_;
      const auto restored = decision.restoration->deadline(saved);
      if (!restored) {
        CHECK(lock.deadline <= now_);
      } else {
        CHECK(true_time(*restored) >= lock.deadline);
        held_.push_back({true_time(*restored)});
      }
    }
    saved_.clear();
  }

  // Grants, and what the ledger must hold before each is told of (rules R4, R8); the bounds are
  // lowered now and then (R5). When a write fails the lock was told to nobody.
  void serve(const Settings& settings, const Decision& decision) {
    const Instant end = now_ + random_duration(random_.below(2) == 0 ? 5s : 200s);
    LedgerKeeper keeper({.record = decision.record,
                         .latest_deadline = round_up_to_tick(decision.latest_deadline),
                         .max_ttl = settings.max_ttl,
                         .now = clock()},
                        &disk_.ledger);
    LedgerWriter writer(disk_.ledger, decode_ledger(disk_.ledger.cache()).write_first);
    for (int i = some(8); i > 0 && now_ < end && !disk_.ledger.is_dead(); --i) {
      now_ += random_duration((end - now_) / 2);
      if (clock() < decision.grant_from) continue;
      const Duration ttl = random_duration(settings.max_ttl);
      if (!cover(keeper, writer, ttl)) return;
      held_.push_back({now_ + ttl});
      if (random_.below(2) == 0) release_one();
      if (clock() >= decision.snapshot_from) keeper.lower(latest_held());
    }
    now_ = std::max(now_, end);
  }

  bool cover(LedgerKeeper& keeper, LedgerWriter& writer, Duration ttl) {
    if (ttl > keeper.largest_ttl()) {
      keeper.want_ttl(ttl);
      keeper.end_write(writer.write(*keeper.begin_write(clock())), clock());
      if (ttl > keeper.largest_ttl()) return false;
    }
    return static_cast<bool>(keeper.cover(clock() + ttl));
  }

  void release_one() { held_.erase(held_.begin() + some(held_.size())); }

  Instant latest_held() const {
    Instant latest{};
    for (const Lock& lock : held_) latest = std::max(latest, lock.deadline + clock_ahead_);
    return round_up_to_tick(latest);
  }

  void stop(const Decision& decision) {
    Instant latest{};
    std::erase_if(held_, [&](const Lock& lock) { return lock.deadline <= now_; });
    for (const Lock& lock : held_) latest = std::max(latest, lock.deadline + clock_ahead_);
    SnapshotContent snapshot = snapshot_of(decision.record, clock(), latest);
    snapshot.header.boot = boot_number(boot_);
    disk_.snapshot.save(snapshot);
    saved_ = std::move(held_);
    held_.clear();
    saved_clock_ahead_ = clock_ahead_;
    if (random_.below(2) == 0) boot_again();
  }

  void crash() {
    forgotten_.insert(forgotten_.end(), held_.begin(), held_.end());
    held_.clear();
    if (random_.below(2) == 0) return disk_.killed();
    disk_.lost_power(random_);
    boot_again();
  }

  void boot_again() {
    ++boot_;
    disk_.ledger.lost_power(random_);
    clock_ahead_ = random_duration(1h) - (now_ - Instant()) + 10s;
  }

  Random random_;
  Disk disk_;
  Instant now_{};
  std::uint64_t boot_ = 1;
  Duration clock_ahead_ = 10s;
  Duration saved_clock_ahead_{};
  std::vector<Lock> held_;       // granted or restored by the process that runs
  std::vector<Lock> saved_;      // in the snapshot
  std::vector<Lock> forgotten_;  // of runs that crashed
  Instant told_until_{};         // the end of the last delay that a running node announced
};

Settings random_settings(Random& random, bool with_off) {
  Settings settings;
  settings.max_ttl = std::chrono::seconds(1 + random.below(60));
  if (with_off && random.below(3) == 0) settings.restart_delay.mode = RestartDelay::Mode::off;
  return settings;
}

}  // namespace

TEST_CASE("no crash, at any instant, lets a start grant what may still be held (rule R3)") {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    INFO("seed " << seed);
    Random settings(~seed);
    const bool is_bootstrapped = seed % 2 == 0;
    World world(seed, is_bootstrapped);
    for (int i = 0; i < 30; ++i) world.live(random_settings(settings, seed % 3 == 0));
  }
}

TEST_CASE("a second crash after each operation of a start never shortens the delay (rule R3)") {
  Settings lowered;
  lowered.max_ttl = 2s;
  for (const bool is_power_loss : {false, true}) {
    for (int operations = 0; operations <= 7; ++operations) {
      for (const std::size_t torn : {0UL, 7UL, 12UL, 50UL, 300UL, kLedgerPageBytes}) {
        Disk disk;
        REQUIRE(write_record(disk.ledger, {kNodeA, 4, 60s, 0, true}));
        const Decision first = decide(disk.found(boot_number(1)), lowered, Instant(1s), kFreshNode);
        REQUIRE(first.delay == 61'600ms);
        disk.ledger.die_after(operations, torn);
        (void)start(disk, first, boot_number(1));
        is_power_loss ? disk.ledger.lost_power() : disk.ledger.killed();
        const Decision same = decide(disk.found(boot_number(1)), lowered, Instant(2s), kFreshNode);
        if (!is_power_loss) CHECK(same.grant_from >= first.grant_from);
        const Decision other = decide(disk.found(boot_number(2)), lowered, Instant(2s), kFreshNode);
        CHECK(other.cause == RestartCause::crash_of_another_boot);
        CHECK(other.delay == 61'600ms);
      }
    }
  }
}

TEST_CASE("a second crash of a start that knew nothing never shortens the delay (rule R3)") {
  for (int operations = 0; operations <= 7; ++operations) {
    for (const std::size_t torn : {0UL, 7UL, 12UL, 50UL, 300UL, kLedgerPageBytes}) {
      Disk disk;  // this boot's last run granted nothing that is live; then its copies were damaged
      disk.ledger = MemoryLedger(ledger_bytes({kNodeA, 4, 1s, 0, true}, Instant(1s), boot_number(1))
                                     .replace(ledger_copy_offset(0), 2 * kLedgerPageBytes,
                                              std::string(2 * kLedgerPageBytes, 'x')));
      const Decision first = decide(disk.found(boot_number(1)), {}, Instant(9s), kFreshNode);
      REQUIRE(first.cause == RestartCause::ledger_damaged);
      disk.ledger.die_after(operations, torn);
      (void)start(disk, first, boot_number(1));
      disk.ledger.killed();
      const Decision second = decide(disk.found(boot_number(1)), {}, Instant(10s), kFreshNode);
      CHECK(second.grant_from >= first.grant_from);
      CHECK_FALSE(second.record.fenced);
    }
  }
}

TEST_CASE("a delay that was recorded without a ledger outlives a lowered max-ttl (rule R3)") {
  Settings lowered;
  lowered.max_ttl = 2s;
  Disk disk;
  const Decision first = decide(disk.found(boot_number(1)), {}, Instant(1s), kFreshNode);
  REQUIRE(first.cause == RestartCause::ledger_unfinished);
  REQUIRE(start(disk, first, boot_number(1)));
  const Decision second = decide(disk.found(boot_number(1)), lowered, Instant(2s), kFreshNode);
  CHECK(second.cause == RestartCause::crash);
  CHECK(second.grant_from == round_up_to_tick(first.grant_from));
  CHECK_FALSE(second.record.fenced);
  const Decision reset = decide(disk.found(boot_number(2)), lowered, Instant(2s), kFreshNode);
  CHECK(reset.cause == RestartCause::crash_of_another_boot);
  CHECK(reset.delay == 66'650ms);
}

TEST_CASE("a crash in a start from a snapshot restores the locks or waits for them (rule R9)") {
  for (const bool is_power_loss : {false, true}) {
    for (int operations = 0; operations <= 9; ++operations) {
      Disk disk;
      const DurableRecord stopped{kNodeA, 4, 60s, 0, true};
      REQUIRE(write_record(disk.ledger, stopped));
      disk.snapshot.save(snapshot_of(stopped, Instant(10s), Instant(50s)));
      Settings lowered;
      lowered.max_ttl = 2s;
      const Decision first = decide(disk.found(boot_number(1)), lowered, Instant(11s), kFreshNode);
      REQUIRE(first.restoration);
      disk.ledger.die_after(operations);
      const bool begun = static_cast<bool>(start(disk, first, boot_number(1)));
      if (is_power_loss) {
        disk.ledger.lost_power();
        disk.snapshot.cache = disk.snapshot.disk;
      } else {
        disk.killed();
      }
      const Decision second = decide(disk.found(boot_number(1)), lowered, Instant(12s), kFreshNode);
      if (second.restoration) {
        CHECK_FALSE(begun);
        CHECK(second.restoration->deadline(Instant(50s)) == Instant(50s));
      } else {
        CHECK(second.grant_from >= Instant(50s));
      }
    }
  }
}

TEST_CASE("a snapshot that was not used is gone before its run number can come up again") {
  for (int operations = 0; operations <= 9; ++operations) {
    Disk disk;  // without a ledger; the snapshot of a run 1 lies there still
    disk.snapshot.save(snapshot_of({kFreshNode, 1, 60s, 0, true}, Instant(10s), Instant(50s)));
    const Decision first = decide(disk.found(boot_number(1)), {}, Instant(11s), kFreshNode);
    REQUIRE(first.record.run == 1);
    disk.ledger.die_after(operations);
    (void)start(disk, first, boot_number(1));
    disk.killed();
    CHECK_FALSE(decide(disk.found(boot_number(1)), {}, Instant(12s), kFreshNode).restoration);
  }
}

TEST_CASE("a start whose record cannot be written fails (rule R2)") {
  for (int failing = 0; failing < 7; ++failing) {
    Disk disk;
    disk.ledger.fail_at(failing);
    const Decision decision = decide(disk.found(boot_number(1)), {}, Instant(1s), kFreshNode);
    CHECK_FALSE(start(disk, decision, boot_number(1)));
  }
}
