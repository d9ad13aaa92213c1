// Why a key cannot be made, in words that every command which makes keys shares.
#pragma once

#include "protocol/reply.h"
#include "server/lock.h"

#include <string_view>

#include <fmt/format.h>

namespace redlock::server {

inline constexpr std::string_view kOutOfMemory =
    "OOM command not allowed when used memory > 'maxmemory'.";
inline constexpr std::string_view kNoMemory = "OOM no memory for another lock";

inline protocol::Reply key_too_long(std::string_view key) {
  return protocol::Reply::error(fmt::format(
      "ERR a key of {} bytes is longer than this node takes ({})", key.size(), kKeyBytesMax));
}

}  // namespace redlock::server
