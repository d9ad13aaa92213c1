// Which boot a process runs in: only within one boot does a monotonic instant that was written down
// mean the same when it is read (rule R6).
#pragma once

#include <cstdint>
#include <string>

namespace redlock::server {

// Empty texts and a zero inode: could not be read.
struct BootIdentity {
  std::string boot_id;       // /proc/sys/kernel/random/boot_id
  std::string time_offsets;  // /proc/self/timens_offsets: a time namespace shifts CLOCK_MONOTONIC
  // Of the ledger: a folder that was copied, perhaps to another machine, is not the same.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const BootIdentity&, const BootIdentity&) = default;
};

// What cannot be read counts as different: then the full time that was left is given again, which
// is safe, and never an instant of another clock.
inline bool is_same_boot(const BootIdentity& a, const BootIdentity& b) {
  const bool readable = !a.boot_id.empty() && !a.time_offsets.empty() && a.inode != 0;
  return readable && a == b;
}

}  // namespace redlock::server
