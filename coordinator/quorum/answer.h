// What one node answered to one request, or why it did not: the vocabulary between the links, the
// state machines and the error lists that people read.
#pragma once

#include "base/time.h"
#include "coordinator/link/node_facts.h"
#include "protocol/resp/reply.h"
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

// What is asked of a node: of a redlock-node, and in its place of a plain Redis.
enum class RequestKind : std::uint8_t {
  acquire,      // LOCK.ACQUIRE; SET name value NX PX ttl
  extend,       // LOCK.EXTEND; the extension script, or the top-up script
  release,      // LOCK.RELEASE; the release script
  confirm,      // LOCK.CONFIRM; a plain Redis has no fencing tokens
  wait,         // LOCK.WAIT … PUSH; a plain Redis tells nobody
  get,          // GET
  holder,       // LOCK.HOLDER; the holder script
  info,         // INFO
  status,       // LOCK.STATUS; INFO
  fence_read,   // LOCK.FENCE READ; a plain Redis has no fencing tokens
  fence_admit,  // LOCK.FENCE ADMIT; a plain Redis has no fencing tokens
};

struct Answer {
  AnswerKind kind = AnswerKind::none;
  bool never_sent = false;  // the request did not leave this process: there is nothing to undo
  bool is_limit = false;    // error: of this node's, which waiting does not change
  bool topped_up = false;   // yes to an extension: it did not have the lock, and has it now
  Token token = 0;          // yes to an acquisition: the node's proposal; 0: it gives none
  NodeIdentity from = NodeIdentity::unknown;  // of a reply: who gave it (rule Q5)
  Duration took = 0ns;    // from the start of the question; filled in by whoever counts
  std::string text = {};  // for people: the node's own words, or the system's

  bool is_vote() const { return kind == AnswerKind::yes || kind == AnswerKind::no; }
};

// What a reply to a request of this kind means, in either dialect. Read strictly: what no sound
// node answers (another shape, a number out of its range, a top-up where none was asked for) is an
// error and never a vote. Of a survey's questions (get and those after it) only LOCK.HOLDER has a
// shape to be held to here; the others are answered `yes` by whatever is no error.
Answer classify(RequestKind kind, const protocol::Reply& reply, bool may_top_up = false);

// A sentence for the error list: "held by another", "recovering after a restart, …", "no answer".
std::string answer_text(const Answer& answer);

}  // namespace redlock::coordinator
