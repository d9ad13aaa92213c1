#include "coordinator/drill/runs/unread_pipe.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {

Result<UnreadPipe> UnreadPipe::make(const std::string& path) {
  const auto failure = [&path] {
    return Failure{fmt::format("{}: {}", path, std::strerror(errno))};
  };
  if (mkfifo(path.c_str(), 0600) != 0) return failure();
  UnreadPipe pipe(path, ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (pipe.file_ < 0) return failure();
  // O_NONBLOCK is of this open file alone: those who open it by its name block.
  const std::array<char, 4096> page{};
  while (write(pipe.file_, page.data(), page.size()) > 0) continue;
  while (write(pipe.file_, page.data(), 1) > 0) continue;
  return pipe;
}

UnreadPipe::~UnreadPipe() {
  if (file_ >= 0) close(file_);
}

UnreadPipe::UnreadPipe(UnreadPipe&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

}  // namespace redlock::drill
