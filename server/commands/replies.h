// Words and replies that the LOCK.* families have in common.
#pragma once

#include "base/text/number.h"
#include "base/token.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/reply.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {

inline protocol::Reply number_reply(std::uint64_t number) {
  return protocol::Reply::integer(static_cast<std::int64_t>(number));
}

template <class... Replies>
protocol::Reply list(Replies... items) {
  protocol::Reply reply = protocol::Reply::array();
  (reply.add(std::move(items)), ...);
  return reply;
}

inline protocol::Refusal read_token(std::string_view word, std::uint64_t least, Token& token) {
  const auto number = parse_int64(word);
  if (!number || *number < static_cast<std::int64_t>(least) ||
      *number > static_cast<std::int64_t>(kTokenMax)) {
    return protocol::Reply::error(
        fmt::format("ERR a token is a number from {} to {}", least, kTokenMax));
  }
  token = static_cast<Token>(*number);
  return std::nullopt;
}

}  // namespace redlock::server
