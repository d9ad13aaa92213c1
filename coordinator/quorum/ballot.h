// One question to all nodes: who answered what, how long it took, and how the vote stands.
//
// The part that acquisition, extension and release have in common. All nodes are asked at the same
// instant (rule Q1), so one deadline serves all: whoever has not answered by then counts as timed
// out. An answer that comes after that changes nothing here; the link has read it in its order.
//
// One vote an address, and one a node (rule Q5): two addresses may come to lead to one node while
// the question is asked.
#pragma once

#include "coordinator/quorum/answer.h"
#include "coordinator/quorum/quorum.h"

#include <optional>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// A node gets at least this long for an answer that it writes to its disk first, with several
// flushes: a floor, a promise, an acceptance.
inline constexpr Duration kStoreTimeMin = 5s;

// What is noted of a node that was waited for in vain.
Answer silence(Duration node_timeout);

// Whether the node has voted already among these answers (rule Q5).
bool has_voted(NodeIdentity node, const std::vector<Answer>& answers);

// What is noted of its second vote.
Answer second_vote();

class Ballot {
 public:
  explicit Ballot(std::size_t nodes) : votes_(nodes), answers_(nodes) {}

  void open(Instant start, Duration node_timeout) { open(start, start, node_timeout); }
  // A second question of an operation that began at `start`: asked at `asked`.
  void open(Instant start, Instant asked, Duration node_timeout);

  // Counts a node's first answer; false when it was counted before.
  // The vote of a node that has voted at another address counts as `broken`.
  bool record(NodeIndex node, Answer&& answer, Instant now);

  // At the deadline: the silent ones count as timed out. False when it is not yet that late.
  bool time_out(Instant now);

  const VoteCount& votes() const { return votes_; }
  const std::vector<Answer>& answers() const { return answers_; }
  // The last that is asked of it.
  std::vector<Answer> take_answers() { return std::move(answers_); }
  bool answered(NodeIndex node) const { return answers_[node].kind != AnswerKind::none; }
  // Not heard, or not in time: what it was asked may still wait, unwritten.
  bool is_silent(NodeIndex node) const {
    return !answered(node) || answers_[node].kind == AnswerKind::timed_out;
  }
  std::size_t nodes() const { return answers_.size(); }
  Instant start() const { return start_; }
  Instant deadline() const { return deadline_; }

 private:
  VoteCount votes_;
  std::vector<Answer> answers_;
  Instant start_;
  Instant deadline_ = kNever;
  Duration node_timeout_ = 0ns;
};

// What a state machine wants done. It appends these to the vector that it is handed; whoever drives
// it carries them out, in order, after each event.
struct Action {
  enum class Kind : std::uint8_t {
    ask,       // send the machine's request to this node
    confirm,   // ask it to take the token that the machine proposes (rule F3)
    withdraw,  // if the request has not been written yet, it must not be any more
    undo,      // withdraw it, or where it was written, send the release behind it (rule Q3)
  };
  Kind kind;
  NodeIndex node;

  friend bool operator==(const Action&, const Action&) = default;
};
using Actions = std::vector<Action>;

void ask_all(std::size_t nodes, Actions& actions);

// Nobody waits so long for a node, and it can be added to any instant.
inline constexpr Duration kNodeTimeoutMax = 1h;

// What every machine needs to know of the group.
struct Terms {
  std::size_t nodes = 0;
  Duration ttl = 0ns;
  Duration node_timeout = 0ns;
  double clock_drift = 0;
  bool fencing = true;  // an acquisition wants a token (rule F4)
  // An acquisition that is decided later than that after its start is too late, whatever its
  // validity (rule D2).
  Duration acquire_within = Duration::max();
  // For people: when no quorum can answer any more, wait for what the other nodes say all the same
  // (at most for the node timeout), so that the error tells of every node.
  bool hear_everyone = false;
};

}  // namespace redlock::coordinator
