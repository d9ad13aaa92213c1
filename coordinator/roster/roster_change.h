// RosterChange: how a group comes to its next roster (rule G2), as a proposer of single-decree
// Paxos does it.
//
//   prepare   every node promises to take no smaller ballot, and tells what it has accepted
//   accept    the roster of the largest ballot that was told, or else the one that is wanted
//   learn     it is chosen, and every node is told, with the floor of those that have accepted it
//
// Who has accepted gives no more token of this epoch, so its counter is the last word. No floor can
// be read where too many members are unfenced, or where it stands apart (floor.h):
// then nothing is proposed.
//
// A roster is chosen by a quorum of the nodes of the former epoch. The first one has no former
// epoch: all of its nodes must accept it, as two lists may have nodes in common and no quorum of
// each does. What another first roster is known to have come to binds only as long as it may have
// been chosen: one of its members that promises a larger ballot without having accepted it proves
// that it was not, and never will be.
//
// Pure: what to ask comes out as actions, answers and the time come in. Thread safety: none.
#pragma once

#include "base/random.h"
#include "coordinator/link/node_request.h"
#include "coordinator/quorum/ballot.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace redlock::coordinator {

enum class RosterOutcome : std::uint8_t {
  pending,
  chosen,        // roster() is the group's
  superseded,    // a later roster is known: roster()
  no_successor,  // what is wanted cannot follow roster(), the group's
  other_group,   // of a first roster: some of the nodes are being made another group, roster()
  early,         // rule G3: wait() tells for how long
  no_quorum,     // too few nodes answer, or are acceptors
  no_floor,      // their counters tell none (rule F9)
  outbid,        // others propose at the same time, again and again
};

class RosterChange {
 public:
  struct Plan {
    ChosenRoster from = {};             // the group's; epoch 0: it has none
    Roster wanted = {};                 // of the next epoch
    std::uint64_t proposer = 0;         // random
    std::vector<NodeIdentity> members;  // by node: what member the link leads to
    Duration node_timeout = 0ns;
    // An operator vouches that the group's own roster will never have a quorum again: nobody is
    // asked for what is wanted, of whatever later epoch, and all nodes must take it over.
    bool is_rescue = false;
  };
  // So often it bids before it gives up. In between it stands back for longer and longer, by
  // chance: two proposers that go on at once outbid each other for ever.
  static constexpr int kBidsMax = 8;
  static constexpr Duration kStandBackMax = 5s;

  explicit RosterChange(Plan plan);

  void start(Instant now, Actions& actions);
  // What the nodes that are to be asked are asked.
  NodeRequest question() const;
  // member: whom the link leads to. The promise of another than the plan's is no word of that one
  // (rule G4).
  void on_answer(NodeIndex node, NodeIdentity member, Answer answer, const protocol::Reply& reply,
                 Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  std::optional<Instant> next_deadline() const;

  bool finished() const { return outcome_ != RosterOutcome::pending; }
  RosterOutcome outcome() const { return outcome_; }
  const ChosenRoster& roster() const { return result_; }
  Duration wait() const { return wait_; }
  // To the last question, by node.
  const std::vector<Answer>& answers() const { return ballot_.answers(); }

 private:
  enum class Step : std::uint8_t { prepare, accept, learn };
  // What a node made of the question.
  struct Said {
    bool done = false;
    RosterBallot accepted_ballot = {};  // number 0: nothing
    Roster accepted = {};
    std::optional<Token> counter = {};  // of a fenced one
  };

  void ask(Step step, Instant now, Actions& actions);
  void read(NodeIndex node, const protocol::Reply& reply);
  void read_other_epoch(const std::vector<protocol::Reply>& items);
  void look(Instant now, Actions& actions);
  void go_on(Instant now, Actions& actions);
  void propose(Instant now, Actions& actions);
  void fail(Instant now);
  void bid(Instant now, Actions& actions);
  void stand_back(Instant now);
  std::size_t done() const;
  std::size_t needed() const;
  bool is_hopeless() const;
  bool tells_floor();
  Instant silence_from() const;
  const Said* newest_accepted() const;
  bool may_be_chosen(const Said& said) const;
  bool are_ours(const Roster& roster) const;

  const Plan plan_;
  Step step_ = Step::prepare;
  Ballot ballot_;
  std::vector<Said> said_;  // by node, to this question
  RosterBallot bid_;
  RosterBallot promised_;  // the largest that was told
  int bids_ = 0;
  Instant bid_at_;               // of the present bid
  std::optional<Instant> next_;  // when to bid anew
  Random random_;
  Roster proposed_;
  Duration longest_{};
  Token floor_ = 0;
  Duration wait_{};
  ChosenRoster result_;
  RosterOutcome outcome_ = RosterOutcome::pending;
};

}  // namespace redlock::coordinator
