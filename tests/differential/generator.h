// Sequences from seeds. Requests are made from the syntax lines of the node's own commands
// (CommandSpec::syntax), so a command that is served is tried; then some are damaged. Around them
// stand what takes several requests: transactions, subscriptions, locks that end, scripts.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/catalogue/command_syntax.h"
#include "tests/differential/step.h"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace redlock::differential {

// A command as the generator sees it.
struct KnownCommand {
  Words name;  // "CLIENT", "LIST"
  std::vector<protocol::SyntaxArgument> arguments;
  unsigned weight = 0;  // how often it is drawn by itself; 0: only where the generator says so
  bool is_in_scripts = false;
};

class Generator {
 public:
  explicit Generator(std::span<const protocol::CommandSpec* const> served);

  // The same seed, the same sequence, as long as the same commands are served.
  Sequence make(std::uint64_t seed, std::size_t steps) const;

  const std::vector<KnownCommand>& commands() const { return commands_; }
  bool serves(std::string_view name) const { return names_.contains(std::string(name)); }

 private:
  std::vector<KnownCommand> commands_;
  std::vector<std::string> tokens_;          // options of all commands
  std::set<std::string> names_;              // lower case, "client|list"
  std::vector<std::string> names_in_rules_;  // of them those that Redis 7.0 has, too
};

// Not compared, and why: a name, or a family by its beginning.
struct NotCompared {
  std::string_view name;
  std::string_view why;
};
std::span<const NotCompared> not_compared();

}  // namespace redlock::differential
