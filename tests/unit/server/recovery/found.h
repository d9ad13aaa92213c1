// What starts find in a state folder, for the tests of what they decide.
#pragma once

#include "server/recovery/recovery.h"
#include "tests/unit/server/recovery/support.h"

#include <cstdint>

namespace redlock::server {

inline const BootIdentity kBoot{"boot one\n", "monotonic 0 0\n", 1, 2};
inline const BootIdentity kOtherBoot{"boot two\n", "monotonic 0 0\n", 1, 2};
inline constexpr Instant kStart(1000s);
inline constexpr std::uint64_t kBlock = 1'048'576;  // the default of fence-block

// The ledger of run 4 of node A, which the power failed: largest TTL 30 s.
inline Found lost_power() {
  Found found{.folder = "/state", .ledger = {}, .snapshot = {}, .boot = kBoot};
  found.ledger.state = LedgerState::valid;
  found.ledger.record = {kNodeA, 4, 30s, 77, true};
  found.ledger.volatile_part = {kStart + 7s, kOtherBoot};
  return found;
}

// The same, killed in this boot; a lock was live that has 7 s left.
inline Found crashed() {
  Found found = lost_power();
  found.ledger.volatile_part.boot = kBoot;
  return found;
}

// The same with the snapshot of run 4, which stopped 10 s ago; one lock has 20 s left by then.
inline Found stopped() {
  Found found = crashed();
  found.snapshot.state = SnapshotContent::State::readable;
  found.snapshot.header = {kNodeA, 4, kBoot, kStart - 10s};
  found.snapshot.locks = 1;
  found.snapshot.latest_deadline = kStart + 10s;
  return found;
}

inline Found without_ledger(LedgerState state) {
  Found found{.folder = "/state", .ledger = {}, .snapshot = {}, .boot = kBoot};
  found.ledger.state = state;
  return found;
}

inline Decision decide(const Found& found, const Settings& settings = {}) {
  return decide(found, settings, kStart, kFreshNode);
}

inline Settings with_max_ttl(Duration max_ttl) {
  Settings settings;
  settings.max_ttl = max_ttl;
  return settings;
}

inline Settings with_delay(RestartDelay::Mode mode, Duration fixed = {}) {
  Settings settings;
  settings.restart_delay = {mode, fixed};
  return settings;
}

}  // namespace redlock::server
