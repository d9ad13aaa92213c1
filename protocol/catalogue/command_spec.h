// What is known of a command before it runs: how many words it takes, who may call it when, and how
// to explain it. Node and front door each have a table of these beside their functions; COMMAND,
// COMMAND DOCS and redis-cli's hints are made from it (protocol/catalogue/command_docs.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace redlock::protocol {

enum CommandFlag : std::uint32_t {
  kWrite = 1u << 0,     // may change keys
  kReadOnly = 1u << 1,  // looks at keys
  kDenyOom = 1u << 2,   // may need memory: refused above maxmemory
  kAdmin = 1u << 3,     // for operators
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,  // not from a script
  kLoading = 1u << 6,   // needs no lock: Redis answers it while loading
  kStale = 1u << 7,
  kFast = 1u << 8,        // constant or logarithmic time
  kNoAuth = 1u << 9,      // before the password was given
  kAllowBusy = 1u << 10,  // while a script has overrun its time
  kNoMulti = 1u << 11,
  kSkipMonitor = 1u << 12,
  kSkipSlowlog = 1u << 13,
  kMovableKeys = 1u << 14,
  kBlocking = 1u << 15,  // may answer later: its connection waits, and no other
  // From here on not told by COMMAND.
  kMayReplicate = 1u << 16,  // no write itself, but what it runs or tells may be: refused to
                             // read-only scripts, and waits out a pause of writes
  kNotQueued = 1u << 17,     // executed at once also between MULTI and EXEC
  kTimed = 1u << 18,         // takes longer the more it is given or there is: SLOWLOG sees it
};

// Names, groups and texts are literals: views that live for ever.
struct CommandSpec {
  std::string_view name;  // lower case; a subcommand as "client|list"
  int arity;              // Redis's: the count of words with the name (for a subcommand with both
                          // names), negative: at least
  std::uint32_t flags;    // CommandFlag
  int first_key;          // 0: takes no key; positions of words, as COMMAND tells them
  int last_key;
  int key_step;
  std::string_view group;  // "string", "generic", "scripting", "connection", "server"
  std::string_view since;  // the Redis version that brought it
  std::string_view summary;
  // The arguments as `redis-cli` hints them, e.g.
  // "key value [NX|XX] [GET] [EX seconds|PX milliseconds|KEEPTTL]" or "key [key ...]".
  std::string_view syntax;

  bool has(CommandFlag flag) const { return (flags & flag) != 0; }
  bool takes(std::size_t words) const {
    const auto count = static_cast<int>(words);
    return arity >= 0 ? count == arity : count >= -arity;
  }
};

// A whole table: commands and subcommands, in the order in which they are to be told. Pointers, as
// a table holds its specs beside the functions.
using CommandSpecs = std::span<const CommandSpec* const>;

}  // namespace redlock::protocol
