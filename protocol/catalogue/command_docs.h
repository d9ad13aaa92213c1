// What COMMAND tells of a table of commands, in the shapes of Redis 7.2, and what CONTAINER HELP
// prints; redis-cli makes its hints and its `help` from these.
//
// All of it is made when asked for, from the specs alone, so there is nothing to keep in step.
// Every text is either a view of the specs' literals or owned by the reply.
//
// Names are taken in any case; a subcommand is "client|list". The caller has checked the count of
// words and passes those behind "COMMAND INFO" and the like.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <span>
#include <string_view>
#include <vector>

namespace redlock::protocol {

// Null when there is no such command.
const CommandSpec* find_command(CommandSpecs specs, std::string_view name);

// COMMAND COUNT: commands without their subcommands.
Reply command_count(CommandSpecs specs);
// COMMAND LIST [FILTERBY <MODULE name|ACLCAT category|PATTERN pattern>]: names, subcommands too.
Reply command_list(CommandSpecs specs, Request filter);
// Why COMMAND INFO or DOCS is not answered: a name may be asked for twice, not 200,000 times.
Reply more_names_than_commands(Request names, CommandSpecs specs);
// COMMAND and COMMAND INFO [name ...]: null for what is unknown; no name: all.
Reply command_info(CommandSpecs specs, Request names);
// COMMAND DOCS [name ...]: a map that leaves out what is unknown; no name: all.
Reply command_docs(CommandSpecs specs, Request names);
// COMMAND GETKEYS command [arg ...]
Reply command_getkeys(CommandSpecs specs, Request command);
// "CLIENT HELP": one line of what can be written and one of what it does for each subcommand.
Reply container_help(CommandSpecs specs, std::string_view container);

// The ACL categories a command falls into by Redis's rules, without '@', in Redis's order. Those of
// a container are its subcommands' matter: it is "slow" and no more.
std::vector<std::string_view> acl_categories(CommandSpecs specs, const CommandSpec& spec);

// Where a command names its keys by a count, as EVAL does: the position of the word that holds the
// count ("numkeys" in the syntax, the command's name being word 0); 0 for all others.
int key_count_position(const CommandSpec& spec);

}  // namespace redlock::protocol
