#include "server/shell/acl_file.h"

#include "base/net/text_file.h"
#include "server/shell/posix_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr mode_t kOwnersAlone = 0600;

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : kOwnersAlone;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_whole(const std::string& path, std::string_view text, mode_t mode) {
  const FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  if (!file.is_open()) return file_failure("write", path, errno);
  if (fchmod(file.raw(), mode) < 0) return file_failure("write", path, errno);
  if (Status written = write_at(file, path, text, 0); !written) return written;
  return sync_file(file, path);
}

}  // namespace

Result<std::string> AclFile::read() {
  auto text = net::read_text_file(path_);
  if (text) return text;
  return Failure{fmt::format("the ACL file {} cannot be read: {}. ", path_, text.error().text)};
}

Status AclFile::write(std::string_view text) {
  const std::string beside = fmt::format("{}.{}.new", path_, getpid());
  unlink(beside.c_str());
  if (Status written = write_whole(beside, text, mode_of(path_)); !written) {
    unlink(beside.c_str());
    return written;
  }
  if (std::rename(beside.c_str(), path_.c_str()) < 0) {
    const int error = errno;
    unlink(beside.c_str());
    return file_failure("write", path_, error);
  }
  return sync_folder(folder_of(path_));
}

}  // namespace redlock::server
