#include "coordinator/drill/faults.h"

#include "base/random.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace redlock::coordinator {
namespace {

constexpr Duration kBegin = 500ms;  // the clients are at work by then
// A majority is killed within this, and started again within as long: well within any hold.
constexpr Duration kBurst = 60ms;

class Planner {
 public:
  explicit Planner(const PlanTerms& terms) : terms_(terms), random_(terms.seed) {}

  std::vector<PlannedFault> plan();

 private:
  // Adds the faults of one episode that begins at `at`, and says when all of it is whole again.
  using Episode = Duration (Planner::*)(Duration at);
  struct Card {
    Episode episode;
    Duration rest;  // at least, before the next one
  };
  void play(std::span<const Card> pack, const Card* first);
  bool fits(const Card& card, Duration& at);

  Duration kill_one(Duration at) { return kill_node(at, pick(terms_.nodes)); }
  Duration kill_two(Duration at);
  Duration kill_majority(Duration at);
  Duration kill_again_and_again(Duration at);
  Duration stop_one(Duration at) { return stop(at, true, pick(terms_.nodes), some_time()); }
  Duration stop_two(Duration at);
  Duration restart_one(Duration at);
  Duration restart_all(Duration at);
  Duration cut_node(Duration at);
  Duration cut_client(Duration at);
  Duration slow_one(Duration at) { return slow(at, pick(terms_.nodes)); }
  Duration slow_two(Duration at);

  Duration pause_long(Duration at);
  Duration pause_short(Duration at);
  Duration kill_client(Duration at);

  Duration kill_node(Duration at, std::size_t node);
  Duration stop(Duration at, bool is_node, std::size_t victim, Duration length);
  Duration slow(Duration at, std::size_t node);
  void add(Duration at, Fault fault, std::size_t node) {
    faults_.push_back({at, fault, true, node});
  }

  std::size_t pick(std::size_t count) { return random_.below(count); }
  std::vector<std::size_t> pick_several(std::size_t count, std::size_t of);
  std::size_t majority() const { return terms_.nodes / 2 + 1; }
  PlannedFault::Way pick_way() { return static_cast<PlannedFault::Way>(random_.below(3)); }
  // Evenly, to the millisecond, so that a plan reads well.
  Duration between(Duration least, Duration most);
  // In shares of the TTL: what matters is whether a lock outlives a fault.
  Duration ttls(double least, double most);
  // From a moment to longer than any lock lives.
  Duration some_time() { return ttls(0.1, 1.5); }

  const PlanTerms& terms_;
  Random random_;
  std::vector<PlannedFault> faults_;
};

std::vector<PlannedFault> Planner::plan() {
  // A kill is followed by a restart delay, of a TTL at most: the rest lets most of it pass.
  const Duration a_little = 100ms;
  const Duration half = terms_.ttl / 2;
  const std::array<Card, 13> nodes = {{{&Planner::kill_majority, terms_.ttl},
                                       {&Planner::kill_majority, terms_.ttl},
                                       {&Planner::kill_one, half},
                                       {&Planner::kill_two, half},
                                       {&Planner::kill_again_and_again, half},
                                       {&Planner::stop_one, a_little},
                                       {&Planner::stop_two, a_little},
                                       {&Planner::restart_one, a_little},
                                       {&Planner::restart_all, a_little},
                                       {&Planner::cut_node, a_little},
                                       {&Planner::cut_client, a_little},
                                       {&Planner::slow_one, a_little},
                                       {&Planner::slow_two, a_little}}};
  const std::array<Card, 5> clients = {{{&Planner::pause_long, a_little},
                                        {&Planner::pause_long, a_little},
                                        {&Planner::pause_long, a_little},
                                        {&Planner::pause_short, a_little},
                                        {&Planner::kill_client, a_little}}};
  play(nodes, &nodes.front());
  play(clients, nullptr);
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const PlannedFault& a, const PlannedFault& b) { return a.at < b.at; });
  return std::move(faults_);
}

// `first` is played before the first pack, as a pack may be longer than the drill.
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
  const Duration end = (this->*card.episode)(at);
  if (end > terms_.length) {
    faults_.resize(before);
    return false;
  }
  at = end + between(card.rest, card.rest + 800ms);
  return true;
}

Duration Planner::kill_node(Duration at, std::size_t node) {
  const Duration again = at + between(20ms, 400ms);
  add(at, Fault::kill, node);
  add(again, Fault::start, node);
  return again;
}

Duration Planner::kill_two(Duration at) {
  const auto victims = pick_several(2, terms_.nodes);
  return std::max(kill_node(at, victims[0]), kill_node(at + between(0ms, 400ms), victims[1]));
}

// What a lock store without a memory does not survive: most of those who knew of a lock forget it
// while it is held, and are there again for the next who asks.
Duration Planner::kill_majority(Duration at) {
  Duration end = at;
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    const Duration killed = at + between(0ms, kBurst);
    const Duration again = killed + between(5ms, kBurst);
    add(killed, Fault::kill, node);
    add(again, Fault::start, node);
    end = std::max(end, again);
  }
  return end;
}

// Within the restart delay that the kill before has caused (rule R3).
Duration Planner::kill_again_and_again(Duration at) {
  const std::size_t node = pick(terms_.nodes);
  for (int i = 0; i < 3; ++i) at = kill_node(at, node) + ttls(0.1, 0.3);
  return at;
}

Duration Planner::stop(Duration at, bool is_node, std::size_t victim, Duration length) {
  faults_.push_back({at, Fault::stop, is_node, victim});
  faults_.push_back({at + length, Fault::resume, is_node, victim});
  return at + length;
}

Duration Planner::stop_two(Duration at) {
  Duration end = at;
  for (const std::size_t node : pick_several(2, terms_.nodes)) {
    end = std::max(end, stop(at + between(0ms, 300ms), true, node, some_time()));
  }
  return end;
}

Duration Planner::restart_one(Duration at) {
  add(at, Fault::restart, pick(terms_.nodes));
  return at + 200ms;
}

// As an upgrade does it: one after the other.
Duration Planner::restart_all(Duration at) {
  for (const std::size_t node : pick_several(terms_.nodes, terms_.nodes)) {
    add(at, Fault::restart, node);
    at += between(400ms, 700ms);
  }
  return at;
}

Duration Planner::cut_node(Duration at) {
  const std::size_t node = pick(terms_.nodes);
  const Duration end = at + ttls(0.3, 1.5);
  faults_.push_back({.at = at, .fault = Fault::cut, .victim = node, .way = pick_way()});
  add(end, Fault::heal, node);
  return end;
}

// One client loses sight of a majority, for long enough to lose what it holds. It runs, and must
// notice.
Duration Planner::cut_client(Duration at) {
  const std::vector<std::size_t> client = {pick(terms_.clients)};
  const PlannedFault::Way way = pick_way();
  const Duration end = at + ttls(1.1, 1.5);
  for (const std::size_t node : pick_several(majority(), terms_.nodes)) {
    faults_.push_back(
        {.at = at, .fault = Fault::cut, .victim = node, .clients = client, .way = way});
    faults_.push_back({.at = end, .fault = Fault::heal, .victim = node, .clients = client});
  }
  return end;
}

Duration Planner::slow(Duration at, std::size_t node) {
  const Duration end = at + ttls(0.5, 1.5);
  faults_.push_back(
      {.at = at, .fault = Fault::slow, .victim = node, .delay = between(10ms, 300ms)});
  add(end, Fault::unslow, node);
  return end;
}

Duration Planner::slow_two(Duration at) {
  const auto victims = pick_several(2, terms_.nodes);
  return std::max(slow(at, victims[0]), slow(at, victims[1]));
}

// Longer than whatever it holds lives: others hold it when the client goes on.
Duration Planner::pause_long(Duration at) {
  return stop(at, false, pick(terms_.clients), ttls(1.1, 2.0));
}

Duration Planner::pause_short(Duration at) {
  return stop(at, false, pick(terms_.clients), ttls(0.05, 0.5));
}

Duration Planner::kill_client(Duration at) {
  const std::size_t client = pick(terms_.clients);
  const Duration again = at + between(50ms, 500ms);
  faults_.push_back({at, Fault::kill, false, client});
  faults_.push_back({again, Fault::start, false, client});
  return again;
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
  const auto share = [&](double of) {
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(static_cast<double>(floor_ms(terms_.ttl)) * of));
  };
  return between(share(least), share(most));
}

}  // namespace

std::vector<PlannedFault> plan_faults(const PlanTerms& terms) {
  return Planner(terms).plan();
}

bool begins_harm(Fault fault) {
  return fault == Fault::kill || fault == Fault::stop || fault == Fault::restart ||
         fault == Fault::cut || fault == Fault::slow;
}

}  // namespace redlock::coordinator
