#include "protocol/errors.h"

#include <cctype>
#include <string>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

constexpr std::size_t kEchoedBytesMax = 128;  // of what the client sent, as Redis echoes it

}  // namespace

Reply unknown_command(Request request) {
  std::string arguments;
  for (const std::string_view word : request.subspan(1)) {
    if (arguments.size() >= kEchoedBytesMax) break;
    arguments += fmt::format("'{}' ", word.substr(0, kEchoedBytesMax - arguments.size()));
  }
  return Reply::error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                                  request[0].substr(0, kEchoedBytesMax), arguments));
}

Reply wrong_arity(std::string_view name) {
  return Reply::error(fmt::format("ERR wrong number of arguments for '{}' command", name));
}

Reply unknown_subcommand(std::string_view container, std::string_view given) {
  std::string upper;
  for (const char c : container) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return Reply::error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                                  given.substr(0, kEchoedBytesMax), upper));
}

}  // namespace redlock::protocol
