// ListOperation: every lock of the nodes, for an operator to look at.
//
// Each node is walked by itself: a page of names by SCAN, then what the node holds under each of
// them, then the next page. So what is asked at once stays small, a slow node holds up nobody, and
// a node is given up after the node timeout without an answer, however long its walk takes. A walk
// is no snapshot: a lock that is taken or released meanwhile may be among the readings or not.
#pragma once

#include "coordinator/group/operation.h"

#include <deque>
#include <string>
#include <vector>

namespace redlock::coordinator {

class ListOperation : public Operation {
 public:
  // Names that one SCAN looks at: some 20 KB of questions and answers at once.
  static constexpr std::string_view kPageSize = "200";

  using Done = std::function<void(ListResult)>;
  // pattern: glob-style, as SCAN … MATCH takes it.
  ListOperation(GroupParts& group, std::string pattern, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  // The new ones are asked instead.
  void leave_nodes(Instant) override { next_attempt(); }
  void on_nodes_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  bool finished() const override { return walked_.votes().outstanding() == 0; }
  void tell() override;

 private:
  struct Walk {
    Instant deadline = kNever;     // of the next answer
    std::string cursor = "0";      // of the next page
    std::deque<SharedClaim> page;  // the names that were asked for, in order
  };

  void ask_for_page(NodeIndex node, Instant now);
  void on_page(NodeIndex node, const protocol::Reply& reply, Instant now);
  void on_holder(NodeIndex node, const Completion& completion, Instant now);
  void end(NodeIndex node, Answer answer, Instant now);

  std::string pattern_;
  Ballot walked_;  // which walks have come to their end
  std::vector<Walk> walks_;
  ListedNames readings_;
  Done done_;
};

}  // namespace redlock::coordinator
