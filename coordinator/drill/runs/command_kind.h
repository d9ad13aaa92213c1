// What a command under a lock is like, as far as it matters to whoever must end it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace redlock::drill {

enum class CommandKind {
  plain,     // one process, which SIGTERM ends
  deaf,      // one process, which ignores SIGTERM, SIGINT and SIGHUP
  sessions,  // works with two children, each in a session of its own, all deaf
  forking,   // deaf, and another process every few milliseconds: each goes once it has forked
  daemon,    // leaves a deaf daemon, which works on when it has ended
  blocked,   // is stuck in a write to its standard output, while a deaf child of it works
};

inline constexpr std::array kCommandKinds = {CommandKind::plain,    CommandKind::deaf,
                                             CommandKind::sessions, CommandKind::forking,
                                             CommandKind::daemon,   CommandKind::blocked};

// Whether it goes on working after its own process has ended: it needs --wait-all.
constexpr bool works_on(CommandKind kind) {
  return kind == CommandKind::forking || kind == CommandKind::daemon;
}

std::string_view name_of(CommandKind kind);
std::optional<CommandKind> command_kind_of(std::string_view name);

}  // namespace redlock::drill
