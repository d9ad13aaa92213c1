// What one node answered to one request, or why it did not: the vocabulary between the links, the
// state machines and the error lists that people read. It knows no protocol: coordinator/link/
// reads a reply into an Answer.
#pragma once

#include "base/time.h"
#include "base/token.h"
#include <redlock/answer.h>

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::coordinator {

// What a coordinator says of a node whose votes do not count in its group (rules G1, G4, G5).
inline constexpr std::string_view kLostItsLedger =
    "lost its ledger, and is to be named anew in its group";
inline constexpr std::string_view kIsNoMember = "is no member of the group";
inline constexpr std::string_view kIsOfAnotherGroup = "is a node of another group";
// Whether the text says one of these.
bool tells_of_no_member(std::string_view text);

using NodeIndex = std::uint32_t;  // the node's place in the configuration, from 0

// Far more than anyone runs; it bounds the sets below.
inline constexpr std::size_t kNodesMax = 64;
using NodeSet = std::bitset<kNodesMax>;

// Who votes (rule Q5): a hash of a node's id, as two words are cheaper to compare and to keep than
// two texts. 0: not known.
enum class NodeIdentity : std::uint64_t { unknown = 0 };

struct Answer {
  AnswerKind kind = AnswerKind::none;
  bool never_sent = false;       // the request did not leave this process: there is nothing to undo
  bool is_limit = false;         // error: of this node's, which waiting does not change
  bool is_unknown_form = false;  // error: the node does not know such words
  // other_group: the nodes that are named are not those of a group, so none is asked for its vote.
  bool is_wrong_list = false;
  bool topped_up = false;  // yes to an extension: it did not have the lock, and has it now
  // no to an extension: nothing stands under the name, so it may be topped up (rule D8).
  bool is_lacking = false;
  // yes to an acquisition: the node's proposal; to an extension: what it stores. 0: none.
  Token token = 0;
  NodeIdentity from = NodeIdentity::unknown;  // of a reply: who gave it (rule Q5)
  Duration took = 0ns;    // from the start of the question; filled in by whoever counts
  std::string text = {};  // for people: the node's own words, or the system's

  bool is_vote() const { return kind == AnswerKind::yes || kind == AnswerKind::no; }
};

// A sentence for the error list: "held by another", "recovering after a restart, …", "no answer".
std::string answer_text(const Answer& answer);

}  // namespace redlock::coordinator
