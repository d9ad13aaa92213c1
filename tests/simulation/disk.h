// Disk: a node's state folder on a machine that may lose its power. What is written stands in the
// page cache at once, where the next process finds it; what was synced outlives the machine.
//
// Of what was not synced a power loss leaves the old, the new, or a mix of both: a page tears
// between its sectors. So does the order of writes: only a sync puts one before another. A sync
// that failed has made some pages durable and dropped others, which the next sync does not write
// either: as kernels do it, they count as clean.
#pragma once

#include "base/random.h"
#include "server/recovery/ledger.h"
#include "server/recovery/recovery.h"
#include "server/recovery/snapshot.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class Disk {
 public:
  // As redlock-node --bootstrap leaves it: a ledger that never ran.
  void bootstrap(const std::string& node_id, std::uint64_t counter = 0);
  // A new, empty one in its place.
  void replace();
  void lose_power(Random& random);

  std::uint64_t inode() const { return inode_; }
  server::LedgerContent ledger() const;
  server::SnapshotContent snapshot(
      const server::SavedLockVisitor& visit = [](const server::SavedLock&) {},
      const server::SavedMarkVisitor& visit_mark = [](const server::SavedMark&) {}) const;

  // One system call each, in the page cache; sync() is what makes it last.
  void write_ledger(std::size_t offset, std::string_view bytes);
  void sync_ledger();
  void fail_to_sync_ledger(Random& random);
  // A new file under a temporary name, synced and renamed; the folder is not synced.
  void put_snapshot(std::string bytes) { cached_.snapshot = std::move(bytes); }
  void remove_snapshot() { cached_.snapshot.reset(); }
  void sync_folder() { durable_.snapshot = cached_.snapshot; }

 private:
  struct Content {
    std::optional<std::string> ledger;  // nullopt: no file
    std::optional<std::string> snapshot;
  };

  void make_durable(std::size_t page);

  Content cached_;
  Content durable_;
  std::array<bool, 1 + server::kLedgerCopies> is_dirty_ = {};  // by page of the ledger
  std::uint64_t inode_ = 1;
};

// Takes down the system calls that a write to the ledger is made of, so that they can be carried
// out one by one, with time, and crashes, in between.
class DiskPlan final : public server::LedgerPages {
 public:
  struct Step {
    std::function<void(Disk&)> carry_out;
    bool is_sync;  // takes the disk's time
  };

  // is_broken: nothing can be written.
  explicit DiskPlan(bool is_broken) : is_broken_(is_broken) {}
  // That call, from 0, fails: with nothing done, or with a part of it. random: outlives the plan.
  void fail_at(unsigned call, bool in_part, Random& random);

  Status write_latest_deadline(Instant latest_deadline) override;
  Status write_boot(const server::BootIdentity& boot) override;
  Status write_copy(std::size_t copy, const server::LedgerPage& page) override;
  Status sync() override;
  Status discard_snapshot();

  std::vector<Step> take_steps() { return std::move(steps_); }

 private:
  struct Fault {
    unsigned calls_before;
    bool in_part;
    Random* random;
  };

  // part: what is done of it when it fails in part.
  Status add(Step step, const std::function<void(Disk&)>& part);
  Status write(std::size_t offset, std::string bytes, std::size_t part);

  bool is_broken_;
  std::optional<Fault> fault_;
  std::vector<Step> steps_;
};

}  // namespace redlock::simulation
