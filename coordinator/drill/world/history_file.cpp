#include "coordinator/drill/world/history_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

Failure failure(std::string_view path, std::string_view verb) {
  return {fmt::format("{}: cannot be {}: {}", path, verb, std::strerror(errno))};
}

Result<std::string> read_all(const std::string& path) {
  const bool is_stdin = path == "-";
  const int file = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failure(path, "opened");
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::string text;
  ssize_t count = 0;
  do {
    const std::size_t before = text.size();
    text.resize(before + kBlock);
    do count = ::read(file, text.data() + before, kBlock);
    while (count < 0 && errno == EINTR);
    text.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
  } while (count > 0);
  const int error = errno;
  if (!is_stdin) ::close(file);
  errno = error;
  if (count < 0) return failure(path, "read");
  return text;
}

}  // namespace

Result<HistoryWriter> HistoryWriter::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return failure(path, "opened");
  return HistoryWriter(path, file);
}

HistoryWriter::~HistoryWriter() {
  if (file_ >= 0) ::close(file_);
}

HistoryWriter::HistoryWriter(HistoryWriter&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

HistoryWriter& HistoryWriter::operator=(HistoryWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}

Status HistoryWriter::append(const std::string& line) {
  ssize_t count = 0;
  do count = ::write(file_, line.data(), line.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) return failure(path_, "written");
  if (static_cast<std::size_t>(count) == line.size()) return Done{};
  return Failure{fmt::format("{}: cannot be written in full: is the disk full?", path_)};
}

Result<History> read_history(const std::vector<std::string>& paths) {
  std::vector<std::string> texts;
  for (const std::string& path : paths) {
    auto text = read_all(path);
    if (!text) return Failure{text.error().text};
    texts.push_back(std::move(text.value()));
  }
  std::vector<HistoryText> files;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    files.push_back({paths[i] == "-" ? "standard input" : paths[i], texts[i]});
  }
  return parse_history(files);
}

}  // namespace redlock::drill
