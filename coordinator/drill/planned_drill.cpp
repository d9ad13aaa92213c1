#include "coordinator/drill/planned_drill.h"

#include "base/text/duration_text.h"
#include "coordinator/drill/changes/first_roster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

using Whom = PlannedFault::Whom;

constexpr Duration kTurn = 200ms;
constexpr Duration kOvertakenWithin = 10s;  // with faults that keep all from a lock, it may not be
constexpr Duration kAtWorkWithin = 20s;     // from the start of the clients to a first write
// Longer than a change of the group may keep a client from a lock, so that it is seen.
constexpr Duration kWaitThroughAChange = 2s;

std::size_t& faults_of(Whom whom, PlannedDrillProgress& progress) {
  switch (whom) {
    case Whom::node:
      break;
    case Whom::client:
      return progress.client_faults;
    case Whom::door:
      return progress.door_faults;
  }
  return progress.node_faults;
}

}  // namespace

PlannedDrill::PlannedDrill(Stage& stage, const std::string& folder, PlannedDrillSettings settings,
                           Surroundings& surroundings)
    : stage_(stage),
      folder_(folder),
      settings_(std::move(settings)),
      surroundings_(surroundings),
      nodes_(stage, folder, settings_.node_program, settings_.nodes_max_ttl()) {}

Status PlannedDrill::begin() {
  if (auto looked = nodes_.look_at_program(); !looked) return looked;
  std::vector<Place> places;
  for (std::size_t i = 0; i < kNodes; ++i) places.push_back(surroundings_.place_of_node(i));
  nodes_.stand_at(std::move(places));
  if (auto started = nodes_.start("auto"); !started) return started;
  while (settings_.has_changes && nodes_.addresses().size() < kChangePlaces) {
    if (auto added = nodes_.add_place({}); !added) return added;
  }
  auto file = HistoryWriter::open(own_history());
  if (!file) return file.error();
  recorder_.emplace(std::move(file).value());
  tell_header();
  nodes_at_work_.emplace(nodes_, *recorder_);
  watch_.emplace(stage_, *recorder_, nodes_.addresses());
  return start_clients();
}

void PlannedDrill::tell_header() {
  HistoryHeader header;
  header.title = fmt::format("{}, seed {}", settings_.name, settings_.seed);
  header.clock_drift = settings_.client.clock_drift;
  for (const std::string& address : nodes_.addresses()) {
    header.nodes.push_back(address_text(address));
  }
  for (std::size_t i = 0; i < settings_.clients; ++i) header.clients.push_back(client_name(i));
  for (std::size_t i = 0; i < settings_.doors; ++i) header.clients.push_back(door_name(i));
  for (std::size_t i = 0; settings_.has_changes && i < kChangers; ++i) {
    header.clients.push_back(changer_name(i));
  }
  header.about = {{"seed", std::to_string(settings_.seed)},
                  {"nodes", settings_.node_program},
                  {"ttl", duration_text(settings_.ttl)}};
  recorder_->tell(header);
}

Status PlannedDrill::start_doors() {
  doors_.emplace(stage_, *recorder_, folder_, settings_.client);
  for (std::size_t i = 0; i < settings_.doors; ++i) {
    if (auto added = doors_->add(surroundings_.nodes_of(i)); !added) return added;
  }
  return Done{};
}

Status PlannedDrill::start_clients() {
  const auto& addresses = nodes_.addresses();
  const auto end = addresses.begin() + static_cast<std::ptrdiff_t>(kNodes);
  if (auto made = surroundings_.connect({addresses.begin(), end}); !made) return made;
  if (settings_.has_changes) {
    if (auto formed = form_group(); !formed) return formed;
  }
  if (settings_.doors > 0) {
    if (auto started = start_doors(); !started) return started;
  }
  ClientProcessSettings settings;
  settings.seed = settings_.seed;
  settings.ttl = settings_.ttl;
  settings.wait = settings_.has_changes ? kWaitThroughAChange : settings_.ttl / 2;
  settings.client = settings_.client;
  settings.fence = has_tokens();
  if (doors_) settings.reply_time = door_times(settings_.client).reply_time;
  settings.locks = settings_.locks;
  settings.in_line = settings_.has_line && !doors_;
  settings.store = folder_ + "/store";
  store_.emplace(stage_.loop(),
                 [this](const StoreWrite& write, bool accepted) { on_write(write, accepted); });
  if (auto listens = store_->listen(settings.store); !listens) return listens;
  clients_ = settings_.make_clients(stage_, *recorder_, folder_, settings);
  for (std::size_t i = 0; i < settings_.clients; ++i) {
    auto added = doors_
                     ? clients_->add(doors_->addresses(), {})
                     : clients_->add(surroundings_.nodes_of(i), surroundings_.place_of_client(i));
    if (!added) return added;
  }
  return wait_for_work();
}

Status PlannedDrill::form_group() {
  ChangesSettings settings;
  settings.seed = settings_.seed;
  settings.folder = folder_;
  settings.members = kNodes;
  settings.clients = settings_.clients;
  for (const std::string& address : nodes_.addresses()) {
    auto common = surroundings_.common_address(settings.addresses.size(), address);
    if (!common) return common.error();
    settings.addresses.push_back(std::move(common).value());
  }
  settings.between = stretch(settings_.ttl, settings_.client.clock_drift) + 1s;
  const auto end = settings.addresses.begin() + static_cast<std::ptrdiff_t>(kNodes);
  if (auto made = make_first_roster(stage_, {settings.addresses.begin(), end}); !made) return made;
  changes_.emplace(stage_, *recorder_, *nodes_at_work_, surroundings_, std::move(settings));
  return Done{};
}

// Faults that come before there is a lock to be lost would show nothing.
Status PlannedDrill::wait_for_work() {
  Status state = Done{};
  stage_.until(
      [&] {
        state = clients_->look();
        return !state || progress_.writes > 0;
      },
      kAtWorkWithin);
  if (!state || progress_.writes > 0) return state;
  return Failure{fmt::format("no client got a lock and wrote within {}; does {} grant locks?",
                             spoken_duration(kAtWorkWithin), settings_.node_program)};
}

// The store tells of a write, not its client: that may be stopped before it hears the answer.
void PlannedDrill::on_write(const StoreWrite& write, bool accepted) {
  if (progress_.writes++ == 0) stage_.wake();
  if (!accepted) ++progress_.refused_writes;
  std::string& last = last_hold_[write.client];
  if (std::exchange(last, write.hold) != write.hold) ++progress_.holds;
  LatestToken& latest = latest_tokens_[write.lock];
  if (write.token > latest.token) latest = {write.token, stage_.elapsed()};
  recorder_->tell(Event{.who = write.client,
                        .what = What::wrote,
                        .lock = write.lock,
                        .hold = write.hold,
                        .token = write.token,
                        .accepted = accepted});
}

Status PlannedDrill::play(const std::function<void(const PlannedDrillProgress&)>& on_turn) {
  began_ = stage_.elapsed();
  const auto plan = settings_.planned();
  for (std::span<const PlannedFault> rest(plan); !rest.empty();) {
    const Duration at = rest.front().at;
    if (auto went_on = go_on_until(at, on_turn); !went_on) return went_on;
    if (stage_.interrupted() != 0) return Done{};
    const auto later = std::find_if(rest.begin(), rest.end(),
                                    [&](const PlannedFault& fault) { return fault.at > at; });
    const auto count = static_cast<std::size_t>(later - rest.begin());
    if (auto befallen = befall(rest.first(count)); !befallen) return befallen;
    rest = rest.subspan(count);
  }
  return go_on_until(settings_.length, on_turn);
}

Status PlannedDrill::go_on_until(Duration at,
                                 const std::function<void(const PlannedDrillProgress&)>& on_turn) {
  Status state = Done{};
  const auto stuck = [&] {
    state = nodes_at_work_->look();
    if (state && doors_) state = doors_->look();
    if (state && changes_) state = changes_->look();
    if (state) state = clients_->look();
    if (state) state = recorder_->problem();
    return !state;
  };
  do {
    resume_overtaken();
    progress_.passed = passed();
    if (changes_) progress_.changes = changes_->done();
    on_turn(progress_);
    const Duration left = std::max(at - passed(), Duration::zero());
    if (stage_.until(stuck, std::min(left, kTurn))) return state;
  } while (passed() < at && stage_.interrupted() == 0);
  progress_.passed = passed();
  on_turn(progress_);
  return Done{};
}

// What happens around the processes is done all at once.
Status PlannedDrill::befall(std::span<const PlannedFault> faults) {
  std::vector<PlannedFault> around;
  for (const PlannedFault& planned : faults) {
    const PlannedFault fault = at_member(planned);
    if (begins_harm(fault.fault)) {
      ++faults_of(fault.whom, progress_);
    }
    if (fault.whom == Whom::door) {
      doors_->befall(fault);
    } else if (is_of_process(fault.fault)) {
      befall_process(fault);
    } else {
      around.push_back(fault);
    }
  }
  if (around.empty()) return Done{};
  return surroundings_.befall(around, *recorder_);
}

// In a group that changes the plan's nodes stand for members: who is one when the fault begins.
PlannedFault PlannedDrill::at_member(PlannedFault fault) {
  if (!changes_ || fault.whom != Whom::node) return fault;
  const std::size_t victim = fault.victim;
  if (begins_harm(fault.fault)) struck_[victim] = changes_->members()[victim];
  fault.victim = struck_[victim];
  return fault;
}

void PlannedDrill::befall_process(const PlannedFault& fault) {
  if (fault.whom == Whom::client) return befall_client(fault);
  const std::size_t victim = fault.victim;
  switch (fault.fault) {
    case Fault::kill:
      return nodes_at_work_->kill(victim);
    case Fault::start:
      return nodes_at_work_->start(victim);
    case Fault::stop:
      return nodes_at_work_->stop(victim);
    case Fault::resume:
      return nodes_at_work_->resume(victim);
    case Fault::restart:
      return nodes_at_work_->restart(victim);
    default:
      return;
  }
}

void PlannedDrill::befall_client(const PlannedFault& fault) {
  const std::size_t victim = fault.victim;
  if (fault.fault == Fault::stop && fault.part != PlannedFault::Part::guard) {
    stopped_at_[victim] = stage_.elapsed();
    std::erase_if(pauses_, [victim](const Pause& pause) { return pause.resume.victim == victim; });
  }
  if (fault.fault == Fault::start && changes_) {
    clients_->name_nodes(victim, nodes_for_next(victim));
  }
  if (!fault.once_overtaken || fault.fault != Fault::resume) return clients_->befall(fault);
  pauses_.push_back(
      {fault, stopped_at_[victim] + settings_.ttl, stage_.elapsed() + kOvertakenWithin});
  resume_overtaken();
}

// The list of the drill's begin, as long as the group has as many members: whoever they are by now.
// One of another length it refuses, and says where the members stand (rule G1).
std::string PlannedDrill::nodes_for_next(std::size_t client) const {
  const bool is_refused = changes_->members().size() != kNodes;
  return is_refused ? changes_->list() : surroundings_.nodes_of(client);
}

// A store accepts a late write as long as nobody with a larger token came to it, and rightly so.
// What the late writer must not do is to spoil the work of the next holder: so there is to be one.
void PlannedDrill::resume_overtaken() {
  std::erase_if(pauses_, [this](const Pause& pause) {
    if (stage_.elapsed() < pause.ends_by && !was_every_lock_taken_since(pause.ran_out_at))
      return false;
    clients_->befall(pause.resume);
    return true;
  });
}

// True where there are no tokens: then nobody can tell.
bool PlannedDrill::was_every_lock_taken_since(Duration when) const {
  if (!has_tokens()) return true;
  return latest_tokens_.size() == static_cast<std::size_t>(settings_.locks) &&
         std::all_of(latest_tokens_.begin(), latest_tokens_.end(),
                     [when](const auto& latest) { return latest.second.seen_at > when; });
}

Status PlannedDrill::end() {
  stage_.clean_up();
  if (changes_) changes_->end();
  const Status restored = recorder_ ? surroundings_.restore(*recorder_) : Done{};
  if (nodes_at_work_) nodes_at_work_->restore();
  Status ended = Done{};
  if (clients_) {
    static_cast<void>(nodes_at_work_->look());
    ended = clients_->end();
  }
  if (doors_) doors_->end();
  watch_.reset();
  const Status nodes_ended = nodes_.end();
  // Also what could not be written since the last look: a history with a hole proves nothing.
  if (recorder_ && !recorder_->problem()) return recorder_->problem();
  if (!ended) return ended;
  return nodes_ended ? restored : nodes_ended;
}

std::vector<std::string> PlannedDrill::history_files() const {
  if (!clients_) return {};
  std::vector<std::string> files = {own_history()};
  const auto& of_clients = clients_->history_files();
  files.insert(files.end(), of_clients.begin(), of_clients.end());
  return files;
}

}  // namespace redlock::drill
