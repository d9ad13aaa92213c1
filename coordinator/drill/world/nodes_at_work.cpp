#include "coordinator/drill/world/nodes_at_work.h"

#include <csignal>

namespace redlock::coordinator {
namespace {

constexpr Duration kStoppedWithin = 10s;  // then SIGKILL

}  // namespace

NodesAtWork::NodesAtWork(OwnNodes& nodes, Recorder& recorder)
    : nodes_(nodes), recorder_(recorder), states_(nodes.addresses().size()) {}

void NodesAtWork::kill(std::size_t node) {
  State& state = states_[node];
  if (state.is_down) return;
  recorder_.tell(node_name(node), What::killed);
  state = {.is_down = true, .is_wanted = false};
  nodes_.process(node).stop(0s);
}

void NodesAtWork::start(std::size_t node) {
  states_[node].is_wanted = true;
}

void NodesAtWork::restart(std::size_t node) {
  State& state = states_[node];
  if (state.is_down) return;
  resume(node);
  recorder_.tell({.who = node_name(node), .what = What::killed, .why = "a clean stop"});
  state = {.is_down = true, .is_wanted = true};
  nodes_.process(node).stop(kStoppedWithin);
}

void NodesAtWork::stop(std::size_t node) {
  State& state = states_[node];
  if (state.is_down || state.is_stopped) return;
  state.is_stopped = true;
  recorder_.tell(node_name(node), What::stopped);
  nodes_.process(node).pass_on(SIGSTOP);
}

void NodesAtWork::resume(std::size_t node) {
  State& state = states_[node];
  if (state.is_down || !state.is_stopped) return;
  state.is_stopped = false;
  nodes_.process(node).pass_on(SIGCONT);
  recorder_.tell(node_name(node), What::continued);
}

void NodesAtWork::restore() {
  for (std::size_t node = 0; node < states_.size(); ++node) {
    resume(node);
    start(node);
  }
}

Status NodesAtWork::look() {
  for (std::size_t node = 0; node < states_.size(); ++node) {
    State& state = states_[node];
    if (const auto failure = nodes_.process(node).take_failure()) return Failure{failure->text()};
    if (!state.is_down || !state.is_wanted || nodes_.process(node).is_running()) continue;
    recorder_.tell(node_name(node), What::started);
    state = {};
    nodes_.begin_again(node);
  }
  return Done{};
}

bool NodesAtWork::all_ready() {
  for (std::size_t node = 0; node < states_.size(); ++node) {
    if (nodes_.process(node).state() != LocalNode::State::ready) return false;
  }
  return true;
}

}  // namespace redlock::coordinator
