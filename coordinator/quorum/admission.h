// The admission of nodes that lost their ledger (rules F6 and F7), as a state machine.
//
//   Admission admission(terms, {.candidates = unfenced_nodes});
//   admission.start(now, actions);            // actions: ask these nodes admission.question()
//   admission.on_answer(node, reply, now, actions);
//   if (admission.finished()) …               // standing(node) says what became of each
//
// Three questions, one after the other:
//
//   look   LOCK.STATUS of the candidates: who is unfenced, and may be admitted by now? Left out
//          where the greeting of their connections told it
//   read   LOCK.FENCE READ of all nodes, recovering ones too, and all are waited for: the counters
//          of the fenced ones tell the floor
//   admit  LOCK.FENCE ADMIT floor, to the candidates that may be admitted
//
// The order carries the safety. A lock that a node granted before its loss may still get its token
// from the others, and until it has run out a floor that was read is worth nothing. So the counters
// are read after the node said that its time is over (F7), and `admit` goes out on the connection
// that said so: behind another one there may be a node that has lost its ledger once more. Whoever
// drives the machine sees to the connection and answers `broken` in the node's place.
//
// The counters of those that are fenced tell the floor (floor.h). Where it stands apart from the
// others nobody is admitted until an operator says which floor is right.
//
// When no quorum is fenced the counters do not tell a floor, and only an operator can vouch for
// one: for a new group, or for one that lost a quorum of its ledgers. That takes all N nodes, those
// that are unfenced serving and ready, and touches none otherwise. The few that are still fenced
// stay as they are: each quorum has one of the others. No operator's floor may be below a counter
// that a node tells, or the bound of a fenced one. Without one that largest is the floor where
// fewer than a quorum lost their ledgers, as each token was then accepted at a node that still
// knows; else none is assumed.
//
// Nothing has to be undone: a floor only raises, and one that was read rightly stays right.
#pragma once

#include "coordinator/quorum/ballot.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace redlock::coordinator {

enum class AdmissionQuestion : std::uint8_t { look, read, admit };

// What a node said to a question, as far as it answered (kind yes).
struct AdmissionReply {
  AdmissionQuestion to = AdmissionQuestion::look;
  Answer answer = {};
  bool fenced = false;      // look, read; admit: it was already
  Token counter = 0;        // look, read: the largest of any slot
  Token bound = 0;          // look: that no counter passes
  bool recovering = false;  // look
  Duration admit_in = 0ns;  // look: until it may be admitted; 0: now
};

enum class AdmissionOutcome : std::uint8_t {
  pending,
  done,            // no candidate that answered is unfenced any more
  refused,         // some stay unfenced: see their standing
  needs_operator,  // no quorum of nodes is fenced, whatever the silent ones would say
  counters_apart,  // the floor rests on counters far above the next largest: see is_far_above
  floor_needed,    // of a new group: too few nodes know one
  floor_too_low,   // the operator's is below least_floor()
  no_quorum,       // too few answered to know
};

// An operator's word.
struct OperatorsFloor {
  bool new_group = false;      // no quorum is fenced: all nodes are taken, or none
  std::optional<Token> floor;  // no token larger than this was ever given; none: as it is read
};

struct AdmissionPlan {
  NodeSet candidates = {};
  // Their present connections have told that they are unfenced and that their time is over.
  bool looked = false;
  OperatorsFloor by_operator = {};  // REQUIRES: with new_group all nodes are candidates
};

inline NodeSet all_nodes(std::size_t nodes) {
  return ~NodeSet() >> (kNodesMax - nodes);
}

class Admission {
 public:
  // What is known of a node, and what became of it.
  struct Standing {
    enum class State : std::uint8_t {
      unknown,   // no candidate, or it did not answer: see `answer`
      fenced,    // it was already
      unfenced,  // and nothing was done about it
      early,     // unfenced; it may be admitted after admit_in
      admitted,
      failed,  // it did not confirm the floor: see `answer`
    };
    State state = State::unknown;
    Token counter = 0;
    bool recovering = false;
    bool is_far_above = false;  // its counter, as others do not bear it out
    Duration admit_in = 0ns;
    Answer answer = {};  // to the last question
  };

  // REQUIRES: a candidate.
  Admission(const Terms& terms, const AdmissionPlan& plan);

  void start(Instant now, Actions& actions);
  // An answer to an earlier question, or a second one, is welcome and changes nothing.
  void on_answer(NodeIndex node, AdmissionReply reply, Instant now, Actions& actions);
  void on_time(Instant now, Actions& actions);
  std::optional<Instant> next_deadline() const;

  // What `ask` means at present, and what is sent with `admit`.
  AdmissionQuestion question() const { return question_; }
  Token floor() const { return floor_; }
  // What an operator's floor must not be below, as nodes tell it.
  Token least_floor() const { return least_floor_; }

  bool finished() const { return outcome_ != AdmissionOutcome::pending; }
  AdmissionOutcome outcome() const { return outcome_; }
  const Standing& standing(NodeIndex node) const { return standings_[node]; }
  // A candidate gives tokens now that did not when this began.
  bool admitted_any() const;
  const NodeSet& candidates() const { return plan_.candidates; }

 private:
  using State = Standing::State;

  void ask(AdmissionQuestion question, const NodeSet& nodes, Instant now, Actions& actions);
  void note(NodeIndex node, AdmissionReply reply, Instant now);
  bool has_answered(NodeIdentity from, NodeIndex address) const;
  void decide(Instant now, Actions& actions);
  void after_look(Instant now, Actions& actions);
  void during_read(Instant now, Actions& actions);
  void after_read(Instant now, Actions& actions);
  void after_new_groups_read(Instant now, Actions& actions);
  std::optional<AdmissionOutcome> choose_floor();
  void after_admit(Actions& actions);
  void finish(AdmissionOutcome outcome, Actions& actions);
  NodeSet in_state(State state) const;
  bool is_whole() const;  // every node is there, and too few are fenced to tell a floor

  Terms terms_;
  AdmissionPlan plan_;
  std::vector<Standing> standings_;  // by node
  AdmissionQuestion question_ = AdmissionQuestion::look;
  NodeSet awaited_;  // asked the present question, and not heard
  Instant asked_at_;
  Instant deadline_ = kNever;
  VoteCount fenced_votes_;  // of read; a node that is silent may be fenced or not
  NodeSet read_fenced_;     // whose counters the floor rests on
  Token floor_ = 0;
  Token least_floor_ = 0;
  Token least_known_ = 0;  // that any node told
  AdmissionOutcome outcome_ = AdmissionOutcome::pending;
};

}  // namespace redlock::coordinator
