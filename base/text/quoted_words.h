// Splitting a line into words as redis-cli, redis.conf and telnet users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

// kWordBlanks separate words. "…" takes \n \r \t \b \a \\ \" and \xHH, '…' takes \' alone; a
// closing quote must be followed by a blank or the end. nullopt when quotes do not balance.
std::optional<std::vector<std::string>> split_quoted_words(std::string_view line);

// The word in double quotes, as redis-cli and MONITOR print it: whatever is not printable ASCII
// is escaped, so that it reads back as the same bytes.
std::string quoted_word(std::string_view word);

}  // namespace redlock
