// LogFile: where a program's log lines go, without ever holding up whoever logs.
//
//   auto log = LogFile::open("");      // standard output; or the path of a file
//   log.value().log(LogLevel::notice, "…");
//   log.value().reopen();              // SIGHUP: somebody has renamed the file
//
// A log can be a pipe that nobody reads, a terminal after Ctrl-S, a collector's socket, a file on a
// disk that hangs; and a loop that serves locks must not wait for any of them. No flag helps with
// all: O_NONBLOCK means nothing to a file, and on a descriptor that was inherited it would change
// it for every process that has it. So a thread of its own does what may block: it writes, and
// opens the file anew. log() formats the line and puts it into a queue, under a mutex that is never
// held across a system call. What the queue has no room for, or the disk, is lost and counted, and
// the count stands in the log as soon as that takes lines again.
//
// The end waits for the last lines, a bounded time: see drain().
//
// Thread safety: log(), reopen() and drain() from anywhere.
#pragma once

#include "base/log.h"
#include "base/time.h"
#include <redlock/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace redlock::net {

class LogFile final : public LogSink {
 public:
  // Some thousand lines, while a disk is slow.
  static constexpr std::size_t kQueueBytesMax = 256 * 1024;
  // What is longer is cut: so much goes into a pipe at once, unmixed with other processes' lines.
  static constexpr std::size_t kLineBytesMax = 4096;
  // How long an end waits for whoever should take the last lines.
  static constexpr Duration kPatience = 1s;

  // log: as log_line() shapes it. The others are for files of lines that whoever logs has shaped,
  // and which others than their owner's group are not to read; a line that is the file's own, such
  // as how many it could not take, is a text like theirs, or a JSON object.
  enum class Form { log, text, json };

  // path "": standard output.
  static Result<LogFile> open(const std::string& path, Form form = Form::log);
  // The descriptor stays the caller's.
  static Result<LogFile> of_descriptor(int fd);
  LogFile(LogFile&& other) noexcept = default;
  LogFile& operator=(LogFile&&) = delete;
  // Drains. A thread that is stuck in a write then is left to the end of the process.
  ~LogFile() override;

  // Is looked at for each line, so CONFIG SET takes effect.
  void set_level(const LogLevel& level) { level_ = &level; }
  void log(LogLevel level, std::string_view text) override;
  std::uint64_t lines_lost() const override;
  // The other log has a line, once, when this one begins to lose lines: why it does; and one each
  // time that this one cannot be opened anew. Before the first line.
  void tell_losses_in(const LogFile& other);

  // Opens the file by its name again, before the next line. If that fails the old one stays, and is
  // told why. Nothing for a descriptor.
  void reopen();

  // Waits until what was logged has been written, at most kPatience; whether it has. For an end
  // that skips the destructor.
  bool drain() const;

 private:
  struct Shared;  // with the thread, which may outlive this object

  LogFile(std::shared_ptr<Shared> shared, std::thread thread, std::string path, Form form);
  static Result<LogFile> start(int fd, bool owns_fd, const std::string& path, Form form);
  static void write_all(Shared& shared);

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
  std::string path_;
  Form form_ = Form::log;
  const LogLevel* level_ = nullptr;
};

}  // namespace redlock::net
