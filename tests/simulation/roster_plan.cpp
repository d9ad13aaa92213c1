#include "tests/simulation/roster_plan.h"

#include "tests/simulation/chances.h"

#include <algorithm>
#include <array>

namespace redlock::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kRosterChances = 0x726f7374657273;  // apart from those of all else

class RosterPlan : private Chances {
 public:
  RosterPlan(Scenario& scenario, std::vector<unsigned> disks_lost)
      : Chances(scenario.seed ^ kRosterChances),
        scenario_(scenario),
        disks_lost_(std::move(disks_lost)) {}

  void make() {
    leave_out_what_ends_groups();
    make_spares();
    make_first_roster();
    for (std::uint64_t i = between(1, 4); i > 0; --i) make_change(some_time());
    if (one_in(3)) make_changes_in_a_row();
    if (one_in(4)) make_lists();
  }

 private:
  unsigned some_node() { return static_cast<unsigned>(between(1, scenario_.nodes)); }
  unsigned some_client() { return static_cast<unsigned>(between(1, scenario_.clients)); }
  // The first second is for the first roster.
  TrueTime some_time() {
    const auto length = static_cast<std::uint64_t>(floor_ms(scenario_.length));
    return TrueTime(ms_between(1000, length));
  }
  // Of a step of a change: some messages and syncs.
  milliseconds some_steps() { return ms_between(0, one_in(2) ? 40 : 400); }
  void add(const Event& event) { scenario_.events.push_back(event); }

  void leave_out_what_ends_groups();
  void make_spares();
  void make_first_roster();
  void make_change(TrueTime at);
  void make_changes_in_a_row();
  void make_it_hard(const Event& change);
  void lose_ledger(TrueTime at);
  void make_lists();

  Scenario& scenario_;
  std::vector<unsigned> disks_lost_;
};

// A node that comes to be another one leaves its group a member short, and plain Redis servers
// have no roster (rule G7).
void RosterPlan::leave_out_what_ends_groups() {
  scenario_.plain = false;
  std::erase_if(scenario_.events,
                [](const Event& event) { return event.deed == Deed::replace_node; });
}

void RosterPlan::make_spares() {
  scenario_.members = scenario_.nodes;
  scenario_.nodes += static_cast<unsigned>(between(1, 2));
  if (!scenario_.counters.empty()) scenario_.counters.resize(scenario_.nodes);
  for (unsigned node = scenario_.members; node < scenario_.nodes; ++node) {
    const auto bound = static_cast<std::uint64_t>(scenario_.drift_millionths);
    scenario_.node_rates.push_back(one_in(2) ? 0 : static_cast<std::int64_t>(below(bound + 1)));
  }
  scenario_.empty_spares = one_in(3);
  const bool is_short = one_in(2);
  const Duration max_ttl = is_short ? ms_between(300, 1000) : ms_between(700, 2500);
  if (one_in(3)) scenario_.spare_max_ttl = max_ttl;
}

void RosterPlan::make_first_roster() {
  const bool is_rivalled = one_in(8);
  Event first{.at = TrueTime(ms_between(0, 600)), .deed = Deed::change, .client = some_client()};
  add(first);
  if (is_rivalled) {
    first.client = some_client();
    first.at += ms_between(0, 30);
    add(first);
  }
  if (one_in(4)) make_it_hard(first);
}

void RosterPlan::make_change(TrueTime at) {
  Event change{.at = at, .deed = Deed::change, .client = some_client()};
  const std::uint64_t kind = below(6);  // four of them replace
  if (kind != 0) change.node = some_node();
  if (kind != 1) change.other = some_node();
  if (one_in(6)) change.key = 1;
  add(change);
  if (one_in(3)) {
    Event rival = change;
    rival.client = some_client();
    rival.node = some_node();
    rival.at += some_steps();
    add(rival);
  }
  if (one_in(2)) make_it_hard(change);
}

// As soon as each may begin; often away from the same members.
void RosterPlan::make_changes_in_a_row() {
  TrueTime at = some_time();
  const bool shrinks = one_in(2);
  const unsigned client = some_client();
  for (std::uint64_t i = between(2, 3); i > 0; --i) {
    Event change{.at = at, .deed = Deed::change, .client = client, .other = 1};
    if (!shrinks) change.node = some_node();
    add(change);
    at += ms_between(0, 2500);
  }
}

// The operator dies between two steps, or only some are told; who is asked crashes,
// or loses its ledger.
void RosterPlan::make_it_hard(const Event& change) {
  if (one_in(3)) {
    const TrueTime at = change.at + some_steps();
    add({.at = at, .deed = Deed::kill_client, .client = change.client, .length = some_steps()});
  }
  if (one_in(3)) {
    const TrueTime at = change.at + some_steps();
    const Duration length = ms_between(100, 6000);
    const unsigned client = one_in(2) ? change.client : some_client();
    for (unsigned node = 1; node <= scenario_.nodes; ++node) {
      if (one_in(2)) continue;
      add({.at = at, .deed = Deed::cut, .client = client, .node = node, .length = length});
    }
  }
  if (one_in(3)) {
    const Deed deed = one_of(std::array<Deed, 3>{Deed::kill, Deed::power_loss, Deed::stop});
    for (std::uint64_t i = between(1, 3); i > 0; --i) {
      const TrueTime at = change.at + some_steps();
      const Duration length = one_in(3) ? ms_between(500, 6000) : ms_between(5, 300);
      add({.at = at, .deed = deed, .node = some_node(), .length = length});
    }
  }
  if (one_in(4)) lose_ledger(change.at + some_steps());
}

// A group survives the loss of N - quorum ledgers (rule F6).
void RosterPlan::lose_ledger(TrueTime at) {
  const unsigned node = some_node();
  const bool is_new = std::find(disks_lost_.begin(), disks_lost_.end(), node) == disks_lost_.end();
  const unsigned quorum = scenario_.members / 2 + 1;
  if (!is_new || disks_lost_.size() + 1 > scenario_.members - quorum) return;
  disks_lost_.push_back(node);
  add({.at = at, .deed = Deed::lose_disk, .node = node, .length = ms_between(5, 1000)});
}

void RosterPlan::make_lists() {
  for (std::uint64_t i = between(1, 3); i > 0; --i) {
    Event event{.at = some_time(), .deed = Deed::relist, .client = some_client()};
    event.other = static_cast<unsigned>(between(1, (1U << scenario_.nodes) - 1));
    event.length = ms_between(5, 300);
    add(event);
  }
}

}  // namespace

void add_rosters(Scenario& scenario, const std::vector<unsigned>& disks_lost) {
  RosterPlan(scenario, disks_lost).make();
}

}  // namespace redlock::simulation
