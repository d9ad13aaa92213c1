// What one node answered to one request, or why it did not: the vocabulary between the links, the
// state machines and the error lists that people read.
#pragma once

#include "base/time.h"
#include "protocol/reply.h"
#include <redlock/answer.h>

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::coordinator {

using NodeIndex = std::uint32_t;  // the node's place in the configuration, from 0

// Far more than anyone runs; it bounds the sets below.
inline constexpr std::size_t kNodesMax = 64;
using NodeSet = std::bitset<kNodesMax>;

enum class RequestKind : std::uint8_t {
  set,      // SET name value NX PX ttl
  extend,   // the extension script
  release,  // the release script
  get,      // GET name
  pttl,     // PTTL name
  info,     // INFO
};

struct Answer {
  AnswerKind kind = AnswerKind::none;
  bool never_sent = false;  // the request did not leave this process: there is nothing to undo
  Duration took = 0ns;      // from the start of the question; filled in by whoever counts
  std::string text = {};    // for people: the node's own words, or the system's

  bool is_vote() const { return kind == AnswerKind::yes || kind == AnswerKind::no; }
};

// What a reply to a request of this kind means.
Answer classify(RequestKind kind, const protocol::Reply& reply);

// A sentence for the error list: "held by another", "recovering after a restart, …", "no answer".
std::string answer_text(const Answer& answer);

}  // namespace redlock::coordinator
