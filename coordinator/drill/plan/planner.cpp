#include "coordinator/drill/plan/planner.h"

#include <algorithm>

namespace redlock::drill {
namespace {

constexpr Duration kBegin = 500ms;     // the clients are at work by then
constexpr Duration kMoreRest = 800ms;  // than a card asks for, at most

}  // namespace

void Planner::play(std::span<const Card> pack, const Card* first) {
  Duration at = kBegin;
  if (first != nullptr && !fits(*first, at)) return;
  std::vector<Card> hand;
  for (;;) {
    if (hand.empty()) hand.assign(pack.begin(), pack.end());
    const std::size_t next = pick(hand.size());
    if (!fits(hand[next], at)) return;
    hand.erase(hand.begin() + static_cast<std::ptrdiff_t>(next));
  }
}

// Plays it, unless it would last beyond the drill's end.
bool Planner::fits(const Card& card, Duration& at) {
  const std::size_t before = faults_.size();
  const Duration end = card.episode(at);
  if (end > terms_.length) {
    faults_.resize(before);
    return false;
  }
  at = end + between(card.rest, card.rest + kMoreRest);
  return true;
}

Duration Planner::kill_node(Duration at, std::size_t node) {
  const Duration again = at + between(20ms, 400ms);
  add(at, Fault::kill, node);
  add(again, Fault::start, node);
  return again;
}

// What a lock store without a memory does not survive: most or all of those who knew of a lock
// forget it while it is held, and are there again for the next who asks.
Duration Planner::kill_many(Duration at, std::size_t count) {
  Duration end = at;
  for (const std::size_t node : pick_several(count, terms_.nodes)) {
    const Duration killed = at + between(0ms, kBurst);
    const Duration again = killed + between(5ms, kBurst);
    add(killed, Fault::kill, node);
    add(again, Fault::start, node);
    end = std::max(end, again);
  }
  return end;
}

Duration Planner::stop(Duration at, PlannedFault victim, Duration length) {
  victim.at = at;
  victim.fault = Fault::stop;
  add(victim);
  victim.at = at + length;
  victim.fault = Fault::resume;
  add(victim);
  return at + length;
}

Duration Planner::cut_client(Duration at) {
  using Whom = PlannedFault::Whom;
  const bool is_door = terms_.doors > 0;
  const std::vector<std::size_t> client = {pick(is_door ? terms_.doors : terms_.clients)};
  const PlannedFault::Way way = pick_way();
  const Duration end = at + ttls(1.1, 1.5);
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    PlannedFault fault{.at = at,
                       .fault = Fault::cut,
                       .victim = node,
                       .clients = client,
                       .clients_are = is_door ? Whom::door : Whom::client,
                       .way = way};
    add(fault);
    fault.at = end;
    fault.fault = Fault::heal;
    add(fault);
  }
  return end;
}

std::vector<std::size_t> Planner::pick_several(std::size_t count, std::size_t of) {
  std::vector<std::size_t> all(of);
  for (std::size_t i = 0; i < of; ++i) all[i] = i;
  for (std::size_t i = 0; i < count; ++i) std::swap(all[i], all[i + random_.below(of - i)]);
  all.resize(count);
  return all;
}

Duration Planner::between(Duration least, Duration most) {
  const auto span = static_cast<std::uint64_t>(floor_ms(most - least));
  return least + std::chrono::milliseconds(random_.below(span + 1));
}

Duration Planner::ttls(double least, double most) {
  const auto ttl_ms = static_cast<double>(floor_ms(terms_.ttl));
  const auto share = [&](double of) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(ttl_ms * of));
  };
  return between(share(least), share(most));
}

std::vector<PlannedFault> Planner::take() {
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const PlannedFault& a, const PlannedFault& b) { return a.at < b.at; });
  return std::move(faults_);
}

}  // namespace redlock::drill
