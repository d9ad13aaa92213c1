// A request: the words a client sent, command name first. Views into the receive buffer (or a
// script's stack): valid until the call they are passed to returns.
#pragma once

#include <span>
#include <string_view>

namespace redlock::protocol {

using Request = std::span<const std::string_view>;

}  // namespace redlock::protocol
