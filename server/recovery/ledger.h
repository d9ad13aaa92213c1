// The ledger: the small file that tells a restarted node what it may have promised (rules R2, R7).
//
// This part is pure: what stands in the file, what a torn write leaves of it, and the order of the
// writes that make a record durable. ledger_file.h does the system calls; recovery.h decides what
// a start makes of it.
//
//      0 +--------------------+
//        | volatile page      |  apart from the rest, so that writing it can tear no copy
//   4096 +--------------------+
//        | copy 0             |  the durable record, twice, each copy in a page of its own:
//   8192 +--------------------+  a write that a power loss tears can spoil one of them,
//        | copy 1             |  never both
//  12288 +--------------------+
//
//   one copy:    0  "RLLEDGER"
//                8  version, 32 bits
//               12  fenced, 32 bits: 0 or 1
//               16  node id, 40 lower-case hexadecimal digits
//               56  run number, 64 bits
//               64  largest TTL granted, 64 bits, nanoseconds
//               72  fencing bound H, 64 bits
//               80  from version 2 on: what it must not forget of its group (roster_record.h)
//                   zeros
//             4088  checksum of the 4088 bytes before it, 64 bits
//
//   volatile page (rules R4, R6):
//                0  latest deadline of a live lock, 64 bits, CLOCK_MONOTONIC in ns
//                8  the same again: the larger of the two counts
//               16  boot id, 64 bytes: its length in the first, then text, then zeros
//               80  time namespace offsets, 256 bytes in the same form
//              336  device and inode of the ledger, 64 bits each
//              352  checksum of the 336 bytes before it, from 16 on, 64 bits
//
// Whatever a torn write of 16 bytes leaves, one of the two deadlines is wholly the old or wholly
// the new one, and the larger of all that it can leave is never earlier than the old one: nobody
// was told of a lock whose write had not come to its end.
//
// A copy of a node that knows nothing of a group is of version 1, as programs write it that know
// nothing of groups; so one that goes back to such a program loses its ledger only if
// it has a roster.
//
// Numbers are little endian. The name, the version and the checksum stay where they are in every
// version to come, so that a newer ledger is told apart from a damaged one.
#pragma once

#include "base/time.h"
#include "server/recovery/boot_identity.h"
#include "server/recovery/roster_record.h"
#include <redlock/result.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redlock::server {

inline constexpr std::size_t kLedgerPageBytes = 4096;
inline constexpr std::size_t kLedgerCopies = 2;
inline constexpr std::size_t kLedgerBytes = kLedgerPageBytes * (1 + kLedgerCopies);
inline constexpr std::uint32_t kLedgerVersion = 2;
inline constexpr std::uint32_t kLedgerVersionWithoutRoster = 1;

// Where a copy starts in the file.
constexpr std::size_t ledger_copy_offset(std::size_t copy) {
  return kLedgerPageBytes * (1 + copy);
}

// What a node must not forget. Bounds, all of them: a larger one than the truth is safe.
struct DurableRecord {
  std::string node_id = {};  // is_node_id
  std::uint64_t run = 0;     // the run that may be granting; 0: made by --bootstrap, never ran
  Duration largest_ttl{};    // no lock of this node has a longer time left
  std::uint64_t fencing_bound = 0;  // H: no token of this node is larger
  bool fenced = false;
  RosterRecord roster = {};

  const std::string& ledger_id() const {
    return roster.ledger_id.empty() ? node_id : roster.ledger_id;
  }

  friend bool operator==(const DurableRecord&, const DurableRecord&) = default;
};

inline constexpr std::size_t kNodeIdBytes = kNodeIdDigits / 2;
// REQUIRES: bytes come from the system's generator; the id of a new node.
std::string make_node_id(std::span<const unsigned char, kNodeIdBytes> bytes);

using LedgerPage = std::array<char, kLedgerPageBytes>;

// REQUIRES: is_node_id(record.node_id), largest_ttl not negative, fencing_bound <= kTokenMax.
LedgerPage encode_ledger_copy(const DurableRecord& record);

// What outlives the process in the page cache, but not the machine.
struct VolatilePart {
  Instant latest_deadline{};  // of a lock that was live at the crash; later than the truth is safe
  BootIdentity boot;          // empty when it cannot be trusted, and so of no boot
};

inline constexpr std::size_t kLatestDeadlineBytes = 2 * sizeof(std::uint64_t);
inline constexpr std::size_t kBootAt = kLatestDeadlineBytes;  // where encode_boot's bytes stand

// REQUIRES: not negative.
std::array<char, kLatestDeadlineBytes> encode_latest_deadline(Instant latest_deadline);
std::string encode_boot(const BootIdentity& boot);
// The file's first page; what is missing or damaged of it is of no boot.
VolatilePart decode_volatile_part(std::string_view page);

enum class LedgerState {
  missing,          // no file
  unfinished,       // an empty file, or zeros: the start that made it ended before it wrote
  damaged,          // no valid copy, or two of different nodes
  unknown_version,  // a copy of a version that this program cannot read
  valid,            // at least one valid copy and none of an unknown version
};

struct LedgerContent {
  LedgerState state = LedgerState::missing;
  // valid: the larger bounds of the valid copies. Otherwise only largest_ttl means anything: what
  // could still be read of it, or zero.
  DurableRecord record;
  // The copy to overwrite first: the one that is not valid, or the newer one, which a write that
  // was not finished left. The other holds the bounds in force and is certain to be on the disk.
  std::size_t write_first = 0;
  VolatilePart volatile_part;
};

// The bytes of the file from its beginning; a file that is too short lacks its last copies.
//
// Two valid copies differ after a write that was not finished. Bounds are in force only when both
// copies hold them, so the smaller ones would do; but a second crash may have come in between, and
// the larger bounds are safe whatever happened. Fenced is no bound: being fenced is the promise,
// so it takes both copies to make it. Of a group the later record counts: nobody was told of what
// stands in one copy alone, and to have promised or accepted without telling is safe (rule G2).
LedgerContent decode_ledger(std::string_view file);

// Where the latest deadline is written: into the page cache, which outlives the process, so without
// a sync (rule R4).
class LatestDeadlinePage {
 public:
  virtual ~LatestDeadlinePage() = default;
  virtual Status write_latest_deadline(Instant latest_deadline) = 0;
};

// The system calls that a record's way to the disk is made of.
class LedgerPages : public LatestDeadlinePage {
 public:
  virtual Status write_boot(const BootIdentity& boot) = 0;
  virtual Status write_copy(std::size_t copy, const LedgerPage& page) = 0;
  virtual Status sync() = 0;  // fdatasync: what was written before is durable
};

// Makes records durable in the order of rule R7: one copy, fdatasync, the other, fdatasync.
//
// The copy that is in doubt (not valid at the start, or left behind by a write or fdatasync that
// failed) is written first, so that at every instant the other one is whole on the disk. Before
// that comes one more fdatasync: a process that was killed may have left a copy in the page cache
// alone, and a power loss must never find both on their way.
class LedgerWriter {
 public:
  // Whether what stands in the pages is known to be on the disk, too. Only then may the first write
  // begin without a sync: else a power loss could tear both copies.
  enum class OnDisk { doubtful, certain };

  // write_first: from decode_ledger. `pages` must outlive the writer.
  LedgerWriter(LedgerPages& pages, std::size_t write_first, OnDisk found = OnDisk::doubtful)
      : pages_(pages), write_first_(write_first), on_disk_(found) {}

  // A failure counts as not done: the bounds in force are the old ones. The next call writes all
  // bytes again, as a kernel may drop what an fdatasync could not write, and report it only once.
  Status write(const DurableRecord& record);

 private:
  Status write_durably(std::size_t copy, const LedgerPage& page);

  LedgerPages& pages_;
  std::size_t write_first_;
  OnDisk on_disk_;
};

}  // namespace redlock::server
