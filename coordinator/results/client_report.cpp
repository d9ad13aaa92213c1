#include "coordinator/results/client_report.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::coordinator {

void ClientReport::Times::add(Duration took) {
  ++counts_[DurationBuckets::bucket_of(took)];
  sum_ = sum_ + static_cast<std::uint64_t>(took.count());
}

Figures::Times ClientReport::Times::read() const {
  Figures::Times times{.sum = Duration(static_cast<Duration::rep>(sum_))};
  times.buckets.reserve(counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    times.buckets.push_back({DurationBuckets::edge_of(i), counts_[i]});
  }
  return times;
}

void ClientReport::on_acquisition(AcquisitionOutcome outcome, Duration took) {
  ++attempts_;
  switch (outcome) {
    case AcquisitionOutcome::acquired:
      ++acquired_;
      acquisition_times_.add(took);
      return;
    case AcquisitionOutcome::held:
      ++refused_;
      return;
    default:
      ++failed_;
  }
}

void ClientReport::on_extension(ExtensionOutcome outcome) {
  ++(outcome == ExtensionOutcome::extended ? extended_ : not_extended_);
}

void ClientReport::on_release(Instant valid_until, Duration ttl, Instant asked) {
  ++released_;
  if (valid_until == kNever) return;
  left_at_release_.add(std::max<Duration>(valid_until - asked, 0ns));
  if (is_late_release(valid_until, ttl, asked)) ++released_late_;
}

bool ClientReport::takes_wait_line(Instant now) {
  if (now < next_wait_line_) return false;
  next_wait_line_ = later(now, kWaitLineInterval);
  return true;
}

void ClientReport::name_nodes(const std::vector<Group::Node>& nodes) {
  auto named = std::make_shared<Nodes>(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) (*named)[i].name = nodes[i].name;
  const std::lock_guard lock(nodes_mutex_);
  nodes_ = std::move(named);
}

void ClientReport::look(const Group& group, std::size_t under_way, std::size_t kept,
                        const Say& say) {
  under_way_ = under_way;
  kept_ = kept;
  split_votes_ = group.figures().split_votes;
  second_rounds_ = group.figures().second_rounds;
  if (group.node_changes() != node_changes_) {
    node_changes_ = group.node_changes();
    name_nodes(group.nodes());
  }
  for (NodeIndex node = 0; node < nodes_->size(); ++node) {
    look_at((*nodes_)[node], group.link(node), say);
  }
}

// A connection that is over and made again within one turn has another number.
void ClientReport::look_at(Node& node, const Link& link, const Say& say) {
  const bool is_connected = link.is_ready();
  const bool is_new = link.connection() != node.connections;
  const bool was_connected = node.is_connected;
  if (is_connected != was_connected) node.is_connected = is_connected;
  node.connections = link.connection();
  node.round_trip = static_cast<std::uint64_t>(link.round_trip().count());
  node.votes_yes = link.votes().yes;
  node.votes_no = link.votes().no;
  node.votes_none = link.votes().none;
  if (is_connected) {
    node.problem.clear();
    if (say && (is_new || !was_connected))
      say(Severity::info, fmt::format("{}: reached", node.name));
  } else if (link.state() == Link::State::backing_off) {
    std::string problem = answer_text(link.problem());
    if (problem == node.problem) return;
    if (say) say(Severity::warning, fmt::format("{}: not reached: {}", node.name, problem));
    node.problem = std::move(problem);
  }
}

Figures ClientReport::figures() const {
  Figures figures{.attempts = attempts_,
                  .acquired = acquired_,
                  .refused = refused_,
                  .failed = failed_,
                  .split_votes = split_votes_,
                  .second_rounds = second_rounds_,
                  .acquisition_times = acquisition_times_.read(),
                  .extended = extended_,
                  .not_extended = not_extended_,
                  .lost = lost_,
                  .released = released_,
                  .released_late = released_late_,
                  .validity_left_at_release = left_at_release_.read(),
                  .under_way = under_way_,
                  .kept = kept_};
  std::unique_lock lock(nodes_mutex_);
  const std::shared_ptr<const Nodes> nodes = nodes_;
  lock.unlock();
  figures.nodes.reserve(nodes->size());
  for (const Node& node : *nodes) {
    figures.nodes.push_back({.address = node.name,
                             .is_connected = node.is_connected,
                             .connections = node.connections,
                             .round_trip = Duration(static_cast<Duration::rep>(node.round_trip)),
                             .votes_yes = node.votes_yes,
                             .votes_no = node.votes_no,
                             .votes_none = node.votes_none});
  }
  return figures;
}

}  // namespace redlock::coordinator
