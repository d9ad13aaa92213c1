// How commands and subcommands hang together in a table: helpers of what tells of them.
#pragma once

#include "protocol/catalogue/command_spec.h"

#include <algorithm>
#include <string_view>

namespace redlock::protocol {

inline bool is_subcommand(const CommandSpec& spec) {
  return spec.name.find('|') != std::string_view::npos;
}

inline bool is_subcommand_of(const CommandSpec& spec, std::string_view container) {
  return spec.name.size() > container.size() && spec.name.starts_with(container) &&
         spec.name[container.size()] == '|';
}

// A container that does nothing alone, as CLIENT; not COMMAND, which also stands by itself.
inline bool is_mere_container(CommandSpecs specs, const CommandSpec& spec) {
  return !spec.takes(1) && std::any_of(specs.begin(), specs.end(), [&](const CommandSpec* other) {
    return is_subcommand_of(*other, spec.name);
  });
}

}  // namespace redlock::protocol
