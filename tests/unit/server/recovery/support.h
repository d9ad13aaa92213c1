// A disk for the tests of recovery, which forgets what a real one may forget.
#pragma once

#include "base/random.h"
#include "server/recovery/ledger.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::server {

inline const std::string kNodeA(40, 'a');
inline const std::string kNodeB(40, 'b');
inline const std::string kFreshNode(40, 'f');

inline std::string_view text_of(const LedgerPage& page) {
  return {page.data(), page.size()};
}

// The bytes of a whole ledger with these two copies.
inline std::string ledger_bytes(std::string_view copy0, std::string_view copy1) {
  std::string file(kLedgerPageBytes, '\0');
  file += copy0;
  file += copy1;
  return file;
}

inline std::string ledger_bytes(const DurableRecord& copy0, const DurableRecord& copy1) {
  return ledger_bytes(text_of(encode_ledger_copy(copy0)), text_of(encode_ledger_copy(copy1)));
}

// The same after a start recorded its boot and the latest deadline.
inline std::string ledger_bytes(const DurableRecord& record, Instant latest,
                                const BootIdentity& boot) {
  std::string file = ledger_bytes(record, record);
  const auto deadline = encode_latest_deadline(latest);
  file.replace(0, deadline.size(), deadline.data(), deadline.size());
  const std::string identity = encode_boot(boot);
  return file.replace(kBootAt, identity.size(), identity);
}

// A ledger behind a page cache. What is written is seen at once and is durable only after sync. The
// process that uses it can be made to die at a chosen operation: that one and all later ones fail.
class MemoryLedger : public LedgerPages {
 public:
  explicit MemoryLedger(std::string bytes = std::string(kLedgerBytes, '\0'))
      : cache_(bytes), disk_(std::move(bytes)) {}

  // The process dies in front of its operation number `operations`, or, when torn_bytes is given,
  // in the middle of it, if it is a write.
  void die_after(int operations, std::size_t torn_bytes = 0) {
    operations_left_ = operations;
    torn_bytes_ = torn_bytes;
  }
  // Only the operation number `operations` fails; the process lives.
  void fail_at(int operations) { failing_ = operations; }
  bool is_dead() const { return operations_left_ < 0; }

  // Counts as an operation of the process; false: it is dead or the operation fails.
  bool step() {
    ++operations_;
    if (failing_ >= 0 && failing_-- == 0) return false;
    return operations_left_-- > 0;
  }

  Status write_latest_deadline(Instant latest) override {
    const auto bytes = encode_latest_deadline(latest);
    return write_page(0, 0, {bytes.data(), bytes.size()});
  }
  Status write_boot(const BootIdentity& boot) override {
    return write_page(0, kBootAt, encode_boot(boot));
  }
  Status write_copy(std::size_t copy, const LedgerPage& page) override {
    return write_page(1 + copy, 0, text_of(page));
  }

  // A sync that fails leaves half a page on the disk, and the kernel then takes the page for clean:
  // only what is written again reaches the disk with the next one.
  Status sync() override {
    const bool succeeds = step();
    if (!succeeds && is_dead()) return Failure{"sync failed"};
    for (std::size_t page = 0; page < kPages; ++page) {
      if (dirty_[page]) copy_to_disk(page, succeeds ? kLedgerPageBytes : kLedgerPageBytes / 2);
      dirty_[page] = false;
    }
    return succeeds ? Status(Done{}) : Status(Failure{"sync failed"});
  }

  const std::string& cache() const { return cache_; }
  const std::string& disk() const { return disk_; }
  int operations() const { return operations_; }

  // The machine goes on: what was written is seen by the next process.
  void killed() { revive(); }

  // Of each page that was not synced, a random beginning is on the disk.
  void lost_power(Random& random) {
    for (std::size_t page = 0; page < kPages; ++page) {
      if (dirty_[page]) copy_to_disk(page, kept_bytes(random));
    }
    lost_power();
  }

  // Nothing that was not synced is on the disk.
  void lost_power() {
    cache_ = disk_;
    dirty_ = {};
    revive();
  }

 private:
  static std::size_t kept_bytes(Random& random) {
    switch (random.below(3)) {
      case 0:
        return 0;
      case 1:
        return kLedgerPageBytes;
      default:
        return random.below(kLedgerPageBytes + 1);
    }
  }

  Status write_page(std::size_t page, std::size_t at, std::string_view bytes) {
    const bool fails_alone = failing_ == 0;
    const bool dies_here = operations_left_ == 0;
    if (step()) {
      put(page, at, bytes);
      return Done{};
    }
    if (fails_alone || dies_here) put(page, at, bytes.substr(0, torn_bytes_));
    return Failure{"write failed"};
  }

  void copy_to_disk(std::size_t page, std::size_t size) {
    const std::size_t at = page * kLedgerPageBytes;
    disk_.replace(at, size, cache_, at, size);
  }

  void put(std::size_t page, std::size_t at, std::string_view bytes) {
    dirty_[page] = true;
    cache_.replace(page * kLedgerPageBytes + at, bytes.size(), bytes);
  }

  void revive() {
    operations_left_ = kEndless;
    failing_ = -1;
    torn_bytes_ = 0;
  }

  static constexpr std::size_t kPages = 1 + kLedgerCopies;
  static constexpr int kEndless = 1000000;

  std::string cache_;
  std::string disk_;
  std::array<bool, kPages> dirty_{};
  int operations_left_ = kEndless;
  int failing_ = -1;
  int operations_ = 0;
  std::size_t torn_bytes_ = 0;
};

inline Status write_record(MemoryLedger& ledger, const DurableRecord& record) {
  LedgerWriter writer(ledger, decode_ledger(ledger.cache()).write_first);
  return writer.write(record);
}

}  // namespace redlock::server
