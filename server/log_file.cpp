#include "server/log_file.h"

#include "base/net/clock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

Result<LogFile> LogFile::open(const std::string& path) {
  if (path.empty()) return LogFile(STDOUT_FILENO);
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Failure{fmt::format("cannot open the log file {}: {}", path, strerror(errno))};
  return LogFile(fd);
}

LogFile::LogFile(LogFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), level_(other.level_) {}

LogFile::~LogFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
}

// One write per line, so that lines of several processes in one file do not mix. A log that cannot
// be written must not stop a lock server: the failure is passed over.
void LogFile::log(LogLevel level, std::string_view text) {
  if (level_ != nullptr && level < *level_) return;
  const std::string line = log_line(getpid(), net::read_wall_clock(), level, text);
  [[maybe_unused]] const ssize_t written = write(fd_, line.data(), line.size());
}

}  // namespace redlock::server
