// What the protocol layer takes from outside at most. Each limit bounds the memory or the time that
// a peer can cost before it has proved anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace redlock::protocol {

// Redis's PROTO_INLINE_MAX_SIZE: a line without an end, and the header lines of a request.
inline constexpr std::size_t kInlineBytesMax = 64 * 1024;
// Redis's bound on the count of words in a request.
inline constexpr std::int64_t kRedisWordsMax = 1024 * 1024;
// Ours: a command may look at a key for each of its words, and some take microseconds for it, while
// everybody waits.
inline constexpr std::int64_t kWordsMax = 16 * 1024;
// A word: a key, a value, a script. Redis takes 512 MB (proto-max-bulk-len); nothing that has to do
// with locks comes near 16.
inline constexpr std::int64_t kBulkBytesMax = 16 * 1024 * 1024;
// A request as a whole, while it is incomplete: what one connection can make the node keep.
inline constexpr std::size_t kRequestBytesMax = 64 * 1024 * 1024;
// Redis's bounds for a client that has not yet given the password.
inline constexpr std::int64_t kWordsMaxUnauthenticated = 10;
inline constexpr std::int64_t kBulkBytesMaxUnauthenticated = 16 * 1024;
// A client's name, and the name and version of its library: CLIENT LIST tells them of all clients.
inline constexpr std::size_t kClientWordBytesMax = 256;
// What one reply may take as a value and as bytes (Reply::add): as much as a client may leave
// unread, KEYS of a million locks. Of a larger one nothing is kept, and its client is closed: a
// request of a few KB could ask for any amount.
inline constexpr std::size_t kReplyMemoryMax = 64 * 1024 * 1024;
// What one client may have unsent before its next request is executed: it reads first. A client
// that takes its answers as they come never notices, nor does one with a pipeline of 200,000 SETs.
inline constexpr std::size_t kUnsentBytesMax = 1024 * 1024;
// Nesting of a reply that is read: deeper ones come from no server we know.
inline constexpr int kReplyDepthMax = 32;
// Elements and bytes of one reply that is read.
inline constexpr std::int64_t kReplyElementsMax = 1024 * 1024;
inline constexpr std::size_t kReplyBytesMax = 64 * 1024 * 1024;

}  // namespace redlock::protocol
