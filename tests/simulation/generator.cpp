#include "tests/simulation/generator.h"

#include "coordinator/link/node_facts.h"
#include "server/locks/fence.h"
#include "tests/simulation/chances.h"
#include "tests/simulation/doors/door_plan.h"
#include "tests/simulation/forms.h"
#include "tests/simulation/roster_plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kLateChances = 0x6c61746521;  // apart from those of all other seeds
constexpr unsigned kUsers = 2;                        // of single nodes: enough to contend

bool is_late(Deed deed) {
  return deed >= kFirstLateDeed;
}

class Generator : private Chances {
 public:
  Generator(std::uint64_t seed, const Mix& mix) : Chances(seed), mix_(mix) {
    scenario_.seed = seed;
  }

  Scenario make() {
    make_group();
    make_times();
    if (mix_.rosters) leave_time_for_changes();
    for (unsigned client = 1; client <= scenario_.clients; ++client) make_wants(client);
    wants_ = scenario_.events.size();
    choose_faults();
    if (!kinds_.empty()) make_faults();
    for (const Deed deed : mix_.also) make_more(deed);
    if (mix_.counters_apart) set_counters_apart();
    if (std::any_of(mix_.faults.begin(), mix_.faults.end(), is_late)) make_late();
    if (mix_.rosters) add_rosters(scenario_, disks_lost_);
    if (mix_.doors) add_doors(scenario_);
    std::stable_sort(scenario_.events.begin(), scenario_.events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    return std::move(scenario_);
  }

 private:
  bool has(Deed deed) const {
    return std::find(kinds_.begin(), kinds_.end(), deed) != kinds_.end();
  }
  Deed some_kind() { return kinds_[below(kinds_.size())]; }
  unsigned some_node() { return static_cast<unsigned>(between(1, scenario_.nodes)); }
  unsigned some_client() { return static_cast<unsigned>(between(1, scenario_.clients)); }
  // Often just when a lock was wanted: between two steps of something a fault does most.
  TrueTime some_time() {
    const TrueTime any(Duration(below(static_cast<std::uint64_t>(scenario_.length.count()))));
    if (!one_in(3)) return any;
    const Event& want = scenario_.events[below(wants_)];
    return want.at + ms_between(0, 100);
  }
  // Mostly short; some as long as a lock lives.
  Duration some_length() { return one_in(3) ? ms_between(200, 2500) : ms_between(5, 300); }

  void make_group();
  void make_times();
  void leave_time_for_changes();
  std::int64_t some_rate();
  void make_wants(unsigned client);
  void choose_faults();
  void make_faults();
  void make_burst();
  void make_blackout(Deed deed);
  void make_partition();
  // victim: the node, when it is a fault of nodes; 0: any.
  void add_fault(Deed deed, TrueTime at, unsigned victim = 0);
  void aim(Event& event, unsigned victim);
  void make_more(Deed deed);
  void swap_under_way(Event& event);
  void set_counters_apart();
  void make_late();
  void make_odd();
  void choose_first_key();
  void release_what_is_kept();
  void replace_all();
  void make_late(Deed deed);
  void make_asks();
  void make_crashes(unsigned node);
  bool may_lose_disk(unsigned node);

  const Mix& mix_;
  Scenario scenario_;
  std::size_t wants_ = 0;  // the first so many of its events
  std::vector<Deed> kinds_;
  std::vector<unsigned> disks_lost_;
};

void Generator::make_group() {
  scenario_.nodes = mix_.nodes.value_or(one_in(3) ? 3 : 5);
  scenario_.clients = mix_.clients.value_or(static_cast<unsigned>(between(2, 4)));
  scenario_.keys = one_in(3) ? 2 : 1;
  scenario_.drift_millionths = one_of(std::array<std::int64_t, 3>{10'000, 50'000, 200'000});
  scenario_.fence_block = one_of(std::array<std::uint64_t, 3>{8, 64, 1'048'576});
  scenario_.clocks_hold = mix_.clocks_hold;
  for (unsigned i = 0; i < scenario_.nodes; ++i) scenario_.node_rates.push_back(some_rate());
  for (unsigned i = 0; i < scenario_.clients; ++i) scenario_.client_rates.push_back(some_rate());
}

// Within the bound (rule C1), and often at its ends.
std::int64_t Generator::some_rate() {
  if (one_in(3)) return 0;
  if (one_in(2)) return scenario_.drift_millionths;
  return static_cast<std::int64_t>(
      below(static_cast<std::uint64_t>(scenario_.drift_millionths) + 1));
}

void Generator::make_times() {
  scenario_.length = ms_between(2000, 8000);
  scenario_.max_ttl = ms_between(1000, 4000);
  scenario_.delay_min = std::chrono::microseconds(between(100, 2000));
  scenario_.delay_max =
      scenario_.delay_min + one_of(std::array<milliseconds, 4>{milliseconds(1), milliseconds(5),
                                                               milliseconds(20), milliseconds(80)});
  // Longer than a round trip takes when nothing is wrong, by true time. What turns take, and a fast
  // clock, may make it too short: that is trouble as any other,
  // which ends with the faults (calm.h).
  scenario_.node_timeout = 2 * scenario_.delay_max + ms_between(20, 300);
  scenario_.resent_per_thousand = one_in(2) ? 0 : static_cast<unsigned>(below(30));
  scenario_.disk_sync_max =
      one_of(std::array<milliseconds, 3>{milliseconds(2), milliseconds(20), milliseconds(300)});
}

// Between two changes lies the life of a lock (rule G3).
void Generator::leave_time_for_changes() {
  scenario_.max_ttl = 500ms + scenario_.max_ttl / 2;
  scenario_.length += 5s;
}

void Generator::make_wants(unsigned client) {
  const std::uint64_t pause_max = one_of(std::array<std::uint64_t, 3>{400, 1200, 4000});
  TrueTime at{ms_between(0, 500)};
  while (at.time_since_epoch() < scenario_.length) {
    Event event{.at = at, .deed = Deed::want, .client = client};
    event.key = static_cast<unsigned>(between(1, scenario_.keys));
    const auto ttl_max = static_cast<std::uint64_t>(floor_ms(scenario_.max_ttl));
    event.ttl = one_in(4) ? scenario_.max_ttl : ms_between(200, ttl_max);
    event.wait = one_in(3) ? milliseconds(0) : ms_between(0, 4000);
    event.holding =
        one_of(std::array<Holding, 3>{Holding::release, Holding::run_out, Holding::keep});
    event.length = event.holding == Holding::run_out ? milliseconds(0) : ms_between(1, 2500);
    event.fence = !one_in(8);
    scenario_.events.push_back(event);
    at += ms_between(20, pause_max);
  }
}

void Generator::choose_faults() {
  std::vector<Deed> early = mix_.faults;
  std::erase_if(early, is_late);
  for (const Deed deed : early) {
    if (one_in(3)) kinds_.push_back(deed);
  }
  if (kinds_.empty() && !early.empty()) kinds_.push_back(early[below(early.size())]);
}

void Generator::make_faults() {
  const std::uint64_t most = one_in(2) ? 5 : 20;
  for (std::uint64_t i = between(1, most); i > 0; --i) {
    const Deed deed = some_kind();
    add_fault(deed, some_time());
  }
  if (one_in(2)) make_burst();
  for (const Deed deed : {Deed::power_loss, Deed::kill, Deed::stop}) {
    if (has(deed) && one_in(3)) make_blackout(deed);
  }
  if (has(Deed::cut) && one_in(2)) make_partition();
}

// Faults that come one upon the other, as the second crash does within the delay of the first;
// often all at one node.
void Generator::make_burst() {
  const TrueTime begin = some_time();
  const std::uint64_t width = one_of(std::array<std::uint64_t, 3>{10, 200, 1500});
  const unsigned victim = one_in(2) ? some_node() : 0;
  for (std::uint64_t i = between(2, 6); i > 0; --i) {
    const Deed deed = some_kind();
    add_fault(deed, begin + ms_between(0, width), victim);
  }
}

// All nodes at once, and perhaps again while they start, the same way or by a power loss.
void Generator::make_blackout(Deed deed) {
  const Duration down = ms_between(50, 500);
  TrueTime at = some_time();
  for (std::uint64_t i = between(1, 3); i > 0; --i) {
    for (unsigned node = 1; node <= scenario_.nodes; ++node) {
      scenario_.events.push_back({.at = at, .deed = deed, .node = node, .length = down});
    }
    const std::uint64_t width = one_in(2) ? 40 : 1500;
    at += down + ms_between(0, width);
    if (has(Deed::power_loss) && one_in(3)) deed = Deed::power_loss;
  }
}

// A client reaches some of the nodes alone, and perhaps one of them by two addresses.
void Generator::make_partition() {
  const TrueTime at = some_time();
  const Duration length = ms_between(300, 5000);
  const unsigned client = some_client();
  unsigned reached = 0;
  for (unsigned node = 1; node <= scenario_.nodes; ++node) {
    Event event{.at = at, .deed = Deed::cut, .client = client, .node = node, .length = length};
    if (one_in(2)) {
      scenario_.events.push_back(event);
    } else if (std::exchange(reached, node) != 0 && has(Deed::mislead) && one_in(2)) {
      event.deed = Deed::mislead;
      event.other = node == 1 ? scenario_.nodes : node - 1;
      scenario_.events.push_back(event);
    }
  }
}

void Generator::add_fault(Deed deed, TrueTime at, unsigned victim) {
  Event event{.at = at, .deed = deed};
  event.length = some_length();
  aim(event, victim);
  if (deed == Deed::lose_disk && !may_lose_disk(event.node)) return;
  scenario_.events.push_back(event);
}

void Generator::make_more(Deed deed) {
  for (std::uint64_t i = between(1, 4); i > 0; --i) {
    Event event{.at = some_time(), .deed = deed, .client = some_client()};
    event.length = some_length();
    if (deed == Deed::swap) {
      swap_under_way(event);
    } else {
      event.other = some_client();
      event.key = static_cast<unsigned>(between(1, scenario_.keys));
    }
    scenario_.events.push_back(event);
  }
}

// While something is asked: just after a want, or when what it got is extended first. A third node
// is out of reach, so that the two make the quorum, and the answers of one are late.
void Generator::swap_under_way(Event& event) {
  const Event& want = scenario_.events[below(wants_)];
  event.client = want.client;
  const Duration later = ms_between(0, 60);  // drawn apart, as compilers differ within a sum
  event.at = want.at + later + (one_in(2) ? want.ttl / 3 : Duration(0));
  event.length = ms_between(300, 5000);
  event.delay = ms_between(0, 250);
  event.node = some_node();
  const auto next = [&](unsigned node) { return node % scenario_.nodes + 1; };
  event.other = next(event.node);
  Event slow{.at = event.at - 5ms, .deed = Deed::slow, .client = event.client};
  slow.node = one_in(2) ? event.node : event.other;
  slow.length = ms_between(100, 1000);
  slow.delay = ms_between(5, 150);
  scenario_.events.push_back(slow);
  unsigned node = event.other;
  for (unsigned out = scenario_.nodes - scenario_.nodes / 2 - 1; out > 0; --out) {
    node = next(node);
    if (node == event.node) break;
    Event cut{.at = event.at - 10ms, .deed = Deed::cut, .client = event.client, .node = node};
    cut.length = ms_between(1000, 8000);
    scenario_.events.push_back(cut);
  }
}

// Near, at the leap bound, and beyond it (rules F1, F3, F6).
void Generator::set_counters_apart() {
  constexpr auto kLeap = static_cast<std::int64_t>(kLeapMax);
  for (unsigned node = 1; node <= scenario_.nodes; ++node) {
    scenario_.counters.push_back(
        one_of(std::array<std::int64_t, 5>{0, 0, 1000, kLeap / 2, 2 * kLeap}));
  }
}

void Generator::make_late() {
  static_cast<Chances&>(*this) = Chances(scenario_.seed ^ kLateChances);
  make_odd();
  for (const Deed deed : mix_.faults) {
    if (!is_late(deed)) continue;
    if (deed == Deed::ask && one_in(2)) make_asks();
    if (deed == Deed::ask || !one_in(4)) continue;
    for (std::uint64_t i = between(1, 4); i > 0; --i) make_late(deed);
  }
  if (one_in(8)) make_more(Deed::swap);
  if (one_in(4)) release_what_is_kept();
  const bool replaces =
      std::find(mix_.faults.begin(), mix_.faults.end(), Deed::replace_node) != mix_.faults.end();
  if (replaces && one_in(24)) replace_all();
}

// Often its holder's connections are new then: no node has told it on those that it holds the lock.
void Generator::release_what_is_kept() {
  for (std::uint64_t i = between(1, 4); i > 0; --i) {
    const Event& want = scenario_.events[below(wants_)];
    if (want.holding != Holding::keep) continue;
    Event event{.at = want.at + ms_between(50, 1500),
                .deed = Deed::release_for,
                .client = want.client % scenario_.clients + 1,
                .other = want.client,
                .key = want.key};
    event.length = some_length();
    const TrueTime before = event.at - ms_between(0, 50);
    const bool is_known = one_in(2);
    for (unsigned node = 1; node <= scenario_.nodes && !is_known; ++node) {
      scenario_.events.push_back(
          {.at = before, .deed = Deed::hang_up, .client = event.other, .node = node});
    }
    scenario_.events.push_back(event);
  }
}

// The group loses all that it knew, and an operator has to vouch for its floor.
void Generator::replace_all() {
  const TrueTime at = some_time();
  for (unsigned node = 1; node <= scenario_.nodes; ++node) {
    Event event{.at = at, .deed = Deed::replace_node, .node = node, .length = ms_between(5, 300)};
    scenario_.events.push_back(event);
  }
}

// Of the counters of a node for its keys, the first and the last.
void Generator::choose_first_key() {
  const std::size_t slot = one_in(2) ? 0 : server::Fence::kSlots - 1;
  scenario_.first_key = below(1'000'000);
  while (server::Fence::slot_of(fmt::format("key{}", scenario_.first_key + 1)) != slot) {
    ++scenario_.first_key;
  }
}

void Generator::make_odd() {
  if (one_in(3)) scenario_.pieces_per_thousand = static_cast<unsigned>(between(20, 1000));
  if (one_in(4)) scenario_.turn_max = ms_between(1, 20);
  if (one_in(3)) scenario_.ttl_window = ms_between(200, 3000);
  scenario_.hear_everyone = one_in(4);
  scenario_.plain = one_in(12);
  if (one_in(8)) choose_first_key();
}

void Generator::make_late(Deed deed) {
  Event event{.at = some_time(), .deed = deed};
  event.length = some_length();
  const bool is_of_client = deed == Deed::hand_over || deed == Deed::suspend_client;
  if (is_of_client) event.client = some_client();
  if (!is_of_client) event.node = some_node();
  if (deed == Deed::faulty_disk) {
    event.other = static_cast<unsigned>(between(1, 4));
    event.length *= 3;
    make_crashes(event.node);
  } else if (deed == Deed::set_max_ttl) {
    event.delay = ms_between(700, 6000);
    make_crashes(event.node);
  } else if (deed == Deed::hand_over) {
    const Event& want = scenario_.events[below(wants_)];
    event.at = want.at + ms_between(20, 600);
    event.other = want.client;
    event.key = want.key;
    event.holding = one_in(2) ? Holding::keep : Holding::release;
  } else if (deed == Deed::replace_node && !may_lose_disk(event.node)) {
    return;
  }
  scenario_.events.push_back(event);
}

// Two users contend for the locks of one node, most of the time, and that one crashes.
void Generator::make_asks() {
  scenario_.users = kUsers;
  const unsigned favourite = some_node();
  const std::uint64_t pause_max = one_of(std::array<std::uint64_t, 2>{300, 1500});
  for (unsigned user = 1; user <= kUsers; ++user) {
    TrueTime at{ms_between(0, 300)};
    while (at.time_since_epoch() < scenario_.length) {
      Event event{.at = at, .deed = Deed::ask, .client = user};
      event.node = one_in(4) ? some_node() : favourite;
      event.key = static_cast<unsigned>(between(1, scenario_.keys));
      const auto ttl_max = static_cast<std::uint64_t>(floor_ms(scenario_.max_ttl));
      event.ttl = one_in(4) ? scenario_.max_ttl : ms_between(20, one_in(2) ? 300 : ttl_max);
      event.wait = ms_between(0, 3000);
      event.delay = ms_between(10, 150);
      event.holding =
          one_of(std::array<Holding, 3>{Holding::release, Holding::run_out, Holding::keep});
      event.length = ms_between(1, 2500);
      event.form = static_cast<unsigned>(below(forms().size()));
      scenario_.events.push_back(event);
      at += ms_between(20, pause_max);
    }
  }
  make_crashes(favourite);
}

void Generator::make_crashes(unsigned node) {
  for (std::uint64_t i = between(0, 3); i > 0; --i) {
    const Deed deed =
        one_of(std::array<Deed, 4>{Deed::kill, Deed::kill, Deed::power_loss, Deed::stop});
    Event event{.at = some_time(), .deed = deed, .node = node, .length = ms_between(5, 300)};
    scenario_.events.push_back(event);
  }
}

// A group survives the loss of N - quorum ledgers (rule F6).
bool Generator::may_lose_disk(unsigned node) {
  const bool is_new = std::find(disks_lost_.begin(), disks_lost_.end(), node) == disks_lost_.end();
  if (!is_new || disks_lost_.size() + 1 > scenario_.nodes - (scenario_.nodes / 2 + 1)) return false;
  disks_lost_.push_back(node);
  return true;
}

void Generator::aim(Event& event, unsigned victim) {
  event.node = victim != 0 ? victim : some_node();
  event.client = some_client();
  switch (event.deed) {
    case Deed::slow:
      event.delay = ms_between(5, 600);
      break;
    case Deed::mislead:
      event.other = event.node % scenario_.nodes + 1;
      break;
    case Deed::slow_disk:
      event.delay = ms_between(20, 500);
      break;
    case Deed::set_wall:
      event.delay = ms_between(100, 20'000);
      if (one_in(2)) event.delay = -event.delay;
      break;
    case Deed::jump_node:
    case Deed::jump_client:
      event.delay = ms_between(50, 5000);
      if (one_in(4)) event.delay = -event.delay;
      break;
    case Deed::race_node:
    case Deed::race_client:
      event.other = static_cast<unsigned>(between(0, 2000));
      break;
    default:
      break;
  }
  const bool is_of_node = event.deed != Deed::pause_client && event.deed != Deed::kill_client &&
                          event.deed != Deed::jump_client && event.deed != Deed::race_client;
  const bool is_of_client = !is_of_node || (event.deed >= Deed::cut && event.deed <= Deed::mislead);
  if (!is_of_node) event.node = 0;
  if (!is_of_client) event.client = 0;
}

}  // namespace

std::vector<Deed> faults_of(bool clocks_hold) {
  std::vector<Deed> deeds;
  for (int number = 0; number < static_cast<int>(kFirstRosterDeed); ++number) {
    const auto deed = static_cast<Deed>(number);
    const bool is_on_demand = deed >= kFirstDeedOnDemand && deed < kFirstLateDeed;
    if (is_on_demand || (!clocks_hold && is_late(deed))) continue;
    const bool breaks_clocks = deed >= kFirstClockDeed && deed < kFirstDeedOnDemand;
    if (deed == Deed::want || (clocks_hold && breaks_clocks)) continue;
    if (!clocks_hold && deed == Deed::lose_disk) continue;
    deeds.push_back(deed);
  }
  return deeds;
}

std::vector<Deed> faults_on_demand() {
  return {Deed::swap, Deed::release_for};
}

Scenario make_scenario(std::uint64_t seed, const Mix& mix) {
  return Generator(seed, mix).make();
}

}  // namespace redlock::simulation
