// The simulated disk: what it loses, and keeps, and how its calls fail.
#include "tests/simulation/disk.h"

#include <catch2/catch.hpp>

namespace redlock::simulation {
namespace {

TEST_CASE("what a failed sync dropped is not written by the next one, but by a new write") {
  int dropped = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    Random random(seed);
    Disk disk;
    disk.bootstrap(std::string(40, 'a'));
    server::DurableRecord record = disk.ledger().record;
    record.run = 7;
    const server::LedgerPage page = server::encode_ledger_copy(record);
    const auto write = [&] {
      disk.write_ledger(server::ledger_copy_offset(0), {page.data(), page.size()});
    };
    write();
    disk.fail_to_sync_ledger(random);
    disk.sync_ledger();
    CHECK(disk.ledger().record.run == 7);
    Disk crashed = disk;
    crashed.lose_power(random);
    dropped += crashed.ledger().record.run == 0 ? 1 : 0;
    write();
    disk.sync_ledger();
    disk.lose_power(random);
    CHECK(disk.ledger().record.run == 7);
  }
  CHECK(dropped > 16);
  CHECK(dropped < 48);
}

TEST_CASE("a call that fails ends the write, and may have done a part of its work") {
  for (const bool in_part : {false, true}) {
    Random random(1);
    Disk disk;
    disk.bootstrap(std::string(40, 'a'));
    DiskPlan plan(false);
    plan.fail_at(1, in_part, random);
    server::LedgerWriter writer(plan, 0, server::LedgerWriter::OnDisk::doubtful);
    server::DurableRecord record = disk.ledger().record;
    record.run = 7;
    CHECK_FALSE(writer.write(record));
    const auto steps = plan.take_steps();
    REQUIRE(steps.size() == (in_part ? 2 : 1));
    for (const DiskPlan::Step& step : steps) step.carry_out(disk);
    CHECK(disk.ledger().state == server::LedgerState::valid);
    CHECK(disk.ledger().record.run == 0);
    CHECK(disk.ledger().write_first == 0);
  }
}

TEST_CASE("a power loss takes what was not synced, and nothing else") {
  const std::string page(512, 'x');
  int kept = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    Random random(seed);
    Disk disk;
    disk.bootstrap(std::string(40, 'a'));
    disk.write_ledger(0, page);
    disk.sync_ledger();
    disk.write_ledger(512, page);
    disk.lose_power(random);
    CHECK(disk.ledger().state == server::LedgerState::valid);
    disk.put_snapshot("a snapshot");
    disk.lose_power(random);
    const auto content = disk.snapshot();
    kept += content.state == server::SnapshotContent::State::missing ? 0 : 1;
  }
  CHECK(kept > 16);
  CHECK(kept < 48);
}

}  // namespace
}  // namespace redlock::simulation
