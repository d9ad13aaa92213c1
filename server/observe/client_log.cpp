#include "server/observe/client_log.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

std::string_view text_of(ClientLog::Kind kind) {
  switch (kind) {
    case ClientLog::Kind::http:
      return "of clients that speak HTTP";
    case ClientLog::Kind::password:
      return "of wrong passwords";
    case ClientLog::Kind::newcomer:
      return "of clients that gave no password";
    case ClientLog::Kind::slow_reader:
      return "of clients that leave too much unread";
    case ClientLog::Kind::large_reply:
      return "of clients that ask for too much at once";
    case ClientLog::Kind::evicted:
      return "of clients that took most";
    case ClientLog::Kind::script_overrun:
      return "of scripts that run too long";
    case ClientLog::Kind::ledger:
      return "of a ledger that cannot be written";
    case ClientLog::Kind::events_dropped:
      return "of keyspace events";
    case ClientLog::Kind::setting:
      return "of CONFIG SET";
    default:
      return "of scripts";
  }
}

}  // namespace

std::array<ClientLog::Entry, ClientLog::kKinds> ClientLog::entries() {
  std::array<Entry, kKinds> entries;
  for (const Kind kind :
       {Kind::http, Kind::password, Kind::newcomer, Kind::slow_reader, Kind::large_reply,
        Kind::evicted, Kind::script_overrun, Kind::ledger, Kind::events_dropped}) {
    entries[static_cast<std::size_t>(kind)].limit = LineLimit(kLinesASecond);
  }
  return entries;
}

void ClientLog::log(Kind kind, LogLevel level, std::string_view text, Instant now) {
  tell_left_out(kind, now);
  Entry& entry = of(kind);
  entry.level = level;
  if (entry.limit.lets_pass(now)) sink_.log(level, text);
}

void ClientLog::log_of_script(LogLevel level, std::string_view text, Instant now) {
  const auto first = static_cast<int>(Kind::script_debug);
  log(static_cast<Kind>(first + static_cast<int>(level)), level, text, now);
}

void ClientLog::tell_left_out(Instant now) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) tell_left_out(static_cast<Kind>(kind), now);
}

void ClientLog::tell_left_out(Kind kind, Instant now) {
  Entry& entry = of(kind);
  const auto when = entry.limit.tells_at();
  if (!when || now < *when) return;
  sink_.log(entry.level, fmt::format("left out of the log: {} {}", entry.limit.take_left_out(now),
                                     text_of(kind)));
}

std::optional<Instant> ClientLog::next_work() const {
  std::optional<Instant> next;
  for (const Entry& entry : entries_) next = earlier(next, entry.limit.tells_at());
  return next;
}

}  // namespace redlock::server
