#include "protocol/resp/errors.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

constexpr std::size_t kEchoedBytesMax = 128;  // of what the client sent, as Redis echoes it

}  // namespace

std::string upper_case(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string echoed(std::string_view word, std::size_t bytes_max) {
  std::string text(word.substr(0, std::min(word.find('\0'), bytes_max)));
  for (char& c : text) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return text;
}

Reply unknown_command(Request request) {
  std::string arguments;
  for (const std::string_view word : request.subspan(1)) {
    if (arguments.size() >= kEchoedBytesMax) break;
    arguments += fmt::format("'{}' ", echoed(word, kEchoedBytesMax - arguments.size()));
  }
  return Reply::error(fmt::format("ERR unknown command '{}', with args beginning with: {}",
                                  echoed(request[0], kEchoedBytesMax), arguments));
}

Reply wrong_arity(std::string_view name) {
  return Reply::error(fmt::format("ERR wrong number of arguments for '{}' command", name));
}

Reply unknown_subcommand(std::string_view container, std::string_view given) {
  return Reply::error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                                  echoed(given, kEchoedBytesMax), upper_case(container)));
}

Reply wrong_subcommand_use(std::string_view container, std::string_view given) {
  return Reply::error(
      fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'. Try {} HELP.",
                  echoed(given, kEchoedBytesMax), upper_case(container)));
}

}  // namespace redlock::protocol
