// Rosters: which roster a coordinator goes by, and which node each of its links leads to (rules G).
//
// A coordinator begins with a list of addresses. The first roster that is the list's settles what
// group that is: if the list names as many nodes, or is that of an earlier epoch, the coordinator
// takes the roster over; else it is refused. Later it takes over each newer roster of its group
// that it meets, without being told by anybody.
//
// It keeps the addresses that it was given for the nodes that they lead to; those of the roster are
// for members that it has no address of (rule G7).
// A link that leads to no member tries both in turn.
//
// Pure. Thread safety: none.
#pragma once

#include "coordinator/link/link.h"
#include "coordinator/link/named_node.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace redlock::coordinator {

class Rosters {
 public:
  // as_named: no roster is taken over, and no node asked for its vote.
  explicit Rosters(const std::vector<NamedNode>& given, bool as_named = false);

  // What the links lead to, by node.
  const std::vector<NamedNode>& nodes() const { return nodes_; }
  // Grows whenever nodes() changes.
  std::uint64_t changes() const { return changes_; }
  bool is_as_named() const { return as_named_; }
  // What is said on each connection; epoch 0: no roster yet.
  const SharedRoster& chosen() const { return chosen_; }
  // Why no node is asked for its vote: its group is not the one that was named.
  // Empty: nothing is wrong.
  const std::string& refusal() const { return refusal_; }

  enum class Met : std::uint8_t {
    welcome,      // it may be asked
    newer,        // it tells a newer roster: adopt() that, and meet it again
    no_member,    // of the roster
    other_group,  // nor is its roster one that this one may have come to
    unsure,    // it tells a first roster, and more nodes have to answer before that is the list's
    stray,     // it tells a first roster that is not the list's
    returned,  // a member that lost its ledger: to be named anew, see wanted()
    refused,   // it may be asked, but for no vote: refusal() says why
  };
  // A node was met behind the link. `links`: all of them, for whom the others lead to.
  Met meet(NodeIndex node, std::span<const Link> links);

  // Whether the roster has to be looked after: a change of it that was begun was met, or a member
  // that lost its ledger.
  bool has_work() const { return begun_ || returned_; }
  // The roster that names the member anew, or else the one that the change was to come to: a quorum
  // that knows nothing of it may be the one that answers first. REQUIRES: has_work().
  Roster wanted() const;

  // Where the nodes' links come from: the link that led there before, or none.
  using Sources = std::vector<std::optional<NodeIndex>>;
  // This roster is the group's from now on.
  Sources adopt(const ChosenRoster& chosen, std::span<const Link> links);
  // The same before any node was asked for a vote: the links stay as they are.
  void begin_with(const ChosenRoster& chosen) {
    chosen_ = std::make_shared<const ChosenRoster>(chosen);
    refusal_.clear();
  }

  // Whether this roster is a newer one of the group that is gone by, if any is.
  bool may_come_to(const Roster& told) const;

  // Whether a refusal by the link's node is of a change: who is met as no member refuses for good.
  bool is_welcome(const Link& link) const;

  // Whether the links can go on as they are with this first roster.
  bool suits(const Roster& told, std::span<const Link> links) const;

  // Whether the link is at an address that the roster does not tell, has met no member there, and
  // could be sent to one that has no link.
  bool is_doubtful(NodeIndex node, std::span<const Link> links) const;
  // If the link leads to no member, or to one that another link leads to, its next dial goes to
  // another address. False: each that may be of use has a link.
  bool look_elsewhere(NodeIndex node, std::span<const Link> links);

 private:
  std::string trouble_with(const Roster& told, NodeIndex node) const;
  bool is_of_earlier_epoch(const Roster& told) const;
  std::size_t named_by(const Roster& told) const;
  Met judge_first(const Roster& told, std::span<const Link> links) const;
  std::vector<NamedNode> elsewhere(NodeIndex node, std::span<const Link> links) const;
  bool has_returned(const NodeStatus& status);
  NamedNode node_at(const RosterMember& member) const;

  const std::vector<NamedNode> given_;
  std::vector<NamedNode> nodes_;
  const bool as_named_;
  SharedRoster chosen_ = std::make_shared<const ChosenRoster>();
  std::string refusal_;
  std::uint64_t changes_ = 0;
  std::optional<Roster> begun_;           // that a member has accepted for the next epoch
  std::optional<RosterMember> returned_;  // a member as it is now
  std::size_t looks_ = 0;                 // so that links which look elsewhere take turns
};

}  // namespace redlock::coordinator
