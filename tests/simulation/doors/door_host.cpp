#include "tests/simulation/doors/door_host.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

constexpr Instant kDoorsFirstReading{std::chrono::minutes(30)};

coordinator::GroupOptions group_options(const Scenario& scenario) {
  coordinator::GroupOptions options;
  options.node_timeout = scenario.node_timeout;
  options.clock_drift = scenario.drift();
  for (unsigned node = 1; node <= scenario.nodes; ++node) {
    options.nodes.push_back({fmt::format("node{}", node), {}});
  }
  return options;
}

coordinator::FrontDoor::Options door_options(const Scenario& scenario) {
  coordinator::FrontDoor::Options options;
  options.times = {.acquire_time = scenario.acquire_time,
                   .reply_time = scenario.reply_time,
                   .clock_drift = scenario.drift()};
  return options;
}

}  // namespace

DoorHost::DoorHost(const Surroundings& world, Network& front, unsigned number)
    : world_(world),
      front_(front),
      agenda_(world.agenda),
      number_(world.scenario.clients + world.scenario.users + number),
      random_(world.scenario.seed * 32771 + number),
      clock_(agenda_.now(), kDoorsFirstReading,
             world.scenario.client_rates[number % world.scenario.clients]),
      alarm_(agenda_, [this] { on_alarm(); }) {}

DoorHost::~DoorHost() = default;

void DoorHost::start() {
  process_ = std::make_unique<Process>();
  Process& process = *process_;
  process.life = ++lives_;
  process.links.assign(world_.scenario.nodes, std::nullopt);
  coordinator::GroupOptions options = group_options(world_.scenario);
  options.wall_clock = [this] { return kFirstWallTime + (boottime() - kDoorsFirstReading); };
  process.group = std::make_unique<Group>(
      std::move(options), []() -> std::string { INVARIANT(false, "a door makes its values"); },
      random_());
  coordinator::FrontDoor::Environment environment{
      .inspect = [] { return server::ProcessFacts{}; },
      .log = process.log,
      .stopwatch = [this] { return look_at_stopwatch(); },
      .random = [this](std::span<unsigned char> bytes) { fill(bytes); },
      .seed = random_(),
      .run_id = fmt::format("{:040x}", number_ * 1000 + lives_),
      .started_at = monotonic().monotonic};
  process.door = std::make_unique<FrontDoor>(*process.group, *process.group,
                                             door_options(world_.scenario), std::move(environment));
  tell("starts");
  turn([this](Process& started) { started.group->start(boottime()); });
}

void DoorHost::fill(std::span<unsigned char> bytes) {
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_.below(256));
}

// CLOCK_MONOTONIC stands while the machine sleeps, CLOCK_BOOTTIME goes on (rule C3).
Now DoorHost::monotonic() const {
  const Instant now = boottime() - slept_;
  return {now, WallTime(now.time_since_epoch())};
}

// --- turns

void DoorHost::turn(std::function<void(Process&)> what) {
  if (!process_) return;
  if (is_paused() || part_ != Part::none) {
    inbox_.push_back(std::move(what));
    return;
  }
  worked_ = {};
  what(*process_);
  process_->door->act(monotonic(), boottime());
  part_ = Part::acts;
  end_part_after(std::max(turn_time(), worked_));
}

void DoorHost::end_part_after(Duration takes) {
  if (takes == 0ns) return end_part();
  agenda_.after(takes, [this, life = process_->life] {
    if (process_ && process_->life == life && !is_paused()) end_part();
  });
}

// One of many takes long.
Duration DoorHost::turn_time() {
  const auto longest = static_cast<std::uint64_t>(world_.scenario.door_turn_max.count());
  if (longest == 0 || is_calm_) return 0ns;
  const std::uint64_t most = random_.below(16) == 0 ? longest : longest / 64;
  return Duration(random_.below(most + 1));
}

// One of some takes long, such as a script.
Instant DoorHost::look_at_stopwatch() {
  const auto longest = static_cast<std::uint64_t>(world_.scenario.door_look_max.count());
  if (longest > 0 && !is_calm_ && random_.below(4) == 0) {
    worked_ += Duration(random_.below(longest + 1));
  }
  return monotonic().monotonic + worked_;
}

// What takes long begins behind the output, and what it asks goes out when that is over.
void DoorHost::end_part() {
  const Part ended = std::exchange(part_, Part::none);
  if (ended == Part::none) return;
  collect();
  if (ended == Part::acts_behind_output) return end_turn();
  flush();
  worked_ = {};
  process_->door->act_behind_output(monotonic(), boottime());
  part_ = Part::acts_behind_output;
  end_part_after(worked_);
}

void DoorHost::end_turn() {
  set_alarm();
  std::vector<std::function<void(Process&)>> inbox = std::exchange(inbox_, {});
  if (inbox.empty()) return;
  turn([inbox = std::move(inbox)](Process& process) {
    for (const auto& what : inbox) what(process);
  });
}

void DoorHost::set_alarm() {
  Instant next = process_->group->next_deadline().value_or(kNever);
  const auto work = process_->door->next_work();
  if (work) next = std::min(next, later(*work, slept_));
  alarm_.set(next == kNever ? kEndOfTime : clock_.when(next, agenda_.now()));
}

void DoorHost::on_alarm() {
  turn([this](Process& process) {
    process.group->on_time(boottime());
    process.door->do_due_work(monotonic());
  });
}

// --- the nodes

void DoorHost::collect() {
  using Wish = coordinator::Link::Wish;
  Process& process = *process_;
  for (coordinator::NodeIndex node = 0; node < process.group->size(); ++node) {
    coordinator::Link& link = process.group->link(node);
    std::optional<ConnectionId>& connection = process.links[node];
    const Wish wish = link.take_wish();
    if (wish != Wish::none && connection) {
      world_.network.close(*std::exchange(connection, std::nullopt), Network::to_node);
    }
    if (wish == Wish::dial) connection = world_.network.dial(number_, node + 1);
    if (link.outgoing().empty()) continue;
    if (connection) {
      world_.network.send(*connection, Network::to_node, std::string(link.outgoing()));
    }
    link.outgoing_written();
  }
}

// Of a link that was told within this turn to dial anew nobody wants what its connection still
// brings: as group_sockets.cpp does it.
std::optional<coordinator::NodeIndex> DoorHost::link_of(ConnectionId connection) const {
  const auto& links = process_->links;
  const auto found = std::find(links.begin(), links.end(), connection);
  if (found == links.end()) return std::nullopt;
  const auto node = static_cast<coordinator::NodeIndex>(found - links.begin());
  if (process_->group->link(node).has_wish()) return std::nullopt;
  return node;
}

void DoorHost::on_connected(ConnectionId connection) {
  turn([=, this](Process& process) {
    if (const auto node = link_of(connection)) process.group->on_connected(*node, boottime());
  });
}

void DoorHost::on_bytes(ConnectionId connection, const std::string& bytes) {
  turn([=, this](Process& process) {
    if (const auto node = link_of(connection)) process.group->on_bytes(*node, bytes, boottime());
  });
}

void DoorHost::on_end(ConnectionId connection, std::string_view reason) {
  turn([=, this, reason = std::string(reason)](Process& process) {
    const auto node = link_of(connection);
    if (!node) return;
    process.links[*node].reset();
    process.group->on_end(*node, reason, boottime());
  });
}

// --- its users

void DoorHost::FrontEnd::on_connection(ConnectionId connection) {
  host.turn([connection, this](Process& process) {
    protocol::Session& session = process.door->open_session({}, host.monotonic());
    User& user = process.users[connection];
    user.session = &session;
    user.connection = connection;
    session.transport = &user;
  });
}

void DoorHost::FrontEnd::on_bytes(ConnectionId connection, const std::string& bytes) {
  host.turn([connection, bytes, this](Process& process) {
    const auto found = process.users.find(connection);
    if (found == process.users.end() || !found->second.is_there) return;
    process.door->receive(*found->second.session, bytes, host.monotonic());
  });
}

void DoorHost::FrontEnd::on_end(ConnectionId connection) {
  host.turn([connection, this](Process& process) {
    const auto found = process.users.find(connection);
    if (found != process.users.end()) host.forget(found->second);
  });
}

// Its connection is gone.
void DoorHost::forget(User& user) {
  user.is_there = false;
  FrontDoor& door = *process_->door;
  if (door.has_unfinished_request(*user.session)) return;
  door.close_session(user.session->id());
  process_->users.erase(user.connection);
}

void DoorHost::flush() {
  std::vector<User*> touched;
  process_->door->sessions().for_each_touched([&touched](protocol::Session& session) {
    touched.push_back(static_cast<User*>(session.transport));
  });
  for (User* user : touched) flush(*user);
}

void DoorHost::flush(User& user) {
  FrontDoor& door = *process_->door;
  protocol::Session& session = *user.session;
  std::string bytes(session.output().view());
  session.output().clear();
  if (!user.is_there) return forget(user);
  const auto send_by = door.send_by(session);
  const std::size_t size = bytes.size();
  if (!send_by) door.note_sent(session, size);
  if (send_by && boottime() > *send_by) {
    bytes.clear();
    if (size > 0) door.note_sent(session, 0);
    front_.close(user.connection, Network::to_client);
    return forget(user);
  }
  const bool is_all = hand_over(user, std::move(bytes), send_by.has_value());
  if (is_all && !session.is_closing()) return;
  front_.close(user.connection, Network::to_client);
  forget(user);
}

// A kernel whose buffer is full takes a part, or nothing. Of what promises a lock the rest is never
// sent: false.
bool DoorHost::hand_over(User& user, std::string bytes, bool is_promise) {
  const bool is_full = agenda_.now() < user.reads_from;
  const bool fills_now = !is_full && !is_calm_ && !bytes.empty() &&
                         random_.below(1000) < world_.scenario.unread_per_thousand;
  if (fills_now) {
    const Duration longest = 2 * (world_.scenario.acquire_time + world_.scenario.reply_time);
    user.reads_from =
        agenda_.now() + Duration(random_.below(static_cast<std::uint64_t>(longest.count())));
    agenda_.at(user.reads_from, [this, connection = user.connection, life = process_->life] {
      if (process_ && process_->life == life) drain(connection);
    });
  }
  std::size_t taken = bytes.size();
  if (is_full || !user.queued.empty()) taken = 0;
  if (fills_now) taken = random_.below(bytes.size());
  if (taken > 0) {
    front_.send(user.connection, Network::to_client, bytes.substr(0, taken));
  }
  const bool is_all = taken == bytes.size();
  if (is_promise) {
    process_->door->note_sent(*user.session, taken);
    return is_all;
  }
  user.queued += bytes.substr(taken);
  process_->door->note_unsent(*user.session, user.queued.size());
  return true;
}

// The kernel takes what was queued: whatever the process does meanwhile.
void DoorHost::drain(ConnectionId connection) {
  const auto found = process_->users.find(connection);
  if (found == process_->users.end() || !found->second.is_there) return;
  User& user = found->second;
  if (agenda_.now() < user.reads_from || user.queued.empty()) return;
  front_.send(connection, Network::to_client, std::exchange(user.queued, {}));
  turn([connection](Process& process) {
    const auto drained = process.users.find(connection);
    if (drained == process.users.end()) return;
    process.door->note_unsent(*drained->second.session, drained->second.queued.size());
  });
}

// --- faults

void DoorHost::pause(TrueTime until) {
  if (!process_ || is_paused()) return;
  ++faults_;
  tell("is paused");
  paused_until_ = until;
  agenda_.at(until, [this, life = process_->life] {
    if (process_ && process_->life == life && !is_paused()) go_on();
  });
}

void DoorHost::suspend(TrueTime until) {
  if (!process_ || is_paused()) return;
  suspended_since_ = agenda_.now();
  pause(until);
}

void DoorHost::go_on() {
  if (suspended_since_) slept_ += boottime() - clock_.at(*suspended_since_);
  suspended_since_.reset();
  tell("goes on");
  if (part_ != Part::none) return end_part();
  std::vector<std::function<void(Process&)>> inbox = std::exchange(inbox_, {});
  const bool was_waiting = random_.below(2) == 0;  // for bytes, when it was stopped
  const auto read = [&inbox](Process& process) {
    for (const auto& what : inbox) what(process);
  };
  turn([&](Process& process) {
    if (was_waiting) read(process);
    process.group->on_time(boottime());
    process.door->do_due_work(monotonic());
    if (!was_waiting) read(process);
  });
}

void DoorHost::kill(Duration down) {
  if (!process_) return;
  ++faults_;
  tell(fmt::format("is killed, and down for {} ms", ceil_ms(down)));
  world_.referee.forget_refused_by(front_number());
  if (suspended_since_) slept_ += boottime() - clock_.at(*suspended_since_);
  suspended_since_.reset();
  inbox_.clear();
  paused_until_ = {};
  part_ = Part::none;
  ended_.push_back(std::move(process_));
  world_.network.end_all_of_client(number_);
  front_.end_all_of_node(front_number());
  agenda_.after(down, [this] {
    if (!process_) start();
  });
}

void DoorHost::heal() {
  is_calm_ = true;
  if (!is_paused()) return;
  paused_until_ = agenda_.now();
  if (process_) go_on();
}

// What waits to run asks the nodes nothing meanwhile.
bool DoorHost::is_busy() const {
  if (!process_) return false;
  const Group& group = *process_->group;
  const FrontDoor& door = *process_->door;
  return group.operations() > 0 || group.releases_under_way() > 0 || door.has_slow() ||
         door.commands_under_way() > 0;
}

std::size_t DoorHost::commands() const {
  return process_ ? process_->door->commands_under_way() : 0;
}

void DoorHost::tell(std::string_view what) {
  const std::string who = fmt::format("door {}", number_);
  world_.story.note(agenda_.now(), who);
  world_.story.note(agenda_.now(), what);
  if (world_.story.tells_events()) world_.story.tell(agenda_.now(), who, boottime(), what);
}

}  // namespace redlock::simulation
