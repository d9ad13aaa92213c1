#include "server/locks/fence.h"
#include "server/locks/latest_deadline.h"
#include "tests/unit/server/recovery/found.h"

#include <limits>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;

TEST_CASE("row 1, same boot: exact deadlines and no delay (rule R9)") {
  const Decision decision = decide(stopped());
  CHECK(decision.cause == RestartCause::clean_stop);
  CHECK(decision.delay == 0ns);
  CHECK(decision.grant_from == kStart);
  REQUIRE(decision.restoration);
  CHECK(decision.restoration->deadline(kStart + 10s) == kStart + 10s);
  CHECK(decision.restoration->deadline(kStart + 1ns) == kStart + 1ns);
  CHECK(decision.restoration->deadline(kStart) == std::nullopt);
  CHECK(decision.restoration->deadline(kNever) == kNever);
  CHECK(decision.restoration->past(kStart - 13s) == kStart - 13s);
  CHECK_THAT(decision.report, Contains("stopped cleanly") && Contains("with their deadlines"));
}

TEST_CASE("row 1, another boot: the full time that was left and no delay (rule R9)") {
  Found found = stopped();
  found.boot = kOtherBoot;
  const Decision decision = decide(found);
  CHECK(decision.cause == RestartCause::clean_stop);
  CHECK(decision.delay == 0ns);
  REQUIRE(decision.restoration);
  CHECK(decision.restoration->deadline(kStart + 10s) == kStart + 20s);
  CHECK(decision.restoration->deadline(kStart - 10s + 1ns) == kStart + 1ns);
  CHECK(decision.restoration->deadline(kStart - 10s) == std::nullopt);
  CHECK(decision.restoration->deadline(kNever) == kNever);
  CHECK(decision.restoration->past(kStart - 13s) == kStart - 3s);  // three before it was written
  CHECK_THAT(decision.report, Contains("stopped cleanly") && Contains("another boot"));
}

TEST_CASE("row 1: each part of the boot's identity counts, and what cannot be read (rule R6)") {
  Found found = stopped();
  BootIdentity& recorded = found.snapshot.header.boot;
  SECTION("boot id") {
    recorded.boot_id = "other";
  }
  SECTION("time namespace") {
    recorded.time_offsets = "monotonic 1 0\n";
  }
  SECTION("device") {
    recorded.device = 9;
  }
  SECTION("inode") {
    recorded.inode = 9;
  }
  SECTION("boot id unreadable in both") {
    recorded.boot_id = found.boot.boot_id = "";
  }
  SECTION("time namespace unreadable in both") {
    recorded.time_offsets = found.boot.time_offsets = "";
  }
  SECTION("inode unreadable in both") {
    recorded.inode = found.boot.inode = 0;
  }
  CHECK_FALSE(decide(found).restoration->same_boot);
}

TEST_CASE("a snapshot from ahead of the clock is not of the same boot") {
  Found found = stopped();
  found.snapshot.header.copied_at = kStart;
  CHECK(decide(found).restoration->same_boot);
  found.snapshot.header.copied_at = kStart + 1ns;
  CHECK_FALSE(decide(found).restoration->same_boot);
}

TEST_CASE("row 2: a crash in this boot waits until the latest deadline of a live lock") {
  const Decision decision = decide(crashed());
  CHECK(decision.cause == RestartCause::crash);
  CHECK(decision.table_delay == 7s);
  CHECK(decision.delay == 7s);
  CHECK(decision.grant_from == kStart + 7s);
  CHECK(decision.snapshot_from == decision.grant_from);
  CHECK(decision.latest_deadline == kStart + 7s);
  CHECK_FALSE(decision.restoration);
  CHECK_THAT(decision.report, Contains("in this boot") && Contains("7.0 s"));
}

TEST_CASE("row 2: no wait when every lock has run out") {
  Found found = crashed();
  found.ledger.volatile_part.latest_deadline = kStart;
  const Decision decision = decide(found);
  CHECK(decision.cause == RestartCause::crash);
  CHECK(decision.delay == 0ns);
  CHECK_THAT(decision.report, Contains("no lock of it is still live"));
}

TEST_CASE("row 2: the latest deadline is at most what a start may have recorded (rule R4)") {
  Found found = crashed();
  Instant& latest = found.ledger.volatile_part.latest_deadline;
  const Settings settings = with_max_ttl(10s);  // below what is recorded
  latest = kStart + 31'300ms + kDeadlineTick;
  CHECK(decide(found, settings).delay == 31'300ms + kDeadlineTick);
  latest += 1ns;
  const Decision damaged = decide(found, settings);
  CHECK(damaged.cause == RestartCause::ledger_damaged);
  CHECK(damaged.delay == 31'300ms);
  CHECK_FALSE(damaged.record.fenced);
  CHECK(damaged.record.node_id == kNodeA);
  CHECK(damaged.record.fencing_bound > 77);
  CHECK_THAT(damaged.report, Contains("no lock can have the deadline"));
}

TEST_CASE("row 2: a wait for a raise that one torn copy alone told is no damage (rule R4)") {
  Found found = crashed();  // its other copy tells 30 s
  Instant& latest = found.ledger.volatile_part.latest_deadline;
  latest = kStart + 61'600ms + kDeadlineTick;
  const Decision decision = decide(found, with_max_ttl(60s));
  CHECK(decision.cause == RestartCause::crash);
  CHECK(decision.delay == 61'600ms + kDeadlineTick);
  CHECK(decision.record.fenced);
  latest += 1ns;
  CHECK(decide(found, with_max_ttl(60s)).cause == RestartCause::ledger_damaged);
}

TEST_CASE("row 2: each part of the boot's identity counts, and what cannot be read (rule R6)") {
  Found found = crashed();
  BootIdentity& recorded = found.ledger.volatile_part.boot;
  SECTION("boot id") {
    recorded.boot_id = "other";
  }
  SECTION("time namespace") {
    recorded.time_offsets = "monotonic 1 0\n";
  }
  SECTION("device") {
    recorded.device = 9;
  }
  SECTION("inode") {
    recorded.inode = 9;
  }
  SECTION("unreadable in both") {
    recorded.boot_id = found.boot.boot_id = "";
  }
  SECTION("not told") {
    recorded = {};
  }
  CHECK(decide(found).cause == RestartCause::crash_of_another_boot);
  CHECK(decide(found).delay == 31'300ms);
}

TEST_CASE("row 3: a crash in another boot waits for the largest TTL granted × (1 + d) + 1 s") {
  const Decision decision = decide(lost_power());
  CHECK(decision.cause == RestartCause::crash_of_another_boot);
  CHECK(decision.table_delay == 31'300ms);
  CHECK(decision.delay == 31'300ms);
  CHECK(decision.grant_from == kStart + 31'300ms);
  CHECK(decision.snapshot_from == decision.grant_from);
  CHECK_FALSE(decision.restoration);
  CHECK(decision.warning.empty());
  CHECK_THAT(decision.report, Contains("31.3 s") && Contains("30s × 1.01 + 1 s"));
}

TEST_CASE("row 3: the drift bound of the settings counts") {
  Settings settings;
  settings.clock_drift = 0.1;
  CHECK(decide(lost_power(), settings).delay == 34s);
  settings.clock_drift = 0;
  CHECK(decide(lost_power(), settings).delay == 31s);
}

TEST_CASE("row 3: a snapshot that is not the last run's is none (rule R9)") {
  Found found = stopped();
  found.snapshot.latest_deadline = kStart + 90s;
  found.ledger.volatile_part.boot = kOtherBoot;
  std::string words;
  SECTION("an earlier run's") {
    found.snapshot.header.run = 3, words = "of run 3";
  }
  SECTION("a later run's") {
    found.snapshot.header.run = 5, words = "of run 5";
  }
  SECTION("another node's") {
    found.snapshot.header.node_id = kNodeB, words = kNodeB;
  }
  SECTION("damaged") {
    found.snapshot.state = SnapshotContent::State::damaged;
    found.snapshot.trouble = words = "its checksum is wrong";
  }
  const Decision decision = decide(found);
  CHECK(decision.cause == RestartCause::crash_of_another_boot);
  CHECK(decision.delay == 31'300ms);
  CHECK(decision.record.largest_ttl == 30s);
  CHECK_FALSE(decision.restoration);
  CHECK_THAT(decision.report, Contains(words));
}

TEST_CASE("row 4: where nothing is known, max-ttl × (1 + d) + 1 s, and unfenced") {
  const auto [state, cause] = GENERATE(table<LedgerState, RestartCause>({
      {LedgerState::missing, RestartCause::ledger_missing},
      {LedgerState::unfinished, RestartCause::ledger_unfinished},
      {LedgerState::damaged, RestartCause::ledger_damaged},
      {LedgerState::unknown_version, RestartCause::ledger_unknown_version},
  }));
  const Decision decision = decide(without_ledger(state));
  CHECK(decision.cause == cause);
  CHECK(decision.delay == 66'650ms);
  CHECK(decision.record == DurableRecord{kFreshNode, 1, 65s, kBlock, false});
  CHECK_THAT(decision.report, Contains("/state") && Contains("66.7 s"));
}

TEST_CASE("row 4: another node's ledger") {
  Settings settings;
  settings.node_id = kNodeB;
  const Decision decision = decide(crashed(), settings);
  CHECK(decision.cause == RestartCause::ledger_of_another_node);
  CHECK(decision.delay == 66'650ms);
  CHECK(decision.record == DurableRecord{kNodeB, 1, 65s, kBlock, false, {.ledger_id = kFreshNode}});
  CHECK_THAT(decision.report, Contains(kNodeA) && Contains(kNodeB));
}

TEST_CASE("a ledger has an id of its own where the node's is a setting (rule G4)") {
  Settings settings;
  CHECK(decide(without_ledger(LedgerState::missing), settings).record.ledger_id() == kFreshNode);
  CHECK(decide(crashed(), settings).record.ledger_id() == kNodeA);
  settings.node_id = kNodeA;
  CHECK(decide(without_ledger(LedgerState::missing), settings).record.ledger_id() == kFreshNode);
  CHECK(decide(crashed(), settings).record.ledger_id() == kNodeA);  // it is there still
  Found roster = crashed();
  roster.ledger.record.roster = {.ledger_id = kNodeB};
  CHECK(decide(roster, settings).record.ledger_id() == kNodeB);
}

TEST_CASE("what a node promised its group goes with the ledger, and outlives a crash (rule G4)") {
  Found found = crashed();
  found.ledger.record.roster.promised = {3, 1};
  CHECK(decide(found).record.roster.promised == RosterBallot{3, 1});
  found.ledger.state = LedgerState::damaged;
  CHECK(decide(found).record.roster == RosterRecord{});
}

TEST_CASE("row 4: another node's snapshot is no more believed than its ledger") {
  Settings settings;
  settings.node_id = kNodeB;
  CHECK_FALSE(decide(stopped(), settings).restoration);
}

TEST_CASE("row 4: a longer TTL that can still be read is waited for") {
  Settings settings = with_max_ttl(2s);
  settings.node_id = kNodeB;
  const Decision decision = decide(crashed(), settings);
  CHECK(decision.delay == 31'300ms);
  CHECK(decision.record.largest_ttl == 30s);
}

TEST_CASE("row 4: a snapshot without its ledger is of no use") {
  Found found = stopped();
  found.ledger = {};
  const Decision decision = decide(found);
  CHECK(decision.cause == RestartCause::ledger_missing);
  CHECK_FALSE(decision.restoration);
}

TEST_CASE("a start without a ledger says what comes, and advises nobody to make one (rule R1)") {
  for (const auto state : {LedgerState::missing, LedgerState::damaged}) {
    const Decision decision = decide(without_ledger(state));
    CHECK(is_loss(decision.cause));
    CHECK_THAT(decision.report, Contains("until its group has admitted it"));
    CHECK_THAT(decision.report, !Contains("--bootstrap"));
  }
  CHECK_FALSE(is_loss(decide(crashed()).cause));
  CHECK_THAT(decide(crashed()).report, !Contains("admitted"));
}

TEST_CASE("restart-delay off names this start's wait and the next one's for what they are") {
  const Decision decision = decide(crashed(), with_delay(RestartDelay::Mode::off, 0s));
  CHECK_THAT(decision.report, Contains("this start should have waited for "));
  CHECK_THAT(decision.warning, Contains("when the run that begins now crashes, its locks can be "
                                        "held for up to "));
}

TEST_CASE("a bootstrapped node's first start does not wait (rule R1)") {
  Found found = crashed();
  found.ledger.record = {kNodeA, 0, 0ns, 500, true};
  for (const auto& settings : {Settings{}, with_delay(RestartDelay::Mode::fixed, 5s)}) {
    const Decision decision = decide(found, settings);
    CHECK(decision.cause == RestartCause::bootstrapped);
    CHECK(decision.delay == 0ns);
    CHECK(decision.record == DurableRecord{kNodeA, 1, 0ns, 500 + kBlock, true});
  }
}

TEST_CASE("every start makes another run, and keeps node, bound and fencing (rule R9)") {
  CHECK(decide(crashed()).record == DurableRecord{kNodeA, 5, 30s, 77 + kBlock, true});
  CHECK(decide(stopped()).record == DurableRecord{kNodeA, 5, 30s, 77 + kBlock, true});
}

TEST_CASE("no start lowers the largest TTL, nor raises it without a lock (rules R3, R8)") {
  for (const Found& found : {crashed(), lost_power(), stopped()}) {
    CHECK(decide(found, with_max_ttl(2s)).record.largest_ttl == 30s);
    CHECK(decide(found, with_max_ttl(5min)).record.largest_ttl == 30s);
    for (const auto mode : {RestartDelay::Mode::off, RestartDelay::Mode::fixed}) {
      CHECK(decide(found, with_delay(mode, 1s)).record.largest_ttl == 30s);
    }
  }
  Found longer = stopped();
  longer.boot = kOtherBoot;
  longer.snapshot.latest_deadline = kStart + 90s;  // has 100 s left
  CHECK(decide(longer).record.largest_ttl == 100s);
}

TEST_CASE("the latest deadline that a start records is the table's, whatever restart-delay says") {
  for (const auto mode : {RestartDelay::Mode::off, RestartDelay::Mode::fixed}) {
    CHECK(decide(crashed(), with_delay(mode, 1s)).latest_deadline == kStart + 7s);
    CHECK(decide(lost_power(), with_delay(mode, 1s)).latest_deadline == kStart + 31'300ms);
  }
  CHECK(decide(stopped()).latest_deadline == kStart + 10s);
  Found bootstrapped = crashed();
  bootstrapped.ledger.record = {kNodeA, 0, 0ns, 0, true};
  CHECK(decide(bootstrapped).latest_deadline == Instant{});
}

TEST_CASE("a start's counters begin at the last run's bound, with a block above it (rule F1)") {
  CHECK(decide(crashed()).first_token == 77);
  CHECK(decide(crashed()).record.fencing_bound == 77 + kBlock);
  CHECK(decide(without_ledger(LedgerState::missing)).first_token == 0);
  Found used_up = crashed();
  used_up.ledger.record.fencing_bound = kTokenMax - 1;
  CHECK(decide(used_up).record.fencing_bound == kTokenMax);
}

TEST_CASE("an unfenced node is admitted when every lock from before has run out (rule F7)") {
  CHECK(decide(without_ledger(LedgerState::missing)).admit_from == kStart + 66'650ms);
  const auto off = with_delay(RestartDelay::Mode::off);
  CHECK(decide(without_ledger(LedgerState::missing), off).admit_from == kStart + 66'650ms);
  // Other nodes may have granted for as long as max-ttl says, this one for as long as its ledger.
  CHECK(decide(crashed()).admit_from == kStart + 66'650ms);
  CHECK(decide(crashed(), with_max_ttl(2s)).admit_from == kStart + 31'300ms);
}

TEST_CASE("max-ttl lowered between runs shortens no delay") {
  CHECK(decide(lost_power(), with_max_ttl(2s)).delay == 31'300ms);
}

TEST_CASE("restart-delay off grants at once, warns, and records the delay all the same") {
  const Decision decision = decide(lost_power(), with_delay(RestartDelay::Mode::off));
  CHECK(decision.table_delay == 31'300ms);
  CHECK(decision.delay == 0ns);
  CHECK(decision.grant_from == kStart);
  CHECK(decision.snapshot_from == kStart + 31'300ms);
  CHECK_THAT(decision.warning, Contains("restart-delay off"));
  CHECK_THAT(decision.report, Contains("31.3 s"));
}

TEST_CASE("a duration replaces the table's figure") {
  const Decision longer = decide(lost_power(), with_delay(RestartDelay::Mode::fixed, 5min));
  CHECK(longer.delay == 5min);
  CHECK(longer.snapshot_from == kStart + 5min);
  CHECK(longer.warning.empty());
  const Decision shorter = decide(lost_power(), with_delay(RestartDelay::Mode::fixed, 5s));
  CHECK(shorter.delay == 5s);
  CHECK(shorter.snapshot_from == kStart + 31'300ms);
  CHECK_THAT(shorter.warning, Contains("restart-delay 5s"));
  for (const Duration max_ttl : {2s, 65s}) {  // below what was granted, and above
    Settings settings = with_max_ttl(max_ttl);
    const Duration safe = full_delay(std::max<Duration>(max_ttl, 30s), settings.clock_drift);
    settings.restart_delay = {RestartDelay::Mode::fixed, safe};
    CHECK(decide(crashed(), settings).warning.empty());
    settings.restart_delay.fixed -= 1ns;
    CHECK_FALSE(decide(crashed(), settings).warning.empty());
  }
  const Decision unknown =
      decide(without_ledger(LedgerState::missing), with_delay(RestartDelay::Mode::fixed, 5s));
  CHECK(unknown.delay == 5s);
  CHECK_FALSE(unknown.warning.empty());
}

TEST_CASE("restart-delay says nothing about a start from a snapshot, and warns there too") {
  for (const auto mode : {RestartDelay::Mode::off, RestartDelay::Mode::fixed}) {
    const Decision decision = decide(stopped(), with_delay(mode, 5s));
    CHECK(decision.delay == 0ns);
    CHECK_FALSE(decision.warning.empty());
  }
}

TEST_CASE("a ledger whose node id is the one of the settings is this node's") {
  Settings settings;
  settings.node_id = kNodeA;
  CHECK(decide(crashed(), settings).cause == RestartCause::crash);
  CHECK(decide(without_ledger(LedgerState::missing), settings).record.node_id == kNodeA);
  CHECK(decide_without_folder(settings, kStart, kNodeB).record.node_id == kNodeA);
  CHECK(decide_without_folder({}, kStart, kNodeB).record.node_id == kNodeB);
  CHECK(decide_without_folder({}, kStart, kNodeB).report ==
        "This node keeps no folder: it counts as new, no lock can be live. No delay.");
}

TEST_CASE("every cause has a word of its own") {
  std::vector<std::string_view> names;
  for (int cause = 0; cause <= static_cast<int>(RestartCause::ledger_of_another_node); ++cause) {
    const std::string_view name = restart_cause_name(static_cast<RestartCause>(cause));
    CHECK_FALSE(name.empty());
    CHECK(std::find(names.begin(), names.end(), name) == names.end());
    names.push_back(name);
  }
}

TEST_CASE("the full delay of a lifetime does not overflow") {
  CHECK(full_delay(Duration::max(), 0.01) == Duration::max());
  CHECK(full_delay(0ns, 0.01) == 1s);
}

TEST_CASE("a run that nothing can come behind is damage, and no bootstrapped node") {
  Found found = lost_power();
  found.ledger.record.run = std::numeric_limits<std::uint64_t>::max();
  found.ledger.record.roster.promised = {3, 1};
  const Decision decision = decide(found, with_max_ttl(60s));
  CHECK(decision.cause == RestartCause::ledger_damaged);
  CHECK(decision.delay == full_delay(60s, Settings().clock_drift));
  CHECK(decision.record.run == 1);
  CHECK(decision.record.node_id == kFreshNode);
  CHECK_FALSE(decision.record.fenced);
  CHECK(decision.record.fencing_bound == 77 + kBlock);
  CHECK(decision.record.largest_ttl == 60s);
  CHECK(decision.record.roster == RosterRecord{});
  --found.ledger.record.run;  // the last that counts
  CHECK(decide(found).cause == RestartCause::crash_of_another_boot);
  CHECK(decide(found).record.run == std::numeric_limits<std::uint64_t>::max());
}
