// One reading of a lock at all nodes (a quorum read), as a state machine: who holds it, as far as a
// quorum can tell (rule D3).
//
//   QuorumRead reading({.nodes = 5, .node_timeout = 500ms}, {});
//   reading.start(now, actions);                      // actions: ask every node
//   reading.on_answer(node, answer, now, told);       // for each, in any order
//   if (reading.finished()) … reading.verdict() …
//
// A node either tells what it holds, or that it holds nothing, or is silent: down, recovering,
// erring, too slow. With #X the nodes that hold X's value, and q a quorum:
//
//   held       q nodes hold X, by one value
//   unsettled  q nodes hold X, none of its values is at q nodes, and one can be brought to them
//   free       q nodes answered, and #X + silent < q for every X: no X can be held by a quorum
//   possible   q nodes answered, and one X alone can be held by a quorum; or X is held, and no
//              value of it can be that of a quorum any more
//   no_quorum  all else: too few answered, or several could be
//
// Whoever relies on X got it from q nodes, and each of those holds it or is silent, as a node that
// forgot is recovering for as long (rules R). So `free` is never said of a lock that is relied on.
// `held` says no more than it says: an attempt that will be undone may stand at a quorum
// for an instant.
//
// A reading finishes as soon as nothing that the other nodes may say changes its verdict, so a hung
// node delays only what hangs on it.
//
// Two values are one holder's if `held_by` makes the same holder of both; without it, if they are
// equal. A holder may replace its value by one of the next number, where a node holds exactly the
// one before (rule D9). So at a node a holder's numbers only rise, and a value that q nodes tell is
// no older than any that q nodes had when the reading began: one node would have told the later
// one. Of an unsettled lock value() is the one to bring to the others; then a reading is settled.
#pragma once

#include "coordinator/quorum/ballot.h"

#include <functional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

enum class ReadVerdict : std::uint8_t { pending, held, unsettled, free, possible, no_quorum };

// What one node told of a lock that it holds.
struct NodeReading {
  std::string value;
  Duration left = 0ns;  // when it answered; Duration::max(): it has no deadline
  Token token = 0;      // stored with the value; 0: none
  // Who the holder says it is, as it can be shown, and for how long it has the lock there; empty:
  // not told.
  std::string label = {};
  Duration held = 0ns;
};

// By node, nullopt: it holds nothing or is silent. What the node says that tells a label and has
// this value for longest: others were topped up, or have forgotten the label. nullptr: none does.
const NodeReading* labelled(const std::vector<std::optional<NodeReading>>& readings,
                            std::string_view value);

// What a value tells of its holder, and of how many values that had before.
struct HeldBy {
  std::string_view holder = {};
  std::uint32_t number = 0;
};
// It must not keep the view.
using HeldByOf = std::function<HeldBy(std::string_view value)>;

class QuorumRead {
 public:
  // wants_token: a verdict `held` waits until the token is settled, too.
  explicit QuorumRead(const Terms& terms, HeldByOf held_by = {}, bool wants_token = false);

  void start(Instant now, Actions& actions);
  // answer: of kind yes when the node told; then `told` is what it holds, or nullopt: nothing.
  void on_answer(NodeIndex node, Answer answer, std::optional<NodeReading> told, Instant now);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

  bool finished() const { return verdict_ != ReadVerdict::pending; }
  ReadVerdict verdict() const { return verdict_; }
  // What was told counts for no instant before it.
  Instant start() const { return ballot_.start(); }
  const std::vector<Answer>& answers() const { return ballot_.answers(); }
  // By node; nullopt: it holds nothing, or is silent (answers() tells which).
  const std::vector<std::optional<NodeReading>>& readings() const { return readings_; }

  // --- of verdicts held, unsettled and possible

  // Held: X's value at a quorum. Unsettled: of those with X's largest number the one to bring to
  // the others. Possible: of these the one that most of those that hold X have.
  const std::string& value() const;
  // How long a quorum holds X's value at least, from start() on: the q-th largest of the times that
  // were told. Of an unsettled or possible X the least of those told with the value.
  Duration left() const;
  // Unsettled: the nodes that hold a value of X with a smaller number, to be brought this one.
  std::vector<NodeIndex> behind() const;
  // What a quorum stores with X; 0: no quorum stores the same.
  Token token() const;

 private:
  struct Holder {
    NodeIndex node;     // the first that holds X
    std::size_t count;  // #X
  };

  HeldBy held_by(NodeIndex node) const;
  bool is_one_holders(NodeIndex one, NodeIndex other) const;
  std::vector<Holder> holders() const;
  std::size_t count_value(NodeIndex node) const;  // nodes that hold the same value
  std::vector<const NodeReading*> readings_of_holder() const;
  void decide();
  ReadVerdict judge();
  ReadVerdict judge_values();
  void choose_value();
  Token token_at(std::size_t nodes) const;  // stored with X by so many
  bool is_token_settled() const;

  HeldByOf held_by_;
  bool wants_token_;
  bool hears_everyone_;
  Duration node_timeout_;
  Ballot ballot_;
  std::vector<std::optional<NodeReading>> readings_;
  ReadVerdict verdict_ = ReadVerdict::pending;
  // Of held, unsettled and possible: a node that holds X, and from choose_value() on by value().
  NodeIndex holder_ = 0;
};

}  // namespace redlock::coordinator
