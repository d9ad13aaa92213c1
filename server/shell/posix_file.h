// Files of the state folder: the few system calls, with errors that an operator can act on.
//
// All of it blocks; a node calls it when it starts and when it stops.
#pragma once

#include <redlock/result.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace redlock::server {

// Owns a descriptor; -1: none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int raw = -1) : raw_(raw) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : raw_(std::exchange(other.raw_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }

  bool is_open() const { return raw_ >= 0; }
  int raw() const { return raw_; }

 private:
  int raw_;
};

// "cannot write /var/lib/x/ledger: No space left on device; make room there and start again".
// `error` is an errno.
Failure file_failure(std::string_view deed, std::string_view path, int error);

// open(2) with O_CLOEXEC, again after EINTR; errno tells why none is open.
FileDescriptor open_file(const std::string& path, int flags, mode_t mode = 0);

// A file in a folder that others might have had a hand in: a regular one, of this user or root,
// that no other may write; a symbolic link is not followed. None open, and no failure: there is
// none, and the flags make none.
Result<FileDescriptor> open_own_file(const std::string& path, int flags, mode_t mode = 0);
// The same for a folder; on the way to it links are followed.
Status check_own_folder(const std::string& path);

// All of it, in as many calls as it takes.
Status write_at(const FileDescriptor& file, const std::string& path, std::string_view bytes,
                off_t at);
// At most `size` bytes from the file's position into `to`, fewer only at the end;
// -1: errno says why.
ssize_t read_some(const FileDescriptor& file, char* to, std::size_t size);
// The first `size` bytes of the file, fewer when it is shorter.
Result<std::string> read_beginning(const FileDescriptor& file, const std::string& path,
                                   std::size_t size);

Status sync_file(const FileDescriptor& file, const std::string& path);
Status sync_file_data(const FileDescriptor& file, const std::string& path);
// The names in a folder are durable only once it is synced itself.
Status sync_folder(const std::string& path);

// A small file of /proc as it stands; empty when it cannot be read.
std::string read_proc(const char* path);

}  // namespace redlock::server
