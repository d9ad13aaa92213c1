#include "server/grants/refusals.h"

#include "base/text/printable.h"
#include "base/text/quoted_words.h"
#include "server/locks/lock.h"

#include <fmt/format.h>

namespace redlock::server {

using protocol::Reply;

Reply key_too_long(std::string_view key, std::string_view what) {
  return Reply::error(fmt::format("ERR a {} of {} bytes is too long: at most {} are taken", what,
                                  key.size(), kKeyBytesMax));
}

Reply value_too_large(std::string_view what, std::size_t bytes, std::uint64_t limit) {
  return Reply::error(
      fmt::format("ERR a {} of {} bytes is too large: value-size-limit is {}", what, bytes, limit));
}

std::string too_many_locks_text(std::uint64_t most) {
  return fmt::format("NOPERM this user has as many locks as it may have at a time (max-locks {})",
                     most);
}

Reply needs_ttl(std::string_view advice) {
  return Reply::error(fmt::format("ERR a lock needs a TTL: {} (require-ttl is yes)", advice));
}

std::string key_in_text(std::string_view key) {
  constexpr std::size_t kReadable = 64;
  if (key.size() > kReadable || !is_printable(key)) return "key";
  const bool is_one_word = !key.empty() && key.find_first_of(" '\"\\") == std::string_view::npos;
  return is_one_word ? std::string(key) : quoted_word(key);
}

}  // namespace redlock::server
