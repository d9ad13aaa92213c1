// ReadOperation: who holds a lock, by a quorum's word (rule D3). quorum_read.h decides, this asks.
//
// Where a replacement was left half done (rule D9) it is finished at the nodes that are behind,
// each under the condition of its exact value, and read again behind that.
//
// A reading outlives a change of the group's roster: what was told under one epoch never counts
// with answers of another (rule G1), so it begins anew with the new nodes. Where nodes have said
// that a change is under way, it waits for that as an acquisition does.
#pragma once

#include "coordinator/group/operation.h"

namespace redlock::coordinator {

class ReadOperation : public Operation {
 public:
  using Done = std::function<void(ReadResult)>;
  ReadOperation(GroupParts& group, ReadRequest wanted, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  void leave_nodes(Instant now) override;
  void on_nodes_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  bool finished() const override { return machine_->finished() && !stays_until_; }
  void tell() override;

 private:
  void after_machine(Instant now);
  void finish_replacement(Instant now);
  void withdraw_unanswered();

  // A reading that was unsettled so often met others that replace the value meanwhile.
  static constexpr unsigned kFinishesMax = 3;

  ReadRequest wanted_;
  SharedClaim claim_;  // the name
  std::optional<QuorumRead> machine_;
  Done done_;
  std::optional<Instant> stays_until_;  // a change of the group is under way
  bool has_stayed_ = false;
  std::vector<std::uint64_t> connections_;  // by node: the one that it answered on
  unsigned finishes_ = 0;
};

}  // namespace redlock::coordinator
