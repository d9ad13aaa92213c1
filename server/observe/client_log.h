// ClientLog: the lines of a node's log that a client can bring about,
// before it says a password even.
//
// A log is for its reader, and a disk is small: of each kind so many lines a second are logged, and
// at the end of the second how many more there were (base/line_limit.h).
//
// Pure. Thread safety: none.
#pragma once

#include "base/line_limit.h"
#include "base/log.h"

#include <array>
#include <optional>
#include <string_view>

namespace redlock::server {

class ClientLog {
 public:
  enum class Kind {
    http,            // speaks HTTP
    password,        // gave a wrong one
    newcomer,        // gave none in time
    tls,             // does not get past the handshake
    slow_reader,     // leaves too much unread
    large_reply,     // asks for too much at once
    evicted,         // takes most (maxmemory-clients)
    script_overrun,  // its script runs for too long
    ledger,          // cannot be written, so locks are refused
    events_dropped,  // keyspace events
    setting,         // CONFIG SET of what has no effect
    admission,       // to fencing tokens, of a node that lost its ledger
    script_debug,  // redis.log: a level of its own each, as what nobody sees must not hide the rest
    script_verbose,
    script_notice,
    script_warning,
    kinds,
  };
  static constexpr std::uint64_t kLinesASecond = 1;
  // Where somebody looks into what he does himself, a few lines belong together.
  static constexpr std::uint64_t kLinesASecondAsked = 20;

  explicit ClientLog(LogSink& sink) : sink_(sink) {}

  void log(Kind kind, LogLevel level, std::string_view text, Instant now);
  // redis.log of a script.
  void log_of_script(LogLevel level, std::string_view text, Instant now);

  // The numbers of lines that were left out, where they are due.
  void tell_left_out(Instant now);
  std::optional<Instant> next_work() const;

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::kinds);
  struct Entry {
    LineLimit limit{kLinesASecondAsked};
    LogLevel level{};  // of the last line
  };
  static std::array<Entry, kKinds> entries();
  void tell_left_out(Kind kind, Instant now);
  Entry& of(Kind kind) { return entries_[static_cast<std::size_t>(kind)]; }

  LogSink& sink_;
  std::array<Entry, kKinds> entries_ = entries();
};

}  // namespace redlock::server
