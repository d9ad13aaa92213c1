// Monitors: sessions that are shown every command which is executed (MONITOR).
//
//   +1339518083.107412 [0 127.0.0.1:60866] "keys" "*"
//
// Thread safety: none. Invariant: a session is here while it is in the mode kMonitoring.
#pragma once

#include "base/time.h"
#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/request.h"
#include "protocol/session/session.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace redlock::server {

// Of the words in a line, as they were sent: a lock's value or a script.
inline constexpr std::size_t kMonitorLineBytesMax = 64 * 1024;
// And of all monitors' lines of one command, as nobody is served while they are written.
inline constexpr std::size_t kMonitorLinesBytesMax = 1024 * 1024;

class Monitors {
 public:
  // REQUIRES: the session leaves before it ends.
  void join(protocol::Session& session);
  void leave(protocol::Session& session);
  bool is_empty() const { return sessions_.empty(); }

  // Writes the line to all but `except`, whose own command it is: it gets it behind its reply. A
  // monitor whose user does not see all keys is shown the commands of that user alone: which keys a
  // command is about, as one with a script's arguments, cannot be told from its words.
  void show(std::string_view line, const protocol::User* of, const protocol::Session* except) const;

  // What one line may have of a command's words: the more monitors there are, the less.
  std::size_t line_bytes_max() const {
    return std::min(kMonitorLineBytesMax,
                    kMonitorLinesBytesMax / std::max<std::size_t>(sessions_.size(), 1));
  }

  // A monitor whose unread output is more than this is closed; 0: never. One script may be millions
  // of lines.
  void set_output_bytes_max(std::uint64_t bytes) { output_bytes_max_ = bytes; }

 private:
  std::map<protocol::Session::Id, protocol::Session*> sessions_;
  std::uint64_t output_bytes_max_ = 0;
};

// The line of a command, without the '+'. from: the client's address, or "lua". A socket in the
// file system is told as "unix:PATH". Passwords are left out, and so are the words beyond
// bytes_max, of which only the number is told: one line goes to every monitor.
std::string monitor_line(WallTime when, std::string_view from, const protocol::CommandSpec& spec,
                         protocol::Request words, std::size_t bytes_max);

}  // namespace redlock::server
