#include "coordinator/drill/world/nodes_at_work.h"

#include <csignal>
#include <utility>

namespace redlock::drill {
namespace {

constexpr Duration kCleanlyWithin = 10s;  // then SIGKILL

}  // namespace

NodesAtWork::NodesAtWork(OwnNodes& nodes, Recorder& recorder)
    : nodes_(nodes), recorder_(recorder), states_(nodes.addresses().size()) {
  for (std::size_t node = 0; node < states_.size(); ++node) {
    if (!is_known(node)) states_[node] = {.is_down = true, .is_wanted = false};
  }
}

bool NodesAtWork::is_ready(std::size_t node) const {
  return !states_[node].is_down &&
         nodes_.process(node).state() == coordinator::LocalNode::State::ready;
}

bool NodesAtWork::is_known(std::size_t node) const {
  return nodes_.process(node).state() != coordinator::LocalNode::State::idle;
}

void NodesAtWork::kill(std::size_t node, const std::string& change) {
  State& state = states_[node];
  if (state.is_down) return;
  recorder_.tell({.who = node_name(node), .what = What::killed, .change = change});
  state = {.is_down = true, .is_wanted = false};
  nodes_.process(node).stop(0s);
}

void NodesAtWork::start(std::size_t node) {
  states_[node].is_wanted = true;
}

void NodesAtWork::start_anew(std::size_t node, bool bootstrapped, const std::string& change) {
  kill(node, change);
  states_[node] = {
      .is_down = true, .is_another = true, .is_bootstrapped = bootstrapped, .change = change};
}

void NodesAtWork::restart(std::size_t node) {
  State& state = states_[node];
  if (state.is_down) return;
  resume(node);
  recorder_.tell({.who = node_name(node), .what = What::killed, .why = "a clean stop"});
  state = {.is_down = true, .is_wanted = true};
  nodes_.process(node).stop(kCleanlyWithin);
}

void NodesAtWork::stop(std::size_t node, const std::string& change) {
  State& state = states_[node];
  if (state.is_down || state.is_stopped) return;
  state.is_stopped = true;
  recorder_.tell({.who = node_name(node), .what = What::stopped, .change = change});
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
    if (is_known(node)) start(node);
  }
}

Status NodesAtWork::look() {
  for (std::size_t node = 0; node < states_.size(); ++node) {
    const State& state = states_[node];
    coordinator::LocalNode& process = nodes_.process(node);
    if (const auto failure = process.take_failure()) return Failure{failure->text()};
    if (process.state() == coordinator::LocalNode::State::bootstrapped && !state.is_down)
      process.serve();
    if (!state.is_down || !state.is_wanted || process.is_running()) continue;
    if (auto begun = begin(node); !begun) return begun;
  }
  return Done{};
}

Status NodesAtWork::begin(std::size_t node) {
  const State state = std::exchange(states_[node], {});
  recorder_.tell({.who = node_name(node), .what = What::started, .change = state.change});
  if (state.is_another) return nodes_.begin_anew(node, state.is_bootstrapped);
  nodes_.begin_again(node);
  return Done{};
}

}  // namespace redlock::drill
