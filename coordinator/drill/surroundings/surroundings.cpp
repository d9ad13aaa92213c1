#include "coordinator/drill/surroundings/surroundings.h"

namespace redlock::drill {
namespace {

// As the node sees it.
Direction direction_of(PlannedFault::Way way) {
  switch (way) {
    case PlannedFault::Way::both:
      break;
    case PlannedFault::Way::to_node:
      return Direction::in;
    case PlannedFault::Way::from_node:
      return Direction::out;
  }
  return Direction::both;
}

What what_of(Fault fault) {
  switch (fault) {
    case Fault::cut:
      return What::cut;
    case Fault::heal:
      return What::healed;
    case Fault::slow:
      return What::slowed;
    case Fault::unslow:
      return What::unslowed;
    default:
      return What::clock_jumped;
  }
}

std::string name_of(PlannedFault::Whom whom, std::size_t number) {
  switch (whom) {
    case PlannedFault::Whom::node:
      return node_name(number);
    case PlannedFault::Whom::client:
      break;
    case PlannedFault::Whom::door:
      return door_name(number);
  }
  return client_name(number);
}

}  // namespace

Event event_of(const PlannedFault& fault) {
  Event event{.who = name_of(fault.whom, fault.victim),
              .what = what_of(fault.fault),
              .change = fault.change};
  if (event.what == What::cut) {
    event.direction = direction_of(fault.way);
    for (const std::size_t client : fault.clients)
      event.from.push_back(name_of(fault.clients_are, client));
  }
  if (event.what == What::slowed) event.ms = floor_ms(fault.delay);
  if (event.what == What::clock_jumped) event.by_ms = floor_ms(fault.delay);
  return event;
}

}  // namespace redlock::drill
