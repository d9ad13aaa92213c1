#include "coordinator/quorum/quorum_read.h"

#include "base/invariant.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace redlock::coordinator {

const NodeReading* labelled(const std::vector<std::optional<NodeReading>>& readings,
                            std::string_view value) {
  const NodeReading* longest = nullptr;
  for (const auto& told : readings) {
    if (!told || told->value != value || told->label.empty()) continue;
    if (longest == nullptr || told->held >= longest->held) longest = &*told;
  }
  return longest;
}

QuorumRead::QuorumRead(const Terms& terms, HeldByOf held_by, bool wants_token)
    : held_by_(std::move(held_by)),
      wants_token_(wants_token),
      hears_everyone_(terms.hear_everyone),
      node_timeout_(terms.node_timeout),
      ballot_(terms.nodes),
      readings_(terms.nodes) {}

void QuorumRead::start(Instant now, Actions& actions) {
  ballot_.open(now, node_timeout_);
  ask_all(ballot_.nodes(), actions);
}

void QuorumRead::on_answer(NodeIndex node, Answer answer, std::optional<NodeReading> told,
                           Instant now) {
  if (finished() || !ballot_.record(node, std::move(answer), now)) return;
  // A second vote of one node counts as none (rule Q5): the ballot says so.
  if (ballot_.answers()[node].kind == AnswerKind::yes) readings_[node] = std::move(told);
  decide();
}

void QuorumRead::on_time(Instant now) {
  if (!finished() && ballot_.time_out(now)) decide();
}

std::optional<Instant> QuorumRead::next_deadline() const {
  if (finished()) return std::nullopt;
  return ballot_.deadline();
}

HeldBy QuorumRead::held_by(NodeIndex node) const {
  const std::string_view value = readings_[node]->value;
  return held_by_ ? held_by_(value) : HeldBy{value};
}

// REQUIRES: readings_[one].
bool QuorumRead::is_one_holders(NodeIndex one, NodeIndex other) const {
  return readings_[other] && held_by(one).holder == held_by(other).holder;
}

std::size_t QuorumRead::count_value(NodeIndex node) const {
  return static_cast<std::size_t>(std::count_if(
      readings_.begin(), readings_.end(),
      [&](const auto& told) { return told && told->value == readings_[node]->value; }));
}

std::vector<QuorumRead::Holder> QuorumRead::holders() const {
  std::vector<Holder> all;
  for (NodeIndex node = 0; node < readings_.size(); ++node) {
    if (!readings_[node]) continue;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Holder& holder) {
      return is_one_holders(holder.node, node);
    });
    if (same == all.end()) {
      all.push_back({node, 1});
    } else {
      ++same->count;
    }
  }
  return all;
}

void QuorumRead::decide() {
  const VoteCount& votes = ballot_.votes();
  const ReadVerdict verdict = judge();
  if (verdict == ReadVerdict::held && !is_token_settled()) return;
  if (verdict == ReadVerdict::no_quorum && hears_everyone_ && votes.outstanding() > 0) return;
  if (verdict == ReadVerdict::possible) choose_value();
  verdict_ = verdict;
}

// What is certain, whatever the outstanding nodes say: each of them may hold any X, nothing, or be
// silent. Once all were heard, one of the four is certain.
ReadVerdict QuorumRead::judge() {
  const VoteCount& votes = ballot_.votes();
  const std::size_t quorum = quorum_of(votes.nodes());
  const std::size_t silent = votes.silent();
  const std::size_t outstanding = votes.outstanding();
  const bool has_answered = votes.answered() >= quorum;
  if (votes.answered() + outstanding < quorum) return ReadVerdict::no_quorum;

  // How many X a quorum may hold, if the outstanding nodes hold nothing, and if all are silent.
  std::size_t possible_at_least = 0;
  std::size_t possible_at_most = 0;
  bool may_become_held = outstanding >= quorum;
  for (const Holder& holder : holders()) {
    if (holder.count >= quorum) {
      holder_ = holder.node;
      return judge_values();
    }
    may_become_held |= holder.count + outstanding >= quorum;
    if (holder.count + silent + outstanding >= quorum) ++possible_at_most;
    if (holder.count + silent < quorum) continue;
    ++possible_at_least;
    holder_ = holder.node;
  }
  if (has_answered && possible_at_most == 0) return ReadVerdict::free;
  if (may_become_held) return ReadVerdict::pending;
  if (possible_at_least > 1) return ReadVerdict::no_quorum;
  const bool is_the_only_one = possible_at_least == 1 && possible_at_most == 1;
  if (has_answered && is_the_only_one) return ReadVerdict::possible;
  return ReadVerdict::pending;
}

// A quorum holds X. Which of its values is that of a quorum?
ReadVerdict QuorumRead::judge_values() {
  const std::size_t quorum = quorum_of(ballot_.nodes());
  const std::size_t outstanding = ballot_.votes().outstanding();
  bool may_become_settled = outstanding >= quorum;
  for (NodeIndex node = 0; node < readings_.size(); ++node) {
    if (!is_one_holders(holder_, node)) continue;
    const std::size_t count = count_value(node);
    may_become_settled |= count + outstanding >= quorum;
    if (count < quorum) continue;
    holder_ = node;
    return ReadVerdict::held;
  }
  if (may_become_settled) return ReadVerdict::pending;
  choose_value();
  const bool may_be_brought = count_value(holder_) + behind().size() >= quorum;
  return may_be_brought ? ReadVerdict::unsettled : ReadVerdict::possible;
}

// The same for whoever reads the same: the largest number, then what most have, then by its bytes.
void QuorumRead::choose_value() {
  const auto rank = [this](NodeIndex node) {
    return std::tuple(held_by(node).number, count_value(node),
                      std::string_view(readings_[node]->value));
  };
  for (NodeIndex node = 0; node < readings_.size(); ++node) {
    if (is_one_holders(holder_, node) && rank(node) > rank(holder_)) holder_ = node;
  }
}

std::vector<NodeIndex> QuorumRead::behind() const {
  std::vector<NodeIndex> nodes;
  for (NodeIndex node = 0; node < readings_.size(); ++node) {
    const bool is_behind =
        is_one_holders(holder_, node) && held_by(node).number < held_by(holder_).number;
    if (is_behind) nodes.push_back(node);
  }
  return nodes;
}

std::vector<const NodeReading*> QuorumRead::readings_of_holder() const {
  std::vector<const NodeReading*> all;
  for (NodeIndex node = 0; node < readings_.size(); ++node) {
    if (is_one_holders(holder_, node)) all.push_back(&*readings_[node]);
  }
  return all;
}

const std::string& QuorumRead::value() const {
  INVARIANT(readings_[holder_], "the value of a lock that nobody holds");
  return readings_[holder_]->value;
}

Duration QuorumRead::left() const {
  std::vector<Duration> left;
  for (const auto& told : readings_) {
    if (told && told->value == value()) left.push_back(told->left);
  }
  std::sort(left.begin(), left.end(), std::greater<>());
  return left[std::min(quorum_of(ballot_.nodes()), left.size()) - 1];
}

Token QuorumRead::token() const {
  return token_at(quorum_of(ballot_.nodes()));
}

Token QuorumRead::token_at(std::size_t nodes) const {
  const auto all = readings_of_holder();
  for (const NodeReading* reading : all) {
    const auto same = std::count_if(all.begin(), all.end(), [reading](const NodeReading* other) {
      return other->token == reading->token;
    });
    if (reading->token > 0 && static_cast<std::size_t>(same) >= nodes) return reading->token;
  }
  return 0;
}

// It is there, or could not be even if all of the other nodes told it. REQUIRES: the lock is held.
bool QuorumRead::is_token_settled() const {
  if (!wants_token_ || token() > 0) return true;
  const std::size_t quorum = quorum_of(ballot_.nodes());
  const std::size_t outstanding = ballot_.votes().outstanding();
  return outstanding == 0 || (outstanding < quorum && token_at(quorum - outstanding) == 0);
}

}  // namespace redlock::coordinator
