// Why a key cannot be made, in words that every command which makes keys shares. They are a front
// door's, too, so they speak of no node.
#pragma once

#include "protocol/resp/reply.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::server {

inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoMemory = "OOM no memory for another lock";

// what: "key", "channel".
protocol::Reply key_too_long(std::string_view key, std::string_view what = "key");
// what: "value", "hash", "message".
protocol::Reply value_too_large(std::string_view what, std::size_t bytes, std::uint64_t limit);

// Its user has as many as he may have (max-locks).
std::string too_many_locks_text(std::uint64_t most);

// Why a key is not left without a deadline where TTLs are required (rule L2). `advice` is what to
// do instead.
protocol::Reply needs_ttl(std::string_view advice);
// The key in such an advice, in quotes where it would not stand as one word; "key" where it is too
// long to be read there, or no text: a client could not read the reply.
std::string key_in_text(std::string_view key);

}  // namespace redlock::server
