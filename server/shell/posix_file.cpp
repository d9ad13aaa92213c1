#include "server/shell/posix_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

std::string_view advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there and start again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; let this user write there, or name another folder with --dir";
    case ENOENT:
    case ENOTDIR:
      return "; make the folder above it, or name another with --dir";
    case ELOOP:
      return "; it is a symbolic link, which is not followed: put the file itself there, or name "
             "another folder with --dir";
    case EIO:
      return "; the disk may be failing: name a folder on another with --dir";
    default:
      return "";
  }
}

// Why others may have a hand in it: whoever can write a ledger can make a node forget its locks.
Status check_owner(const std::string& path, const struct stat& status) {
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return Failure{
        fmt::format("{} belongs to user {}, and this node runs as user {}: run it as that "
                    "user, give the folder and what is in it to this one (chown -R), or "
                    "name another folder with --dir",
                    path, status.st_uid, geteuid())};
  }
  if ((status.st_mode & S_IWOTH) != 0) {
    return Failure{
        fmt::format("everybody may write {}, and so could make this node forget its "
                    "locks: take that right away (chmod o-w), or name another folder "
                    "with --dir, one within it if need be",
                    path)};
  }
  return Done{};
}

// A system call again as long as a signal interrupts it.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (is_open()) close(raw_);
}

Failure file_failure(std::string_view deed, std::string_view path, int error) {
  return {fmt::format("cannot {} {}: {}{}", deed, path, std::strerror(error), advice(error))};
}

FileDescriptor open_file(const std::string& path, int flags, mode_t mode) {
  return FileDescriptor(retry([&] { return open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

// O_NONBLOCK: a pipe of that name does not hold the start up.
Result<FileDescriptor> open_own_file(const std::string& path, int flags, mode_t mode) {
  FileDescriptor file = open_file(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode);
  if (!file.is_open() && errno == ENOENT && (flags & O_CREAT) == 0) return file;
  struct stat status {};
  if (!file.is_open() || fstat(file.raw(), &status) < 0) return file_failure("open", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return Failure{fmt::format("{} is no regular file: move it away and start again", path)};
  }
  if (auto ours = check_owner(path, status); !ours) return ours.error();
  return file;
}

Status check_own_folder(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) < 0) return file_failure("open", path, errno);
  if (!S_ISDIR(status.st_mode)) return file_failure("open", path, ENOTDIR);
  return check_owner(path, status);
}

Status write_at(const FileDescriptor& file, const std::string& path, std::string_view bytes,
                off_t at) {
  while (!bytes.empty()) {
    const ssize_t count = retry([&] { return pwrite(file.raw(), bytes.data(), bytes.size(), at); });
    if (count < 0) return file_failure("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += count;
  }
  return Done{};
}

ssize_t read_some(const FileDescriptor& file, char* to, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = retry([&] { return read(file.raw(), to + filled, size - filled); });
    if (count < 0) return -1;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(filled);
}

Result<std::string> read_beginning(const FileDescriptor& file, const std::string& path,
                                   std::size_t size) {
  std::string bytes(size, '\0');
  if (lseek(file.raw(), 0, SEEK_SET) < 0) return file_failure("read", path, errno);
  const ssize_t count = read_some(file, bytes.data(), size);
  if (count < 0) return file_failure("read", path, errno);
  bytes.resize(static_cast<std::size_t>(count));
  return bytes;
}

Status sync_file(const FileDescriptor& file, const std::string& path) {
  if (retry([&] { return fsync(file.raw()); }) < 0) return file_failure("write", path, errno);
  return Done{};
}

Status sync_file_data(const FileDescriptor& file, const std::string& path) {
  if (retry([&] { return fdatasync(file.raw()); }) < 0) return file_failure("write", path, errno);
  return Done{};
}

Status sync_folder(const std::string& path) {
  const FileDescriptor folder = open_file(path, O_RDONLY | O_DIRECTORY);
  if (!folder.is_open()) return file_failure("open", path, errno);
  return sync_file(folder, path);
}

std::string read_proc(const char* path) {
  const FileDescriptor file = open_file(path, O_RDONLY);
  std::string text;
  std::array<char, 4096> piece{};
  ssize_t count = 0;
  while (file.is_open() && (count = read_some(file, piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return count < 0 ? std::string() : text;
}

}  // namespace redlock::server
