#include "coordinator/drill/surroundings/jumping_clocks.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::drill {

JumpingClocks::JumpingClocks(Stage& stage, std::string folder)
    : clocks_(stage, std::move(folder)) {}

Status JumpingClocks::set_up(std::size_t nodes, std::size_t clients) {
  if (auto ready = clocks_.set_up(); !ready) return ready;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (auto added = add(node_name(i)); !added) return added;
  }
  for (std::size_t i = 0; i < clients; ++i) {
    if (auto added = add(client_name(i)); !added) return added;
  }
  return Done{};
}

Status JumpingClocks::add(const std::string& name) {
  auto environment = clocks_.environment_of(name);
  if (!environment) return environment.error();
  environments_[name] = std::move(environment).value();
  return Done{};
}

Status JumpingClocks::connect(const std::vector<std::string>& nodes) {
  nodes_ = fmt::format("{}", fmt::join(nodes, ","));
  return Done{};
}

Status JumpingClocks::befall(std::span<const PlannedFault> faults, Recorder& recorder) {
  for (const PlannedFault& fault : faults) {
    const Event event = event_of(fault);
    recorder.tell(event);
    if (auto jumped = clocks_.jump(event.who, fault.delay); !jumped) return jumped;
  }
  return Done{};
}

}  // namespace redlock::drill
