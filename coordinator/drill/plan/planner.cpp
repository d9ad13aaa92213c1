#include "coordinator/drill/plan/planner.h"

#include <algorithm>

namespace redlock::coordinator {
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

}  // namespace redlock::coordinator
