#include "tests/simulation/doors/door_plan.h"

#include "coordinator/group/requests.h"
#include "coordinator/quorum/padding.h"
#include "tests/simulation/chances.h"
#include "tests/simulation/doors/naive_forms.h"

#include <algorithm>
#include <array>

namespace redlock::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kDoorChances = 0x646f6f7221;

// In this order: forms of any lock, those with a flag, those that count, those in a line.
struct FormCounts {
  std::size_t usual = 0;
  std::size_t flagged = 0;
  std::size_t counting = 0;
  std::size_t in_line = 0;
};

FormCounts form_counts() {
  FormCounts counts;
  for (const NaiveForm& form : naive_forms()) {
    const bool is_in_line = form.waits > 0ns || form.watches;
    ++(form.has_flag ? counts.flagged
       : form.counts ? counts.counting
       : is_in_line  ? counts.in_line
                     : counts.usual);
  }
  return counts;
}

class DoorPlan : private Chances {
 public:
  explicit DoorPlan(Scenario& scenario)
      : Chances(scenario.seed ^ kDoorChances), scenario_(scenario) {}

  void add() {
    scenario_.doors = static_cast<unsigned>(between(1, 3));
    scenario_.naives = static_cast<unsigned>(between(2, 4));
    scenario_.same_values = one_in(2);
    scenario_.shares_keys = one_in(4);
    choose_times();
    leave_out_wants();
    if (one_in(2)) spare_nodes();
    for (unsigned user = 1; user <= scenario_.naives; ++user) make_uses(user);
    if (!one_in(4)) make_faults();
    if (one_in(2)) make_leaves();
    // Drawn after all others, so that what those are in a seed stays what it was.
    if (one_in(4)) make_flags();
    if (one_in(3) && !scenario_.same_values) make_counts();
    if (one_in(4)) make_lines();
    if (one_in(3)) scenario_.door_look_max = one_of(std::array<Duration, 2>{3ms, 120ms});
  }

 private:
  unsigned some_door() { return static_cast<unsigned>(between(1, scenario_.doors)); }
  unsigned some_node() { return static_cast<unsigned>(between(1, scenario_.nodes)); }
  unsigned some_naive() { return static_cast<unsigned>(between(1, scenario_.naives)); }
  TrueTime some_time() {
    const TrueTime any(Duration(below(static_cast<std::uint64_t>(scenario_.length.count()))));
    if (one_in(2)) return any;
    // When something was just asked for. Drawn apart, as compilers differ within a sum.
    const Duration later = ms_between(0, 60);
    return scenario_.events[first_use_ + below(scenario_.events.size() - first_use_)].at + later;
  }
  // As the network knows a door: behind all clients and users.
  unsigned as_client(unsigned door) const { return scenario_.clients + scenario_.users + door; }
  Duration door_max() const;

  void choose_times();
  void leave_out_wants();
  void spare_nodes();
  void make_uses(unsigned user);
  void make_flags();
  void make_counts();
  void make_lines();
  void hurry_answers();
  void make_faults();
  void make_fault(Deed deed);
  void make_leaves();

  Scenario& scenario_;
  std::size_t first_use_ = 0;
};

// Answers of the doors take as long as they may, or longer in one of ten: then two holders are to
// be seen.
void DoorPlan::choose_times() {
  const Duration round_trip = 2 * (scenario_.delay_max + scenario_.turn_max);
  scenario_.acquire_time = one_of(std::array<Duration, 3>{
      round_trip + 50ms, scenario_.node_timeout + 50ms, round_trip + 400ms});
  scenario_.reply_time = one_of(std::array<milliseconds, 3>{10ms, 50ms, 250ms});
  scenario_.front_delay_max = one_in(2) ? scenario_.reply_time : scenario_.reply_time / 4;
  if (one_in(10)) {
    scenario_.acquire_time = 60ms;
    scenario_.reply_time = scenario_.front_delay_max = 10ms;
    scenario_.late_replies_per_thousand = static_cast<unsigned>(between(100, 400));
  }
  if (one_in(2)) {
    scenario_.door_turn_max = one_of(std::array<Duration, 2>{
        scenario_.acquire_time, 3 * scenario_.acquire_time + scenario_.reply_time});
  }
  if (one_in(2)) scenario_.unread_per_thousand = static_cast<unsigned>(between(20, 300));
  // What clients ask for the nodes keep for longer.
  scenario_.max_ttl += scenario_.acquire_time + scenario_.reply_time;
}

Duration DoorPlan::door_max() const {
  const coordinator::DoorTimes times{.acquire_time = scenario_.acquire_time,
                                     .reply_time = scenario_.reply_time,
                                     .clock_drift = scenario_.drift()};
  return coordinator::door_max_ttl(scenario_.max_ttl, times);
}

// The group's own clients are there, and seldom at work, unless they want the same keys.
void DoorPlan::leave_out_wants() {
  std::erase_if(scenario_.events, [this](const Event& event) {
    return event.deed == Deed::want && !one_in(scenario_.shares_keys ? 2 : 6);
  });
  first_use_ = scenario_.events.size();
}

// Who asks while nothing fails elsewhere gets more locks.
void DoorPlan::spare_nodes() {
  std::erase_if(scenario_.events, [](const Event& event) { return event.deed != Deed::want; });
  first_use_ = scenario_.events.size();
}

void DoorPlan::make_uses(unsigned user) {
  const std::uint64_t pause_max = one_of(std::array<std::uint64_t, 2>{300, 1500});
  const bool has_a_door = one_in(3);
  const unsigned its_door = some_door();
  const auto ttl_max = static_cast<std::uint64_t>(std::max<std::int64_t>(floor_ms(door_max()), 60));
  TrueTime at{ms_between(0, 300)};
  while (at.time_since_epoch() < scenario_.length) {
    Event event{.at = at, .deed = Deed::use, .client = user};
    event.other = has_a_door ? its_door : 0;
    event.key = static_cast<unsigned>(between(1, scenario_.keys));
    event.ttl = one_in(4) ? milliseconds(ttl_max) : ms_between(50, one_in(2) ? 400 : ttl_max);
    event.wait = ms_between(0, 4000);
    event.delay = ms_between(1, one_in(2) ? 20 : 150);
    event.holding =
        one_of(std::array<Holding, 3>{Holding::release, Holding::run_out, Holding::keep});
    event.length = ms_between(1, 2500);
    do {
      event.form = static_cast<unsigned>(below(form_counts().usual));
    } while (scenario_.same_values && !naive_forms()[event.form].is_exact);
    scenario_.events.push_back(event);
    at += ms_between(10, pause_max);
  }
}

// Most of what is wanted is counted, and counted on through several doors, often and for long: for
// as long as nodes must keep what is counted, and not much longer.
void DoorPlan::make_counts() {
  const FormCounts counts = form_counts();
  const Duration ttl_min = coordinator::least_time_to_replace(scenario_.node_timeout);
  scenario_.doors = std::max(scenario_.doors, 2u);
  for (Event& event : scenario_.events) {
    if (event.deed != Deed::use || one_in(4)) continue;
    event.form = static_cast<unsigned>(counts.usual + counts.flagged + below(counts.counting));
    event.other = 0;
    event.holding = Holding::keep;
    event.ttl = std::min<Duration>(ttl_min + ms_between(0, 900), door_max());
    event.length = ms_between(100, 4000);
  }
  hurry_answers();
}

// Half of what is wanted goes by a second key, for times that are over soon.
void DoorPlan::make_flags() {
  const FormCounts counts = form_counts();
  for (Event& event : scenario_.events) {
    if (event.deed != Deed::use || !one_in(2)) continue;
    event.form = static_cast<unsigned>(counts.usual + below(counts.flagged));
    event.ttl = std::min<Duration>(event.ttl, ms_between(50, 600));
  }
  hurry_answers();
}

// Most of what is wanted is waited for at the doors, by many at once and for short times.
void DoorPlan::make_lines() {
  const std::size_t count = form_counts().in_line;
  for (Event& event : scenario_.events) {
    if (event.deed != Deed::use || one_in(4)) continue;
    event.form = form_in_line() + static_cast<unsigned>(below(count));
    event.key = 1;
    event.length = std::min<Duration>(event.length, ms_between(1, 300));
  }
  hurry_answers();
}

// Mostly without delays that keep users from meeting what is under way.
void DoorPlan::hurry_answers() {
  if (scenario_.late_replies_per_thousand == 0 && !one_in(3)) {
    scenario_.front_delay_max = std::min<Duration>(scenario_.front_delay_max, 2ms);
  }
}

void DoorPlan::make_faults() {
  constexpr std::array kDeeds = {Deed::pause_door, Deed::suspend_door, Deed::kill_door,
                                 Deed::cut,        Deed::cut_requests, Deed::cut_replies,
                                 Deed::hang_up,    Deed::slow};
  std::vector<Deed> kinds;
  for (const Deed deed : kDeeds) {
    if (one_in(2)) kinds.push_back(deed);
  }
  if (kinds.empty()) return;
  for (std::uint64_t i = between(1, 16); i > 0; --i) make_fault(kinds[below(kinds.size())]);
}

void DoorPlan::make_fault(Deed deed) {
  Event event{.at = some_time(), .deed = deed};
  event.length = one_in(3) ? ms_between(200, 2500) : ms_between(5, 400);
  event.client = some_door();
  if (deed < kFirstDoorDeed) {
    event.client = as_client(event.client);
    event.node = some_node();
    if (deed == Deed::slow) event.delay = ms_between(5, 600);
  }
  scenario_.events.push_back(event);
}

void DoorPlan::make_leaves() {
  for (std::uint64_t i = between(1, 10); i > 0; --i) {
    scenario_.events.push_back({.at = some_time(), .deed = Deed::leave, .client = some_naive()});
  }
}

}  // namespace

void add_doors(Scenario& scenario) {
  DoorPlan(scenario).add();
}

}  // namespace redlock::simulation
