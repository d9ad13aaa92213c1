// Bytes to replies: what a client of a node reads. RESP2 and RESP3.
//
// Incremental by trying again: parse() looks at all bytes received and not yet consumed; when the
// reply in them is incomplete it says so and keeps nothing. What nodes answer fits one read, so
// looking twice is rare.
#pragma once

#include "protocol/reply.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::protocol {

struct ParsedReply {
  enum class State { complete, incomplete, broken };

  State state;
  std::size_t consumed = 0;  // bytes of `complete`
  Reply reply;               // of `complete`; owns its text
  std::string problem;       // of `broken`: what was wrong, for people
};

// Attributes (RESP3 '|') are skipped. Streamed types are refused: no server sends them.
ParsedReply parse_reply(std::string_view bytes);

}  // namespace redlock::protocol
