#include "base/net/text_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::net {

Result<std::string> read_text_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Failure{std::strerror(errno)};
  auto text = read_text(file);
  close(file);
  return text;
}

Result<std::string> read_text(int descriptor) {
  std::string text;
  std::array<char, 64 * 1024> piece{};
  while (text.size() <= kTextBytesMax) {
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failure{std::strerror(errno)};
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return Failure{fmt::format("it has more than {} bytes: is it the right file?", kTextBytesMax)};
}

// Closing may tell that not all was written (NFS, quotas).
Status write_text_file(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Failure{std::strerror(errno)};
  int error = 0;
  while (!text.empty() && error == 0) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error != 0) return Failure{std::strerror(error)};
  return Done{};
}

}  // namespace redlock::net
