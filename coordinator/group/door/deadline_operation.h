// DeadlineOperation: another deadline, and perhaps another value, for whoever holds exactly these
// bytes (rules D8, D9), by somebody who does not know the validity and is not the only one to act
// on the value. extension.h decides, this asks.
//
// Nothing is topped up within the vote: each node of the quorum has held the value from its grant
// until its answer, so nobody else had a quorum meanwhile. Once the vote has succeeded, nodes that
// say that they lack it are topped up, so that a lock that is held for long does not lose its votes
// one restart after the other. Nobody counts these top-ups. They go to at most N - q nodes, and
// each over the connection that said so: one that ended may lead to the node's next life. A top-up
// runs out with the deadline that was voted, so one that lands late, after a release, is in the way
// for no longer than that.
//
// A value may have been replaced since the nodes of the quorum answered (rule D9), and a top-up
// with it must not undo that at a node that voted for the later one and has forgotten it. So a node
// that has another value gets none, nor does one that answers beyond the node timeout; and a node's
// yes to a replacement counts only if it keeps the new value for two node timeouts: until the
// attempt is over, and all that began before it.
#pragma once

#include "coordinator/group/operation.h"

namespace redlock::coordinator {

class DeadlineOperation : public Operation {
 public:
  using Done = std::function<void(ExtendResult)>;
  DeadlineOperation(GroupParts& group, ExtendRequest wanted, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  void cancel(Instant now) override;
  void leave_nodes(Instant) override { met_change_ = true; }
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  NodeRequest request() const;
  bool keeps_it_too_short(const Completion& completion) const;
  void after_machine(Instant now);
  void top_up(Instant now);
  Token token() const;

  ExtendRequest wanted_;
  SharedClaim claim_;
  SharedClaim after_;  // what a node holds that did it
  Duration node_timeout_;
  Extension machine_;
  Done done_;
  Instant began_;
  std::vector<std::uint64_t> connections_;  // by node: the one that it answered on
  bool keeps_later_ = false;                // see ExtendResult
  bool met_change_ = false;                 // its nodes have gone
};

}  // namespace redlock::coordinator
