// What a start tells of itself: what it found, how long it waits, and why.
#include "tests/unit/server/recovery/found.h"

#include <initializer_list>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

using Mode = RestartDelay::Mode;

Found stopped_with(std::uint64_t locks, const BootIdentity& boot) {
  Found found = stopped();
  found.snapshot.locks = locks;
  found.boot = boot;
  return found;
}

Found crashed_long_ago() {
  Found found = crashed();
  found.ledger.volatile_part.latest_deadline = kStart;
  return found;
}

Found damaged_with(Duration largest_ttl) {
  Found found = without_ledger(LedgerState::damaged);
  found.ledger.record.largest_ttl = largest_ttl;
  return found;
}

Found bootstrapped() {
  Found found = crashed();
  found.ledger.record = {kNodeA, 0, 0ns, 500, true};
  return found;
}

Found with_torn_snapshot() {
  Found found = crashed();
  found.snapshot.state = SnapshotContent::State::damaged;
  found.snapshot.trouble = "it ends too early";
  return found;
}

const std::string kUntilAll = ", until every lock that it may have granted has run out.";
const std::string kAdmission =
    " Its fencing tokens do not count until its group has admitted it, which those who use the "
    "locks do by themselves. How the nodes of a new group are made: operations.md.";

struct Row {
  Found found;
  Settings settings;
  std::string report;
};

void check(std::initializer_list<Row> rows) {
  for (const Row& row : rows) CHECK(decide(row.found, row.settings).report == row.report);
}

}  // namespace

TEST_CASE("a start that knows each lock reports what becomes of them, in whole sentences") {
  const std::string here = "Run 4 ended without a snapshot, in this boot";
  check({
      {stopped_with(1, kBoot),
       {},
       "Run 4 stopped cleanly and left 1 lock; those still live come back with their deadlines; no "
       "delay."},
      {stopped_with(2, kOtherBoot),
       {},
       "Run 4 stopped cleanly and left 2 locks; each comes back with the full time that it had "
       "left, as this is another boot; no delay."},
      {crashed(),
       {},
       here + ". No new locks for 7.0 s, until the last lock that was live has run out."},
      {crashed(), with_delay(Mode::off),
       here + ". It grants at once, as restart-delay is off; this start should have waited for "
              "7.0 s (until the last lock that was live has run out)."},
      {with_torn_snapshot(),
       {},
       here + " (the snapshot is damaged: it ends too early). No new locks for 7.0 s, until the "
              "last lock that was live has run out."},
      {crashed_long_ago(), {}, here + "; no lock of it is still live. No delay."},
  });
}

TEST_CASE("a start that cannot know them reports what it waits for, and why") {
  const std::string lost = "Run 4 ended without a snapshot, in another boot. ";
  const std::string largest = "(the largest TTL granted 30s × 1.01 + 1 s)";
  check({
      {lost_power(), {}, lost + "No new locks for 31.3 s " + largest + kUntilAll},
      {lost_power(), with_delay(Mode::off),
       lost +
           "It grants at once, as restart-delay is off; this start should have waited for 31.3 "
           "s " +
           largest + "."},
      {lost_power(), with_delay(Mode::fixed, 5s),
       lost +
           "No new locks for 5.0 s, as restart-delay says; by the facts this start waits for "
           "31.3 s " +
           largest + "."},
      {without_ledger(LedgerState::missing),
       {},
       "No ledger in /state: what this node granted before is not known. No new locks for 66.7 s "
       "(max-ttl 65s × 1.01 + 1 s)" +
           kUntilAll + kAdmission},
      {damaged_with(90s),
       {},
       "The ledger in /state is damaged. No new locks for 91.9 s (the largest TTL granted 90s × "
       "1.01 + 1 s)" +
           kUntilAll + kAdmission},
      {bootstrapped(), {}, "First run of a bootstrapped node: no lock can be live. No delay."},
  });
}

TEST_CASE("a start that need not wait, and waits as restart-delay says, reports that it does") {
  const Decision decision = decide(crashed_long_ago(), with_delay(Mode::fixed, 5s));
  CHECK(decision.delay == 5s);
  CHECK(decision.report.find("No new locks for 5.0 s, as restart-delay says") != std::string::npos);
}
