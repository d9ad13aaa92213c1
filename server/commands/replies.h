// Replies that the LOCK.* families have in common.
#pragma once

#include "protocol/resp/reply.h"

#include <cstdint>
#include <utility>

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

}  // namespace redlock::server
