// The snapshot: the locks that a clean stop leaves for the next start (rule R9).
//
// Written and read as a stream, a lock at a time, so that ten million locks need no second copy in
// memory. Pure: bytes go to a sink and come from a source; state_folder.h connects them to a file.
//
//   "RLSNAPSH"  version, 32 bits
//   node id, boot id, time offsets: each a length, 32 bits, and its bytes
//   run, device, inode, instant of the copy: 64 bits each
//   a lock:   'L'  key length, 32 bits; value length, 32 bits;
//                  deadline, 64 bits, nanoseconds of the monotonic clock (kNever: no deadline);
//                  token, 64 bits; key; value
//   a hash:   'H'  the same; the value is its packed fields (packed_hash.h). A program from before
//                  there were hashes takes such a file for damaged: then it waits, which is safe
//   a label:  'N'  length, 8 bits; since, 64 bits, as the deadline; text: of the lock behind it.
//                  To a program from before there were labels it is damaged
//   a mark:   'M'  of a final release (release_marks.h): key of the hash, hash, end, 64 bits each.
//                  The file has one key. To a program from before there were marks it is damaged
//   the end:  'E'  number of locks, 64 bits; checksum of all before it, 64 bits; nothing after it
//
// Numbers are little endian. The time left of a lock is its deadline less the instant of the copy:
// both stand here, so the same file serves a start in the same boot and one in another.
#pragma once

#include "base/time.h"
#include "server/locks/lock_kind.h"
#include "server/locks/lock_label.h"
#include "server/locks/release_marks.h"
#include "server/recovery/boot_identity.h"
#include "server/recovery/checksum.h"
#include <redlock/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace redlock::server {

inline constexpr std::uint32_t kSnapshotVersion = 1;

struct SnapshotHeader {
  std::string node_id;
  std::uint64_t run = 0;  // the run that stopped
  BootIdentity boot;
  Instant copied_at;  // nothing was executed after it
};

// The views live as long as the call that hands one over.
struct SavedLock {
  std::string_view key;
  std::string_view value;
  Instant deadline;  // kNever: a key without one (rule L3)
  std::uint64_t token = 0;
  LockKind kind = LockKind::text;
  LockLabel label = {};
};

using SavedLockVisitor = std::function<void(const SavedLock&)>;
using SavedMarkVisitor = std::function<void(const SavedMark&)>;

// Usage: writer.add(…) for each lock and mark, then finish(),
// which alone tells whether all went well.
class SnapshotWriter {
 public:
  using Sink = std::function<Status(std::string_view)>;

  SnapshotWriter(const SnapshotHeader& header, Sink sink);

  // REQUIRES: key and value shorter than 4 GB, deadline not negative.
  void add(const SavedLock& lock);
  void add(const SavedMark& mark);
  Status finish();

 private:
  void flush();

  Sink sink_;
  std::string buffer_;
  Checksum checksum_;
  std::uint64_t locks_ = 0;
  Status status_ = Done{};  // the first failure of the sink; nothing is written after it
};

struct SnapshotContent {
  enum class State { missing, damaged, readable };

  State state = State::missing;
  std::string trouble;  // damaged: in words, what is wrong with it
  SnapshotHeader header;
  std::uint64_t locks = 0;
  Instant latest_deadline;  // of the locks that have one; zero without any
};

// Puts at most `size` bytes at `to` and says how many; fewer than asked: the end, or a read error.
using ByteSource = std::function<std::size_t(char* to, std::size_t size)>;

// Reads all of it. Locks and marks reach their visitors before the checksum at the end is known:
// believe none before a first pass, with visitors that do nothing, found it readable.
SnapshotContent read_snapshot(const ByteSource& source, const SavedLockVisitor& visit,
                              const SavedMarkVisitor& visit_mark);

}  // namespace redlock::server
