#include "tests/simulation/world.h"

#include "tests/simulation/calm.h"
#include "tests/simulation/doors/front.h"
#include "tests/simulation/group_watch.h"
#include "tests/simulation/host.h"
#include "tests/simulation/lock_user.h"
#include "tests/simulation/node_user.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

// More than a connection whose machine went away unheard takes to be given up, and a reconnection
// with its longest backoff, and the retry of an admission.
constexpr Duration kCalmTime = coordinator::Link::kGreetingTimeMax + 4s;
// A free lock is got, and another time kept, within this time once all is calm: a broken
// connection's backoff, twice.
constexpr Duration kProbeTime = 3s;
// One of the commands in a door's lines comes to its end within this time, however slow its turns.
constexpr Duration kCommandTime = 1min;
// A door that asks nothing for so long has come to the end of its lines: between two commands of
// one it may have nothing open.
constexpr Duration kDoorQuiet = 1s;
// Nodes are looked at for what they should not have any more.
constexpr Duration kLookEvery = 200ms;
// That a scenario asks for.
constexpr Duration kShortestTtl = 200ms;
// A release that has to be sent anew is there within this time: the longest backoff,
// some lost segments.
constexpr Duration kReleaseTime = 1700ms;
// What a node takes, after its fault, until it executes requests: some syncs.
constexpr Duration kStartTime = 1500ms;
// When the faults have ended, a group has come to rest after so many of its longest delays: each
// lost ledger is another epoch (rules G3, G4).
constexpr int kSettlingDelays = 6;

class World {
 public:
  World(const Scenario& scenario, Story::Telling telling)
      : scenario_(scenario), story_(telling), network_(agenda_, story_, scenario_) {
    const Surroundings surroundings{scenario_, agenda_, story_, referee_, network_, rosters_};
    for (unsigned number = 1; number <= scenario_.nodes; ++number) {
      hosts_.push_back(std::make_unique<Host>(surroundings, number));
      network_.add_node(*hosts_.back());
    }
    for (unsigned number = 1; number <= scenario_.clients; ++number) {
      users_.push_back(std::make_unique<LockUser>(surroundings, number));
      network_.add_client(*users_.back());
    }
    for (unsigned number = 1; number <= scenario_.users; ++number) {
      node_users_.push_back(std::make_unique<NodeUser>(surroundings, number));
      network_.add_client(*node_users_.back());
    }
    if (scenario_.doors > 0) front_.emplace(surroundings);
    const bool is_late = scenario_.late_replies_per_thousand > 0;
    if (!scenario_.clocks_hold || is_late) referee_.expect_overlaps();
  }

  Outcome run() {
    for (const auto& host : hosts_) host->start();
    for (const auto& user : users_) user->start();
    if (front_) front_->start();
    for (const Event& event : scenario_.events) {
      agenda_.at(event.at, [this, &event] { happen(event); });
    }
    agenda_.after(kLookEvery, [this] { look_for_debts(); });
    // Where clocks break their bounds nothing is promised but tokens; where counters are apart, not
    // that every node is admitted without an operator (rule F6).
    const bool is_calm = pass(scenario_.length) && calm_down();
    if (is_calm && scenario_.clocks_hold && scenario_.counters.empty()) look_after_calm();
    return outcome();
  }

 private:
  Host& node(const Event& event) { return *hosts_[event.node - 1]; }
  LockUser& client(const Event& event) { return *users_[event.client - 1]; }
  Duration largest_max_ttl() const;

  void happen(const Event& event);
  void note_trouble(const Event& event);
  void look_for_debts();
  void happen_to_node(const Event& event);
  void happen_to_client(const Event& event);
  void happen_to_network(const Event& event);
  // False: a violation was found meanwhile, and the run is over.
  bool pass(Duration length);
  bool calm_down();
  bool let_doors_finish();
  bool settle_group();
  bool come_to_rest();
  void look_after_calm();
  bool probe_all();
  void look_for_leftovers();
  void look_for_unfenced();
  bool is_new_group() const;
  void rescue();
  void admit(const coordinator::OperatorsFloor& by_operator,
             coordinator::AdmissionOutcome expected);
  Outcome outcome();

  const Scenario& scenario_;
  const Calm calm_{scenario_};
  Agenda agenda_;
  Story story_;
  Referee referee_{agenda_, story_};
  Network network_;
  RosterJudge rosters_{agenda_, story_, referee_};
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<LockUser>> users_;
  std::vector<std::unique_ptr<NodeUser>> node_users_;
  std::optional<Front> front_;
  GroupWatch group_{scenario_, rosters_, hosts_, users_};
  bool is_stuck_ = false;
  std::uint64_t network_faults_ = 0;
  std::map<std::pair<unsigned, unsigned>, TrueTime> trouble_until_;  // by client and node
};

// Until when a fault may keep a client and a node from each other.
void World::note_trouble(const Event& event) {
  if (event.deed == Deed::want || event.deed == Deed::ask) return;
  if (event.deed >= kFirstDoorDeed) return;
  const bool is_moment = event.deed == Deed::hang_up;
  const Duration lasts = is_moment ? 0ns : event.length + event.delay + kStartTime;
  const TrueTime until = agenda_.now() + lasts;
  for (unsigned client = 1; client <= scenario_.clients; ++client) {
    for (unsigned node = 1; node <= scenario_.nodes; ++node) {
      if (event.client != 0 && event.client != client) continue;
      const bool is_of_node = event.node == 0 || event.node == node || event.other == node;
      if (!is_of_node) continue;
      TrueTime& known = trouble_until_[{client, node}];
      known = std::max(known, until);
    }
  }
}

// Rule Q3: nodes must not be left with what nobody wants any more, when there is nothing to stop
// the release. What arrived before its lock, on another connection, is a ghost that its TTL ends.
void World::look_for_debts() {
  agenda_.after(front_ ? kLookEvery / 4 : kLookEvery, [this] { look_for_debts(); });
  if (!scenario_.clocks_hold) return;
  for (const auto& host : hosts_) host->look_at_lines();
  std::vector<std::string> all_values;
  const Duration time = kReleaseTime + 10 * scenario_.delay_max + 8 * scenario_.disk_sync_max +
                        40 * scenario_.turn_max;
  for (unsigned node = 1; node <= scenario_.nodes; ++node) {
    for (const std::string& value : hosts_[node - 1]->values()) {
      if (front_) all_values.push_back(value);
      const auto debt = referee_.debt(value, node);
      if (!debt || !group_.is_member_for_good(node)) continue;
      const TrueTime trouble = std::max(trouble_until_[{debt->client, node}],
                                        users_[debt->client - 1]->changed_nodes_at());
      // The release is owed for no longer than the lock would have lived.
      if (trouble > debt->since + kShortestTtl) continue;
      if (agenda_.now() < std::max(debt->since, trouble) + time) continue;
      referee_.found(Breach::undone,
                     fmt::format("node {} still holds what client {} gave up at {}: nothing kept "
                                 "the release from it",
                                 node, debt->client, seconds_text(debt->since.time_since_epoch())));
    }
  }
  if (front_) front_->look_for_kept(all_values);
}

void World::happen(const Event& event) {
  note_trouble(event);
  story_.note(agenda_.now(), deed_name(event.deed));
  happen_to_node(event);
  happen_to_client(event);
  happen_to_network(event);
  if (front_ && event.deed >= kFirstDoorDeed) front_->happen(event);
}

void World::happen_to_node(const Event& event) {
  const TrueTime until = agenda_.now() + event.length;
  switch (event.deed) {
    case Deed::kill:
      return node(event).kill(event.length);
    case Deed::power_loss:
      return node(event).lose_power(event.length);
    case Deed::lose_disk:
      return node(event).lose_disk(event.length);
    case Deed::stop:
      return node(event).stop_cleanly(event.length);
    case Deed::pause_node:
      return node(event).pause(until);
    case Deed::replace_node:
      return node(event).replace(event.length);
    case Deed::faulty_disk:
      return node(event).fail_disk_calls(event.other, until);
    case Deed::suspend_node:
      return node(event).suspend(until);
    case Deed::set_max_ttl:
      return node(event).set_max_ttl(event.delay);
    case Deed::slow_disk:
      return node(event).slow_disk(event.delay, until);
    case Deed::broken_disk:
      return node(event).break_disk(until);
    case Deed::set_wall:
      return node(event).set_wall(event.delay);
    case Deed::jump_node:
      return node(event).jump(event.delay);
    case Deed::race_node:
      return node(event).race(std::int64_t{event.other} * 1000);
    default:
      return;
  }
}

void World::happen_to_client(const Event& event) {
  const TrueTime until = agenda_.now() + event.length;
  switch (event.deed) {
    case Deed::want:
      return client(event).want(event);
    case Deed::ask:
      return node_users_[event.client - 1]->ask(event);
    case Deed::pause_client:
      return client(event).pause(until);
    case Deed::suspend_client:
      return client(event).suspend(until);
    case Deed::kill_client:
      return client(event).kill(event.length);
    case Deed::jump_client:
      return client(event).jump(event.delay);
    case Deed::race_client:
      return client(event).race(std::int64_t{event.other} * 1000);
    case Deed::release_for:
      if (event.client == event.other) return;
      return client(event).release_for(users_[event.other - 1]->give_away(event.key), event.length);
    case Deed::hand_over:
      if (event.client == event.other) return;
      return client(event).go_on_with(users_[event.other - 1]->hand_away(event.key), event);
    case Deed::change:
      return group_.change(event);
    case Deed::relist:
      return group_.relist(event);
    default:
      return;
  }
}

void World::happen_to_network(const Event& event) {
  const bool is_of_network =
      (event.deed >= Deed::cut && event.deed <= Deed::mislead) || event.deed == Deed::swap;
  if (!is_of_network) return;
  ++network_faults_;
  const TrueTime until = agenda_.now() + event.length;
  const unsigned from = event.client, to = event.node;
  if (story_.tells_events()) {
    story_.tell(agenda_.now(), "network", std::nullopt, write_event(event));
  }
  switch (event.deed) {
    case Deed::cut:
      network_.cut(from, to, Network::to_client, until);
      return network_.cut(from, to, Network::to_node, until);
    case Deed::cut_requests:
      return network_.cut(from, to, Network::to_node, until);
    case Deed::cut_replies:
      return network_.cut(from, to, Network::to_client, until);
    case Deed::hang_up:
      return network_.hang_up(from, to);
    case Deed::slow:
      return network_.slow(from, to, event.delay, until);
    case Deed::mislead:
      network_.mislead(from, to, event.other);
      return agenda_.at(until, [=, this] { network_.mislead(from, to, to); });
    case Deed::swap:
      network_.mislead(from, to, event.other);
      agenda_.after(event.delay,
                    [=, this, other = event.other] { network_.mislead(from, other, to); });
      agenda_.at(until, [=, this] { network_.mislead(from, to, to); });
      return agenda_.at(until + event.delay,
                        [=, this, other = event.other] { network_.mislead(from, other, other); });
    default:
      return;
  }
}

bool World::pass(Duration length) {
  const TrueTime end = agenda_.now() + length;
  while (!referee_.violation() && agenda_.step(end)) {
  }
  return !referee_.violation();
}

// Until no lock and no delay of before can be left (rules R, L1, F7).
bool World::calm_down() {
  network_.heal(calm_);
  for (const auto& host : hosts_) host->heal(calm_);
  for (const auto& user : users_) user->heal();
  for (const auto& user : users_) user->stop_wanting();
  for (const auto& user : node_users_) user->stop_wanting();
  if (front_) front_->calm_down(calm_);
  if (!pass(server::full_delay(largest_max_ttl(), scenario_.drift()) + kCalmTime)) return false;
  return !front_ || let_doors_finish();
}

// What wants one key stands in a door's line, also what its client no longer waits for (rules D5,
// D10). Nobody promises how long a line takes, but that it goes on; and what it took for who has
// gone is given back, unless the command does more than take: that lock lives as long as it was
// asked for, and may have been taken last of all.
bool World::let_doors_finish() {
  std::size_t fewest = front_->commands() + 1;
  TrueTime busy_at = agenda_.now();
  for (TrueTime fewer_at = busy_at; agenda_.now() < busy_at + kDoorQuiet;) {
    if (front_->commands() < fewest) fewer_at = agenda_.now();
    fewest = std::min(fewest, front_->commands());
    if (!pass(kLookEvery)) return false;
    if (!front_->is_busy()) continue;
    busy_at = agenda_.now();
    if (busy_at < fewer_at + kCommandTime) continue;
    referee_.found(Breach::left_over, "a door is busy when all is over");
    return false;
  }
  return pass(stretch(largest_max_ttl(), scenario_.drift()) + kProbeTime);
}

Duration World::largest_max_ttl() const {
  Duration largest = std::max(scenario_.max_ttl, scenario_.spare_max_ttl);
  for (const Event& event : scenario_.events) {
    if (event.deed == Deed::set_max_ttl) largest = std::max(largest, event.delay);
  }
  return largest;
}

// Who wants nothing need not know of a newer roster: so everybody does, and only then has to go by
// it. And an operator, who has time now, must still come to another one.
bool World::settle_group() {
  if (!come_to_rest()) return false;
  const std::uint64_t epoch = rosters_.newest().epoch;
  const auto last = group_.last_change();
  if (!last) return true;
  group_.change(*last);
  if (!come_to_rest()) return false;
  if (rosters_.newest().epoch > epoch) return true;
  referee_.found(Breach::behind,
                 fmt::format("when all is over nobody can bring the group to epoch {}", epoch + 1));
  return false;
}

bool World::come_to_rest() {
  const Event knock{.key = 1, .length = 1ms, .ttl = calm_.probe_ttl(), .wait = kProbeTime};
  for (int delay = 0; delay < kSettlingDelays; ++delay) {
    group_.repeat_first_change();
    group_.correct_lists();
    if (!pass(1s)) return false;
    for (unsigned client = 1; client <= scenario_.clients; ++client) {
      Event want = knock;
      want.client = client;
      users_[client - 1]->want(want);
    }
    if (!pass(server::full_delay(largest_max_ttl(), scenario_.drift()) + kProbeTime)) return false;
    if (group_.trouble().empty()) return true;
  }
  is_stuck_ = !group_.can_change() || !group_.can_give_tokens();
  if (is_stuck_) return false;
  referee_.found(Breach::behind, fmt::format("when all is over {}", group_.trouble()));
  return false;
}

bool World::probe_all() {
  for (unsigned index = 0; index < users_.size(); ++index) {
    bool has_answer = false;
    const auto probed = [&](bool went_well, const std::string& why) {
      has_answer = true;
      if (went_well) return;
      referee_.found(
          Breach::not_free,
          fmt::format("client {} does not get and keep a free lock: {}", index + 1, why));
    };
    users_[index]->probe(index % scenario_.keys + 1, calm_.probe_ttl(), kProbeTime, probed);
    const TrueTime end = agenda_.now() + 3 * (kProbeTime + 2 * calm_.probe_ttl());
    while (!has_answer && agenda_.step(end)) {
    }
    if (!has_answer) {
      referee_.found(Breach::not_free, fmt::format("client {} waits for ever", index + 1));
    }
    if (!pass(100ms)) return false;
  }
  return true;
}

// What is left of a key is looked for before the probes too: they take its place. That a node lost
// its ledger is noticed by those who talk to it (rule F6), so after a probe by every client: one
// that wants nothing may not even know that the other end of its connection is gone.
void World::look_after_calm() {
  if (scenario_.members > 0 && !settle_group()) return;
  look_for_leftovers();
  if (!referee_.violation() && is_new_group()) rescue();
  if (referee_.violation() || !probe_all()) return;
  if (front_ && !front_->probe_all(calm_.probe_ttl(), [this](Duration time) { return pass(time); }))
    return;
  if (!pass(stretch(largest_max_ttl(), scenario_.drift()) + 1s)) return;
  look_for_leftovers();
  if (scenario_.plain) return;
  look_for_unfenced();
  admit({}, coordinator::AdmissionOutcome::done);  // there is nothing left to do
}

// Every node was replaced by another, so that none of them can tell a floor (rule F6).
bool World::is_new_group() const {
  std::set<unsigned> replaced;
  for (const Event& event : scenario_.events) {
    if (event.deed == Deed::replace_node) replaced.insert(event.node);
  }
  return replaced.size() == scenario_.nodes && !scenario_.plain;
}

// An operator's command is a process of its own. The connections of a client that wanted nothing
// may still lead to the nodes of before.
void World::rescue() {
  using coordinator::AdmissionOutcome;
  users_.front()->restart();
  if (!pass(coordinator::Link::kGreetingTimeMax)) return;
  admit({}, AdmissionOutcome::needs_operator);
  admit({.new_group = true, .floor = {}}, AdmissionOutcome::floor_needed);
  Token floor = referee_.largest_token();
  for (const auto& host : hosts_) floor = std::max(floor, host->counter());
  admit({.new_group = true, .floor = floor}, AdmissionOutcome::done);
}

void World::admit(const coordinator::OperatorsFloor& by_operator,
                  coordinator::AdmissionOutcome expected) {
  if (referee_.violation()) return;
  bool has_answer = false;
  users_.front()->admit(by_operator, [&](coordinator::AdmissionOutcome outcome) {
    has_answer = true;
    if (outcome == expected) return;
    referee_.found(Breach::left_over,
                   fmt::format("an operator's admission comes to {} instead of {}",
                               static_cast<int>(outcome), static_cast<int>(expected)));
  });
  const TrueTime end = agenda_.now() + 2 * coordinator::kStoreTimeMin;
  while (!has_answer && !referee_.violation() && agenda_.step(end)) {
  }
}

void World::look_for_leftovers() {
  for (unsigned index = 0; index < hosts_.size(); ++index) {
    const std::string leftovers = hosts_[index]->leftovers();
    if (leftovers.empty()) continue;
    referee_.found(Breach::left_over,
                   fmt::format("node {}, when all is over: {}", index + 1, leftovers));
  }
}

void World::look_for_unfenced() {
  for (unsigned index = 0; index < hosts_.size(); ++index) {
    if (hosts_[index]->is_fenced() || !group_.is_member(index + 1)) continue;
    referee_.found(Breach::left_over, fmt::format("node {}, when all is over: it lost its ledger "
                                                  "and was not admitted",
                                                  index + 1));
  }
}

Outcome World::outcome() {
  Outcome outcome;
  outcome.violation = referee_.violation();
  outcome.hash = story_.hash();
  outcome.steps = agenda_.steps();
  outcome.faults = network_faults_;
  for (const auto& host : hosts_) {
    outcome.faults += host->faults();
    outcome.called += host->lines().called();
    outcome.called_before_others += host->lines().called_before_others();
  }
  const auto add_locks = [&outcome](const auto& users) {
    outcome.acquired += users.acquired();
    outcome.extended += users.extended();
  };
  for (const auto& user : users_) {
    outcome.faults += user->faults();
    add_locks(*user);
  }
  for (const auto& user : node_users_) add_locks(*user);
  if (front_) {
    outcome.faults += front_->faults();
    add_locks(*front_);
  }
  outcome.overlaps = referee_.overlaps();
  outcome.is_stuck = is_stuck_;
  outcome.simulated = agenda_.now().time_since_epoch();
  outcome.story = story_.lines();
  return outcome;
}

}  // namespace

Outcome run(const Scenario& scenario, Story::Telling telling) {
  World world(scenario, telling);
  return world.run();
}

}  // namespace redlock::simulation
