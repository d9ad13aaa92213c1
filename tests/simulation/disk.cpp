#include "tests/simulation/disk.h"

#include <algorithm>
#include <cstring>

namespace redlock::simulation {
namespace {

constexpr std::size_t kSectorBytes = 512;

std::string whole(const server::LedgerPage& page) {
  return {page.data(), page.size()};
}

}  // namespace

void Disk::bootstrap(const std::string& node_id, std::uint64_t counter) {
  cached_.ledger = std::string(server::kLedgerBytes, '\0');
  const server::DurableRecord record{
      .node_id = node_id, .run = 0, .largest_ttl = 0ns, .fencing_bound = counter, .fenced = true};
  for (std::size_t copy = 0; copy < server::kLedgerCopies; ++copy) {
    write_ledger(server::ledger_copy_offset(copy), whole(server::encode_ledger_copy(record)));
  }
  durable_ = cached_;
  is_dirty_ = {};
}

void Disk::replace() {
  cached_ = {};
  durable_ = {};
  is_dirty_ = {};
  ++inode_;
}

void Disk::lose_power(Random& random) {
  if (cached_.ledger && durable_.ledger) {
    std::string& old = *durable_.ledger;
    const std::string& newer = *cached_.ledger;
    for (std::size_t at = 0; at < newer.size(); at += kSectorBytes) {
      const bool is_on_its_way = is_dirty_[at / server::kLedgerPageBytes];
      if (!is_on_its_way || newer.compare(at, kSectorBytes, old, at, kSectorBytes) == 0) continue;
      if (random.below(2) == 0) old.replace(at, kSectorBytes, newer, at, kSectorBytes);
    }
  }
  // A name in a folder is there or not, whole either way.
  if (random.below(2) == 0) durable_.snapshot = cached_.snapshot;
  cached_ = durable_;
  is_dirty_ = {};
}

void Disk::make_durable(std::size_t page) {
  const std::size_t at = page * server::kLedgerPageBytes;
  durable_.ledger->replace(at, server::kLedgerPageBytes, *cached_.ledger, at,
                           server::kLedgerPageBytes);
}

void Disk::sync_ledger() {
  if (!cached_.ledger) return;
  for (std::size_t page = 0; page < is_dirty_.size(); ++page) {
    if (is_dirty_[page]) make_durable(page);
  }
  is_dirty_ = {};
}

void Disk::fail_to_sync_ledger(Random& random) {
  if (!cached_.ledger) return;
  for (std::size_t page = 0; page < is_dirty_.size(); ++page) {
    if (is_dirty_[page] && random.below(2) == 0) make_durable(page);
  }
  is_dirty_ = {};
}

server::LedgerContent Disk::ledger() const {
  if (cached_.ledger) return server::decode_ledger(*cached_.ledger);
  return {};
}

server::SnapshotContent Disk::snapshot(const server::SavedLockVisitor& visit,
                                       const server::SavedMarkVisitor& visit_mark) const {
  if (!cached_.snapshot) return {};
  std::size_t at = 0;
  const auto source = [&](char* to, std::size_t size) {
    const std::size_t count = std::min(size, cached_.snapshot->size() - at);
    std::memcpy(to, cached_.snapshot->data() + at, count);
    at += count;
    return count;
  };
  return server::read_snapshot(source, visit, visit_mark);
}

void Disk::write_ledger(std::size_t offset, std::string_view bytes) {
  // A new ledger is filled with zeros and made durable, with its name, before anything else
  // (rule R2).
  if (!cached_.ledger) {
    cached_.ledger = std::string(server::kLedgerBytes, '\0');
    durable_.ledger = cached_.ledger;
  }
  cached_.ledger->replace(offset, bytes.size(), bytes);
  const std::size_t last = (offset + bytes.size() - 1) / server::kLedgerPageBytes;
  for (std::size_t page = offset / server::kLedgerPageBytes; page <= last; ++page) {
    is_dirty_[page] = true;
  }
}

void DiskPlan::fail_at(unsigned call, bool in_part, Random& random) {
  fault_ = Fault{call, in_part, &random};
}

Status DiskPlan::add(Step step, const std::function<void(Disk&)>& part) {
  if (is_broken_) return Failure{"no space left on device"};
  if (fault_ && fault_->calls_before-- == 0) {
    if (fault_->in_part && part) steps_.push_back({part, step.is_sync});
    return Failure{"input/output error"};
  }
  steps_.push_back(std::move(step));
  return Done{};
}

// part: so many bytes are written when it fails half done.
Status DiskPlan::write(std::size_t offset, std::string bytes, std::size_t part) {
  const auto put_some = [offset, some = bytes.substr(0, part)](Disk& disk) {
    disk.write_ledger(offset, some);
  };
  const auto put = [offset, bytes = std::move(bytes)](Disk& disk) {
    disk.write_ledger(offset, bytes);
  };
  return add({put, false}, put_some);
}

Status DiskPlan::write_latest_deadline(Instant latest_deadline) {
  const auto bytes = server::encode_latest_deadline(latest_deadline);
  return write(0, {bytes.data(), bytes.size()}, bytes.size() / 2);
}

Status DiskPlan::write_boot(const server::BootIdentity& boot) {
  return write(server::kBootAt, server::encode_boot(boot), kSectorBytes - server::kBootAt);
}

Status DiskPlan::write_copy(std::size_t copy, const server::LedgerPage& page) {
  return write(server::ledger_copy_offset(copy), whole(page), kSectorBytes);
}

Status DiskPlan::sync() {
  const auto fail = [random = fault_ ? fault_->random : nullptr](Disk& disk) {
    disk.fail_to_sync_ledger(*random);
  };
  return add({[](Disk& disk) { disk.sync_ledger(); }, true}, fail);
}

Status DiskPlan::discard_snapshot() {
  if (auto removed = add({[](Disk& disk) { disk.remove_snapshot(); }, false}, {}); !removed) {
    return removed;
  }
  return add({[](Disk& disk) { disk.sync_folder(); }, true}, {});
}

}  // namespace redlock::simulation
