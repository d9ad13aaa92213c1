#include "coordinator/bench/bench_figures.h"

#include <algorithm>

namespace redlock::coordinator {
namespace {

bool is_vote(AnswerKind kind) {
  return kind == AnswerKind::yes || kind == AnswerKind::no || kind == AnswerKind::none;
}

}  // namespace

std::uint64_t OperationFigures::failures() const {
  std::uint64_t all = 0;
  for (const auto& [name, count] : failed) all += count;
  return all;
}

void BenchFigures::note_acquired(Duration took, const Lock& lock) {
  acquire.latency.add(took);
  if (lock.round_trips > 1) ++second_rounds;
}

void BenchFigures::note_released(Duration release_took, Duration pair_took) {
  release.latency.add(release_took);
  pair.add(pair_took);
}

void BenchFigures::note_failed(OperationFigures& operation, const Error& error) {
  ++operation.failed[std::string(error_name(error.code))];
  for (std::size_t i = 0; i < std::min(error.nodes.size(), nodes.size()); ++i) {
    const AnswerKind kind = error.nodes[i].kind;
    if (!is_vote(kind)) ++nodes[i].missed[std::string(answer_name(kind))];
  }
}

void BenchFigures::note_nodes(const std::vector<NodeState>& states) {
  nodes.resize(states.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    NodeFigures& node = nodes[i];
    node.node = states[i].answer.node;
    node.state = states[i].state;
    ++node.asked;
    if (states[i].answer.kind == AnswerKind::yes) node.round_trip.add(states[i].answer.took);
  }
}

double BenchFigures::pairs_per_second() const {
  const double seconds = std::chrono::duration<double>(passed).count();
  return seconds > 0 ? static_cast<double>(pair.count()) / seconds : 0;
}

}  // namespace redlock::coordinator
