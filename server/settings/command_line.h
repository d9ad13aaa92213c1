// What the command line of redlock-node asks for.
//
//   redlock-node [FILE] [--name value …] [-]
//
// A flag is a line of configuration: `--bind 127.0.0.1 ::1` is `bind 127.0.0.1 ::1`, with all the
// words up to the next flag. The file comes first, then the environment (REDLOCK_NODE_PORT=7001),
// then standard input (`-`), then the flags; the last word on a setting wins. As with Redis the
// first word after a flag is its value even when it starts with "--" (a password may), and "--port
// 7001" may be one argument.
//
// Pure: main hands in the environment and how to read a file and standard input.
#pragma once

#include "server/settings/configuration.h"
#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

struct NodeCommandLine {
  enum class Deed {
    run,
    bootstrap,     // make the ledger of a node of a new group and exit (rule R1)
    show_version,  // nothing was read: settings are the defaults
    show_help,     // likewise
  };

  Deed deed = Deed::run;
  std::uint64_t bootstrap_floor = 0;  // no token of the group was larger; 0: it never gave one
  std::string config_file;            // empty: none
  Configuration configuration;
};

struct ConfigurationInput {
  ReadFile read_file;
  std::function<Result<std::string>()> read_standard_input;
  std::vector<std::string> environment = {};              // NAME=VALUE, as the system has them
  std::function<bool(const std::string&)> has_file = {};  // empty: there is none but by its name
};

// arguments: without the program's name. A failure is a text for standard error; exit 1 with it.
Result<NodeCommandLine> read_command_line(std::span<const std::string> arguments,
                                          const ConfigurationInput& input);

// What --help prints: one screen.
std::string_view help_text();

}  // namespace redlock::server
