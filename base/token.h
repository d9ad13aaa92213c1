// Fencing tokens, and the counters that nodes propose them from (rules F1 to F6).
#pragma once

#include <cstdint>

namespace redlock {

// A fencing token, or what a node proposes as one. 0: none.
using Token = std::uint64_t;

// Tokens stay below 2^53, so that every language's numbers hold them (rule F1).
inline constexpr Token kTokenMax = (Token{1} << 53) - 1;

// Counters that are further apart do not agree. A node lets no single request raise its counter by
// more, so that none uses up the numbers of the node's life (rule F1); and no single counter
// decides for a group (rules F3, F6).
inline constexpr Token kLeapMax = Token{1} << 32;

}  // namespace redlock
