#include "lua/scripts/script_words.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace redlock::lua {
namespace {

// Through these a script reaches redis.call and what converts numbers, and by an index in quotes
// the rest of redis and the string library: none of it writes to a table.
constexpr std::array<std::string_view, 20> kHarmless = {
    "ARGV", "KEYS", "and",   "call",  "else",   "elseif", "end",  "false",    "if",       "nil",
    "not",  "or",   "pcall", "redis", "return", "server", "then", "tonumber", "tostring", "true"};

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Behind the string that begins here; npos: it does not end, or has an escape.
std::size_t end_of_string(std::string_view source, std::size_t at) {
  const std::size_t end = source.find(source[at], at + 1);
  if (end == std::string_view::npos) return end;
  const bool is_plain = source.substr(at, end - at).find('\\') == std::string_view::npos;
  return is_plain ? end + 1 : std::string_view::npos;
}

}  // namespace

bool cannot_change_tables(std::string_view source) {
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    const char c = rest.front();
    if (is_of_word(c)) {
      const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_word);
      const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
      const bool is_number = c >= '0' && c <= '9';
      if (!is_number && std::find(kHarmless.begin(), kHarmless.end(), word) == kHarmless.end()) {
        return false;
      }
      at += word.size();
    } else if (c == '"' || c == '\'') {
      at = end_of_string(source, at);
      if (at == std::string_view::npos) return false;
    } else if (rest.starts_with("==") || rest.starts_with("~=") || rest.starts_with("<=") ||
               rest.starts_with(">=")) {
      at += 2;
    } else if (c == '=' || rest.starts_with("--") || rest.starts_with("[[") ||
               rest.starts_with("[=")) {  // a quote within a long string would hide what is behind
      return false;
    } else {
      ++at;
    }
  }
  return true;
}

}  // namespace redlock::lua
