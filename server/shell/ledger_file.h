// The ledger on the disk: opened and locked for the node's life (rule R2). What stands in it, and
// the order of its writes, is ledger.h's.
#pragma once

#include "server/recovery/boot_identity.h"
#include "server/recovery/ledger.h"
#include "server/shell/posix_file.h"
#include <redlock/result.h>

#include <cstdint>
#include <string>

namespace redlock::server {

// A file that is removed, renamed or replaced meanwhile counts as a disk that fails: the write of a
// deadline or of a copy then tells, as the next start would read another.
class LedgerFile final : public LedgerPages {
 public:
  // Opens it, or makes an empty one, and locks it before a byte is read. A second process, or a
  // second opener in this one, gets a failure that names the process which holds it.
  static Result<LedgerFile> open(std::string path);

  Result<LedgerContent> read() const;

  // To be called once before the first copy is written: a file that is too short is filled with
  // zeros, so that later writes need no room on the disk, and made durable.
  Status fill();

  Status write_latest_deadline(Instant latest_deadline) override;
  Status write_boot(const BootIdentity& boot) override;
  Status write_copy(std::size_t copy, const LedgerPage& page) override;
  Status sync() override;

  // Zeros when they cannot be told.
  struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };
  FileIdentity identity() const;
  const std::string& path() const { return path_; }

 private:
  LedgerFile(std::string path, FileDescriptor file, bool is_new)
      : path_(std::move(path)), file_(std::move(file)), is_new_(is_new) {}

  Status lock();
  Status check_identity() const;

  std::string path_;
  FileDescriptor file_;
  bool is_new_;            // there was none before
  FileIdentity identity_;  // when it was locked
};

// Which process holds the flock of the file, out of the text of /proc/locks; 0: not told there.
std::int64_t lock_holder(std::string_view proc_locks, LedgerFile::FileIdentity identity);

}  // namespace redlock::server
