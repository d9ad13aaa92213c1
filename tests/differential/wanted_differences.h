// Where a node is meant to answer otherwise than Redis 7.0, and why: the whole list.
//
// docs/differences.md is made from it (differences_document.h), and each example is played to both
// (redlock-differential --wanted): one that does not differ any more is told.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <span>
#include <string>
#include <string_view>

namespace redlock::differential {

inline constexpr std::string_view kTooLong = "…";

struct WantedDifference {
  std::string_view subject;
  std::string_view example;  // as in a transcript; several requests are parted by "; "
  std::string_view node;     // what the last of them answers; kTooLong: not told
  std::string_view redis;
  std::string_view why;
  // Whether these two replies to this request differ in this way alone.
  bool (*covers)(protocol::Request, const protocol::Reply& node, const protocol::Reply& redis);
};

std::span<const WantedDifference> wanted_differences();

// nullptr: they should not differ.
const WantedDifference* wanted_difference(protocol::Request request, const protocol::Reply& node,
                                          const protocol::Reply& redis);

}  // namespace redlock::differential
