// Why a key cannot be made, in words that every command which makes keys shares.
#pragma once

#include "protocol/resp/reply.h"
#include "server/locks/lock.h"

#include <string_view>

#include <fmt/format.h>

namespace redlock::server {

inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoMemory = "OOM no memory for another lock";

// what: "key", "channel".
inline protocol::Reply key_too_long(std::string_view key, std::string_view what = "key") {
  return protocol::Reply::error(fmt::format(
      "ERR a {} of {} bytes is longer than this node takes ({})", what, key.size(), kKeyBytesMax));
}

// what: "value", "hash", "message".
inline protocol::Reply value_too_large(std::string_view what, std::size_t bytes,
                                       std::uint64_t limit) {
  return protocol::Reply::error(
      fmt::format("ERR a {} of {} bytes is larger than this node takes: value-size-limit is {}",
                  what, bytes, limit));
}

}  // namespace redlock::server
