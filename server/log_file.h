// Where log lines go: standard output or a file, from a level on.
#pragma once

#include "base/log.h"
#include <redlock/result.h>

#include <string>

namespace redlock::server {

class LogFile final : public LogSink {
 public:
  // path "": standard output. `level` is looked at for each line, so CONFIG SET takes effect.
  static Result<LogFile> open(const std::string& path);
  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&&) = delete;
  ~LogFile() override;

  void set_level(const LogLevel& level) { level_ = &level; }
  void log(LogLevel level, std::string_view text) override;

 private:
  explicit LogFile(int fd) : fd_(fd) {}

  int fd_;
  const LogLevel* level_ = nullptr;
};

}  // namespace redlock::server
