// Error texts that more than one command says, to the letter as Redis says them:
// clients match them.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <string>
#include <string_view>

namespace redlock::protocol {

inline constexpr std::string_view kSyntaxError = "ERR syntax error";
inline constexpr std::string_view kNotAnInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view kAuthenticationRequired = "NOAUTH Authentication required.";
inline constexpr std::string_view kWrongPass =
    "WRONGPASS invalid username-password pair or user is disabled.";
inline constexpr std::string_view kMaxClients = "ERR max number of clients reached";

// A word of the client's as an error repeats it, just as Redis prints it: up to its first NUL and
// no further than bytes_max, with blanks for line ends.
std::string echoed(std::string_view word, std::size_t bytes_max = std::string_view::npos);

// A command's name as texts show it.
std::string upper_case(std::string_view text);

// "ERR unknown command 'x', with args beginning with: 'a' 'b' "
Reply unknown_command(Request request);
// "ERR wrong number of arguments for 'get' command"; name as in CommandSpec.
Reply wrong_arity(std::string_view name);
// "ERR unknown subcommand 'x'. Try CLIENT HELP."
Reply unknown_subcommand(std::string_view container, std::string_view given);
// "ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
Reply wrong_subcommand_use(std::string_view container, std::string_view given);

}  // namespace redlock::protocol
