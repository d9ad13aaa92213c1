// Which words of a request nobody but its client may see: passwords. MONITOR and SLOWLOG show
// kRedacted in their place, as Redis does.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/request.h"

#include <cstddef>
#include <string_view>

namespace redlock::server {

inline constexpr std::string_view kRedacted = "(redacted)";

// The word as others may see it.
std::string_view shown_word(const protocol::CommandSpec& spec, protocol::Request words,
                            std::size_t number);

}  // namespace redlock::server
