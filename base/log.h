// Log lines: the pure parts speak to a LogSink, the programs decide where it goes.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace redlock {

enum class LogLevel { debug, verbose, notice, warning };  // the names of Redis's loglevel

class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void log(LogLevel level, std::string_view text) = 0;
  // How many lines it could not keep, so far.
  virtual std::uint64_t lines_lost() const { return 0; }
};

// One line in the shape of Redis's log, so that tools that read it keep working:
// "4711:M 20 Nov 2026 20:05:57.123 * text\n"; the sign is . - * # by level. UTC. What of the text
// is not printable is escaped (printable.h): scripts and clients have a say in it.
std::string log_line(int pid, WallTime when, LogLevel level, std::string_view text);

}  // namespace redlock
