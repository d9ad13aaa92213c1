// The count of votes over N nodes: pending, won or lost (rule Q1).
//
// A quorum is more than half: any two have a node in common, and that node grants a key once.
#pragma once

#include "base/invariant.h"

#include <cstddef>

namespace redlock::coordinator {

constexpr std::size_t quorum_of(std::size_t nodes) {
  return nodes / 2 + 1;
}

enum class VoteResult { pending, won, lost };

// Each node votes once: yes, no, or not at all (`silent`: down, recovering, timed out). A no and a
// silence cost the same vote; they are counted apart because they mean different things to whoever
// asked: "held by another" and "no quorum of nodes".
class VoteCount {
 public:
  explicit VoteCount(std::size_t nodes) : nodes_(nodes) {}

  void add_yes() { add(yes_); }
  void add_no() { add(no_); }
  void add_silent() { add(silent_); }

  std::size_t nodes() const { return nodes_; }
  std::size_t yes() const { return yes_; }
  std::size_t no() const { return no_; }
  std::size_t silent() const { return silent_; }
  std::size_t answered() const { return yes_ + no_; }
  std::size_t outstanding() const { return nodes_ - yes_ - no_ - silent_; }

  // Won as soon as a quorum said yes, lost as soon as none can any more.
  VoteResult result() const { return judge(yes_); }
  // The same for the question whether a quorum answered at all.
  VoteResult answered_result() const { return judge(answered()); }

 private:
  void add(std::size_t& votes) {
    INVARIANT(outstanding() > 0, "more votes than nodes");
    ++votes;
  }
  VoteResult judge(std::size_t votes) const {
    if (votes >= quorum_of(nodes_)) return VoteResult::won;
    return votes + outstanding() >= quorum_of(nodes_) ? VoteResult::pending : VoteResult::lost;
  }

  std::size_t nodes_;
  std::size_t yes_ = 0;
  std::size_t no_ = 0;
  std::size_t silent_ = 0;
};

}  // namespace redlock::coordinator
