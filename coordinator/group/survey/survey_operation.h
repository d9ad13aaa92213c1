// SurveyOperation: the same questions to every node, and what each says.
#pragma once

#include "coordinator/group/operation.h"

#include <span>
#include <string>
#include <vector>

namespace redlock::coordinator {

class SurveyOperation : public Operation {
 public:
  using Done = std::function<void(std::vector<NodeFinding>)>;
  SurveyOperation(GroupParts& group, std::span<const RequestKind> questions, std::string name,
                  Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  // The new ones are asked instead.
  void leave_nodes(Instant) override { next_attempt(); }
  void on_nodes_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override { return ballot_.deadline(); }
  bool finished() const override { return ballot_.votes().outstanding() == 0; }
  void tell() override;

 private:
  std::vector<RequestKind> questions_;
  SharedClaim claim_;
  Ballot ballot_;
  std::vector<std::vector<protocol::Reply>> replies_;
  Done done_;
};

}  // namespace redlock::coordinator
