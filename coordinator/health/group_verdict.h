// What the nodes of a group come to together, as `redlock status` tells it: a verdict, and what is
// not as it should be. Decided from what each node tells of itself, without a clock or a socket.
//
// Whoever runs a group asks three things: are locks given, how many nodes may fail before they are
// not, and what is to be looked after. A lock is given with a fencing token unless its holder asks
// for none, so a node counts for both: it must grant, and be fenced (rules F3, F4, Q1).
#pragma once

#include "coordinator/health/counter_report.h"
#include <redlock/client.h>

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct GroupVerdict {
  enum class Level : std::uint8_t {
    well,
    degraded,  // locks are given, but a node is down, or differs, or none of a quorum gives tokens
    down,      // no quorum grants fenced locks
    denied,    // a quorum wants another password
    wrong_list,  // the nodes that were named are not those of their group
  };
  Level level = Level::down;
  std::size_t nodes = 0;
  std::size_t granting = 0;  // would grant a lock now
  std::size_t fenced = 0;    // and give it a token that counts
  std::size_t may_fail = 0;  // so many of them, before no locks are given
  bool gives_locks = false;
  bool gives_tokens = false;
  // Other members than these are better heard: a line each. Without line ends.
  std::vector<std::string> notes = {};
  std::string text = {};  // one sentence
};

inline bool answers(const NodeState& node) {
  return node.answer.kind == AnswerKind::yes;
}

// takes_unsafe: nodes count whose settings are not safe (rule G6).
GroupVerdict judge_group(const std::vector<NodeState>& states, bool takes_unsafe);

// Whether the list that was named is not the group's, which refuses it.
bool is_wrong_list(const std::vector<NodeState>& states);

// Its epoch and members, or why it has no roster.
std::string roster_note(const std::vector<NodeState>& states);

// How many wait for one lock, and for how long already, as the nodes tell it; empty: nobody does.
std::string lines_note(const std::vector<NodeState>& states);

}  // namespace redlock::coordinator
