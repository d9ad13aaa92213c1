#include "base/net/log_file.h"

#include "base/net/turn/clock.h"
#include "base/net/turn/quiet_thread.h"
#include "base/text/json.h"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::net {
namespace {

// A pipe that nobody reads is refused, instead of waited for.
int open_log(const std::string& path, LogFile::Form form) {
  const mode_t mode = form == LogFile::Form::log ? 0644 : 0640;
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, mode);
}

std::string line_of(LogLevel level, std::string_view text, LogFile::Form form) {
  std::string line = form == LogFile::Form::log ? log_line(getpid(), read_wall_clock(), level, text)
                                                : std::string(text) + '\n';
  constexpr std::string_view kCut = " ...\n";
  if (line.size() > LogFile::kLineBytesMax) {
    line.replace(LogFile::kLineBytesMax - kCut.size(), std::string::npos, kCut);
  }
  return line;
}

// A line of the file's own.
std::string own_line(std::string_view text, LogFile::Form form) {
  if (form != LogFile::Form::json) return line_of(LogLevel::warning, text, form);
  return line_of(LogLevel::warning, JsonObject{{"event", "file"}, {"text", text}}.text(), form);
}

// A descriptor that another process made non-blocking is waited for here as any other.
ssize_t write_some(int fd, std::string_view bytes) {
  while (true) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count >= 0) return count;
    if (errno == EAGAIN) {
      pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return count;
    }
  }
}

std::uint64_t count_of_lines(std::string_view lines) {
  return static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
}

}  // namespace

struct LogFile::Shared {
  std::mutex mutex;  // over all but the descriptor
  std::condition_variable work;
  std::condition_variable written;
  std::string waiting;
  std::uint64_t left_out = 0;  // since the lines that wait
  std::uint64_t lost = 0;      // of all that came
  bool is_losing = false;      // and has said so
  std::optional<std::string> open_anew;
  bool is_writing = false;
  bool ends = false;

  // As they are from the start on.
  std::string name;
  Form form = Form::log;
  std::shared_ptr<Shared> losses_in;  // nullptr: nobody is told

  // The thread's own.
  int fd = -1;
  bool owns_fd = false;
  bool is_cut = false;       // the last line has no end
  std::uint64_t untold = 0;  // lines that were lost, and of which the log says nothing yet

  bool is_done() const { return waiting.empty() && !open_anew && !is_writing; }
  void put(const std::string& line);
  void tell_loss(std::string_view why);
  void tell_other(std::string_view text);
  void reopen(const std::string& path);
  void write(std::string_view lines, std::uint64_t left_out);
  std::uint64_t write_lines(std::string_view lines);
  void tell_untold();
};

Result<LogFile> LogFile::open(const std::string& path, Form form) {
  if (path.empty()) return of_descriptor(STDOUT_FILENO);
  const int fd = open_log(path, form);
  if (fd < 0) return Failure{fmt::format("cannot open the log file {}: {}", path, strerror(errno))};
  return start(fd, true, path, form);
}

Result<LogFile> LogFile::of_descriptor(int fd) {
  return start(fd, false, "", Form::log);
}

Result<LogFile> LogFile::start(int fd, bool owns_fd, const std::string& path, Form form) {
  auto shared = std::make_shared<Shared>();
  shared->fd = fd;
  shared->owns_fd = owns_fd;
  shared->form = form;
  shared->name = path.empty() ? "the log" : path;
  Result<std::thread> thread = start_quiet_thread([shared] { write_all(*shared); });
  if (!thread) return Failure{fmt::format("no thread for the log: {}", thread.error().text)};
  return LogFile(std::move(shared), std::move(thread).value(), path, form);
}

LogFile::LogFile(std::shared_ptr<Shared> shared, std::thread thread, std::string path, Form form)
    : shared_(std::move(shared)), thread_(std::move(thread)), path_(std::move(path)), form_(form) {}

LogFile::~LogFile() {
  if (shared_ == nullptr) return;  // moved from
  const bool is_done = drain();
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->ends = true;
  }
  shared_->work.notify_one();
  if (is_done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LogFile::log(LogLevel level, std::string_view text) {
  if (level_ != nullptr && level < *level_) return;
  shared_->put(line_of(level, text.substr(0, kLineBytesMax), form_));
}

std::uint64_t LogFile::lines_lost() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->lost;
}

void LogFile::tell_losses_in(const LogFile& other) {
  shared_->losses_in = other.shared_;
}

void LogFile::reopen() {
  if (path_.empty()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->open_anew = path_;
  }
  shared_->work.notify_one();
}

bool LogFile::drain() const {
  std::unique_lock lock(shared_->mutex);
  return shared_->written.wait_for(lock, kPatience, [this] { return shared_->is_done(); });
}

// Opens before it closes: if there is no new file, the old one goes on.
void LogFile::Shared::reopen(const std::string& path) {
  const int fresh = open_log(path, form);
  if (fresh < 0) {
    const std::string text =
        fmt::format("cannot open the log file {} anew: {}", path, strerror(errno));
    write_lines(own_line(text, form));
    tell_other(text);
    return;
  }
  if (owns_fd) close(fd);
  fd = fresh;
  owns_fd = true;
  is_cut = is_cut && lseek(fd, 0, SEEK_END) > 0;  // it may be the same file
}

void LogFile::Shared::put(const std::string& line) {
  bool begins_to_lose = false;
  {
    const std::lock_guard lock(mutex);
    if (waiting.size() + line.size() <= kQueueBytesMax) {
      waiting += line;
    } else {
      ++left_out;
      ++lost;
      begins_to_lose = !std::exchange(is_losing, true);
    }
  }
  begins_to_lose ? tell_loss("it takes them too slowly") : work.notify_one();
}

void LogFile::Shared::tell_loss(std::string_view why) {
  tell_other(fmt::format("{} loses lines, and counts them: {}", name, why));
}

void LogFile::Shared::tell_other(std::string_view text) {
  if (losses_in == nullptr) return;
  losses_in->put(line_of(LogLevel::warning, text, losses_in->form));
}

// Line by line, so that lines of several processes in one log do not mix. Returns how many lines
// were lost: a log that cannot be written must not stop a lock server.
std::uint64_t LogFile::Shared::write_lines(std::string_view lines) {
  if (is_cut && write_some(fd, "\n") < 0) return count_of_lines(lines);
  is_cut = false;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n') + 1);
    for (bool is_begun = false; !line.empty(); is_begun = true) {
      const ssize_t count = write_some(fd, line);
      if (count < 0) {
        is_cut = is_begun;
        return count_of_lines(lines);
      }
      line.remove_prefix(static_cast<std::size_t>(count));
      lines.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  return 0;
}

void LogFile::Shared::tell_untold() {
  if (untold == 0) return;
  const std::string text = fmt::format("lines that the log could not take: {}", untold);
  if (write_lines(own_line(text, form)) == 0) untold = 0;
}

// What was lost before is told before the lines. Lines are left out only behind others that wait,
// so their count goes out behind those.
void LogFile::Shared::write(std::string_view lines, std::uint64_t left_out_behind) {
  tell_untold();
  const std::uint64_t failed = write_lines(lines);
  const int error = errno;
  untold += failed + left_out_behind;
  if (failed == 0) tell_untold();
  bool begins_to_lose = false;
  {
    const std::lock_guard lock(mutex);
    lost += failed;
    if (failed > 0) {
      begins_to_lose = !std::exchange(is_losing, true);
    } else if (left_out == 0) {
      is_losing = false;
    }
  }
  if (begins_to_lose) tell_loss(strerror(error));
}

// The thread.
void LogFile::write_all(Shared& shared) {
  std::unique_lock lock(shared.mutex);
  while (true) {
    shared.work.wait(lock,
                     [&] { return shared.ends || shared.open_anew || !shared.waiting.empty(); });
    if (shared.ends) break;  // drained, or given up
    const std::string lines = std::exchange(shared.waiting, {});
    const std::uint64_t left_out = std::exchange(shared.left_out, 0);
    const auto path = std::exchange(shared.open_anew, std::nullopt);
    shared.is_writing = true;
    lock.unlock();
    if (path) shared.reopen(*path);
    if (!lines.empty()) shared.write(lines, left_out);
    lock.lock();
    shared.is_writing = false;
    shared.written.notify_all();
  }
  if (shared.owns_fd) close(shared.fd);
}

}  // namespace redlock::net
