#include "tests/simulation/host.h"

#include "server/commands/families.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

// A new boot's clock begins near zero, the first one shows that the machine ran for a while.
constexpr Instant kFirstReading{std::chrono::hours(1)};
// More than a run has of them at once; those that ship touch a page of memory each.
constexpr server::ReleaseMarks::Limits kReleaseMarks = {.mark_bits = 12, .block_bits = 6};
constexpr Instant kBootReading{std::chrono::seconds(5)};
constexpr Duration kRetryStart = 500ms;  // of a node that could not write its ledger

// replaced: so many nodes stood in its place before.
std::string make_id(unsigned number, unsigned replaced) {
  std::string id(40, "0123456789abcdef"[number % 16]);
  id[0] = "0123456789abcdef"[(number + replaced) % 16];
  return id;
}

// What serves no LOCK.* is a plain Redis to clients, with the rules R all the same.
server::Families families(const Scenario& scenario) {
  static const std::array plain = {server::connection_commands(),  server::lock_commands(),
                                   server::string_commands(),      server::key_commands(),
                                   server::script_commands(),      server::hash_commands(),
                                   server::transaction_commands(), server::admin_commands()};
  return scenario.plain ? server::Families(plain) : server::all_families();
}

// What the node's own counters say that it gave.
std::uint64_t given(const server::Node& node) {
  return node.stats().granted + node.stats().extended;
}

}  // namespace

Host::Host(const Surroundings& world, unsigned number)
    : world_(world),
      agenda_(world.agenda),
      number_(number),
      node_id_(make_id(number, 0)),
      random_(world.scenario.seed * 4099 + number),
      clock_(agenda_.now(), kFirstReading, world.scenario.node_rates[number - 1]),
      obligations_(world.scenario, world.agenda, world.referee, number),
      lines_(world.scenario, world.referee, number),
      max_ttl_(first_max_ttl()),
      largest_max_ttl_(max_ttl_),
      alarm_(agenda_, [this] {
        if (!process_ || agenda_.now() < paused_until_) return;
        turn([](server::Node& node, Now now) { node.do_due_work(now); });
      }) {
  const auto& counters = world.scenario.counters;
  if (is_spare() && world.scenario.empty_spares) {
    obligations_.note_new_disk();
  } else {
    disk_.bootstrap(node_id_,
                    counters.empty() ? 0 : static_cast<std::uint64_t>(counters[number - 1]));
  }
}

Host::~Host() = default;

Now Host::read_clocks() const {
  const Duration passed = agenda_.now().time_since_epoch();
  return {clock_.at(agenda_.now()), kFirstWallTime + passed + wall_shift_};
}

server::Settings Host::settings() const {
  server::Settings settings;
  settings.max_ttl = max_ttl_;
  settings.clock_drift = world_.scenario.drift();
  settings.fence_block = world_.scenario.fence_block;
  settings.node_id = node_id_;
  return settings;
}

server::BootIdentity Host::boot_identity() const {
  return {.boot_id = fmt::format("boot {}", boots_),
          .time_offsets = "none",
          .device = 1,
          .inode = disk_.inode()};
}

void Host::tell(std::string_view what) {
  const std::string who = fmt::format("node {}", number_);
  world_.story.note(agenda_.now(), who);
  world_.story.note(agenda_.now(), what);
  if (world_.story.tells_events()) {
    world_.story.tell(agenda_.now(), who, clock_.at(agenda_.now()), what);
  }
}

// --- starts and ends

// The order of a start is recovery.h's.
void Host::start() {
  waits_for_start_ = false;
  is_on_ = true;
  process_ = std::make_unique<Process>();
  Process& process = *process_;
  process.number = ++processes_;
  process.settings = settings();
  process.boot = boot_identity();
  const Instant start = read_clocks().monotonic;
  const server::Found found{.folder = "node",
                            .ledger = disk_.ledger(),
                            .snapshot = disk_.snapshot(),
                            .boot = process.boot};
  process.decision = server::decide(found, process.settings, start, new_ledger_id());
  const auto on_disk = process.decision.restoration ? server::LedgerWriter::OnDisk::certain
                                                    : server::LedgerWriter::OnDisk::doubtful;
  process.writer.emplace(process.plan, found.ledger.write_first, on_disk);
  server::NodeStart facts =
      server::node_start(process.decision, process.settings, start,
                         fmt::format("{:039x}{:x}", process.number, number_), random_());
  facts.release_marks = kReleaseMarks;
  if (world_.scenario.ttl_window > 0ns) facts.ledger.ttl_window = world_.scenario.ttl_window;
  process.node.emplace(
      families(world_.scenario), process.settings, std::move(facts),
      server::Node::Environment{[] { return server::ProcessFacts{}; }, process.log, nullptr, this});
  restore(*process.node, process.decision);
  obligations_.check_start(process.decision, *process.node, start, clock_);
  if (!process.decision.restoration) world_.referee.note_marks_lost();
  tell(fmt::format("starts ({}): no new locks for {} ms",
                   server::restart_cause_name(process.decision.cause),
                   ceil_ms(process.decision.delay)));
  begin_run();
}

void Host::restore(server::Node& node, const server::Decision& decision) {
  if (!decision.restoration) return;
  const server::Restoration& restoration = *decision.restoration;
  disk_.snapshot(
      [&](const server::SavedLock& saved) {
        if (const auto lock = restoration.restored(saved)) node.grants().restore(*lock);
      },
      [&](const server::SavedMark& saved) {
        const auto end = restoration.deadline(saved.end);
        if (end) node.grants().restore({saved.hash_key, saved.hash, *end});
      });
}

void Host::begin_run() {
  Process& process = *process_;
  process.plan = new_plan();
  const Status begun =
      server::begin_run(process.decision, process.boot, process.plan, *process.writer,
                        [&] { return process.plan.discard_snapshot(); });
  const auto give_up = [this] {
    tell("cannot write its ledger, and ends");
    die();
    start_after(kRetryStart);
  };
  std::vector<DiskPlan::Step> steps = process.plan.take_steps();
  if (!begun && steps.empty()) return give_up();
  carry_out(std::move(steps), [this, give_up, is_begun = bool(begun)] {
    if (!is_begun) return give_up();
    obligations_.note_begun();
    if (process_->stops) return finish();
    process_->has_begun = true;
    turn([](server::Node& node, Now now) { node.begin_run(now); });
  });
}

void Host::start_after(Duration wait) {
  waits_for_start_ = true;
  agenda_.after(wait, [this, number = ++start_number_] {
    if (number != start_number_ || !waits_for_start_) return;
    process_ ? start_after(kRetryStart) : start();  // one that stops may take its time
  });
}

bool Host::withholds_replies() const {
  return std::any_of(process_->clients.begin(), process_->clients.end(), [this](const auto& entry) {
    return process_->node->coverage().withholds_reply_of(entry.second.session->id());
  });
}

void Host::die(Obligations::End end) {
  if (end == Obligations::End::crash && process_->stops) end = Obligations::End::unsure;
  obligations_.note_end(end, *process_->node, read_clocks().monotonic, !withholds_replies());
  world_.network.end_all_of_node(number_);
  ended_.push_back(std::move(process_));
  lines_.clear();
  inbox_.clear();
  paused_until_ = {};
  ends_turn_ = false;
}

void Host::kill(Duration down) {
  if (!process_ || suspended_since_) return;
  ++faults_;
  tell(fmt::format("is killed, and down for {} ms", ceil_ms(down)));
  die();
  start_after(down);
}

void Host::lose_power(Duration down) {
  if (!is_on_) return;
  ++faults_;
  tell(fmt::format("loses its power for {} ms", ceil_ms(down)));
  world_.network.forget_all_of_node(number_);
  if (process_) die();
  obligations_.note_power_loss();
  suspended_since_.reset();
  disk_.lose_power(random_);
  is_on_ = false;
  ++boots_;
  clock_ = SkewedClock(agenda_.now(), kBootReading + Duration(random_.below(1'000'000'000)),
                       world_.scenario.node_rates[number_ - 1]);
  start_after(down);
}

void Host::lose_disk(Duration down) {
  if (!process_ || suspended_since_) return;
  kill(down);
  tell("has a new, empty disk");
  replace_disk();
}

// Also one that is down.
void Host::replace(Duration down) {
  wake_machine();
  process_ ? kill(down) : start_after(down);
  replace_disk();
  node_id_ = make_id(number_, ++replaced_ * 10);
  tell(fmt::format("is another node, {}", node_id_.substr(0, 2)));
}

// A node that lost its ledger waits for max-ttl (row 4): nobody lowers it then.
void Host::set_max_ttl(Duration max_ttl) {
  largest_max_ttl_ = std::max(largest_max_ttl_, max_ttl);
  max_ttl_ = disk_.ledger().state == server::LedgerState::valid ? max_ttl : largest_max_ttl_;
}

void Host::stop_cleanly(Duration down) {
  if (!process_ || process_->stops || agenda_.now() < paused_until_) return;
  ++faults_;
  tell(fmt::format("is stopped, and down for {} ms", ceil_ms(down)));
  lines_.clear();
  process_->stops = true;
  process_->node->stop({});
  world_.network.end_all_of_node(number_);
  start_after(down + 1s);  // after its end, however slow its disk is
  if (!process_->writes) finish();
}

// As NodeRun::finish and StateFolder::write_snapshot do it.
void Host::finish() {
  const Instant copied_at = read_clocks().monotonic;
  if (copied_at < process_->node->grants().snapshot_from() || is_disk_broken()) return die();
  std::vector<DiskPlan::Step> steps;
  steps.push_back({[bytes = snapshot(copied_at)](Disk& disk) { disk.put_snapshot(bytes); }, true});
  steps.push_back({[](Disk& disk) { disk.sync_folder(); }, true});
  carry_out(std::move(steps), [this] {
    tell("has stopped, and left a snapshot");
    die(Obligations::End::clean);
  });
}

std::string Host::snapshot(Instant copied_at) {
  std::string bytes;
  const auto sink = [&](std::string_view more) {
    bytes += more;
    return Status(Done{});
  };
  const server::DurableRecord& record = process_->decision.record;
  server::SnapshotWriter writer({record.node_id, record.run, process_->boot, copied_at}, sink);
  process_->node->grants().save(
      copied_at, [&](const server::SavedLock& lock) { writer.add(lock); },
      [&](const server::SavedMark& mark) { writer.add(mark); });
  return writer.finish() ? bytes : std::string();
}

// --- turns

// The clock is read after the bytes were (rule C4). What came during a pause is executed after it;
// and what came during a turn that takes its time, in later turns.
void Host::turn(const std::function<void(server::Node&, Now)>& what) {
  if (!process_ || process_->stops) return;
  server::Node& node = *process_->node;
  const Now now = read_clocks();
  const std::uint64_t before = given(node);
  lines_.check(now.monotonic);
  const bool was_recovering = node.grants().is_recovering(now.monotonic);
  what(node, now);
  if (was_recovering && given(node) > before) {
    world_.referee.found(Breach::recovering,
                         fmt::format("node {} grants a lock while it is recovering", number_));
  }
  obligations_.note_turn(node, now.monotonic);
  if (world_.scenario.members > 0 && process_->has_begun) {
    world_.rosters.note(number_, *as_member(), *roster());
  }
  ends_turn_ = true;
  if (!is_in_turn_) take_time();
}

void Host::take_time() {
  const auto most = static_cast<std::uint64_t>(turn_max_.count());
  if (most == 0) return end_turn();
  paused_until_ = agenda_.now() + Duration(random_.below(most + 1));
  agenda_.at(paused_until_, [this, number = process_->number] {
    if (!process_ || process_->number != number || agenda_.now() < paused_until_) return;
    if (!ends_turn_ || process_->stops) return;
    end_turn();
    next_turn();
  });
}

// As the loop has it: what is due, then all that was read meanwhile.
void Host::next_turn() {
  is_in_turn_ = true;
  const auto next = process_->node->next_work();
  if (next && *next <= read_clocks().monotonic) {
    turn([](server::Node& node, Now now) { node.do_due_work(now); });
  }
  work_off_inbox();
  is_in_turn_ = false;
  if (ends_turn_) take_time();
}

void Host::end_turn() {
  ends_turn_ = false;
  flush();
  lines_.end_turn(*process_->node, read_clocks().monotonic);
  look_after_ledger();
  const auto next = process_->node->next_work();
  alarm_.set(next ? clock_.when(*next, agenda_.now()) : kEndOfTime);
}

void Host::flush() {
  process_->node->sessions().for_each_touched(
      [this](protocol::Session& session) { flush(session); });
}

void Host::flush(protocol::Session& session) {
  Client& client = *static_cast<Client*>(session.transport);
  std::string bytes(session.output().view());
  session.output().clear();
  const Instant now = read_clocks().monotonic;
  lines_.on_replies(client.connection, bytes, now);
  if (client.is_there && !bytes.empty()) {
    world_.network.send(client.connection, Network::to_client, std::move(bytes));
  }
  if (client.is_there || process_->node->has_unfinished_request(session)) return;
  const ConnectionId connection = client.connection;
  process_->node->close_session(session.id());
  lines_.on_close(connection, now);
  process_->clients.erase(connection);
}

void Host::look_after_ledger() {
  Process& process = *process_;
  if (process.writes) return;
  const auto record = process.node->begin_ledger_write(read_clocks());
  if (!record) return;
  process.plan = new_plan();
  const Status written = process.writer->write(*record);
  carry_out(process.plan.take_steps(), [this, written] {
    if (process_->stops) return finish();
    turn([&written](server::Node& node, Now now) { node.end_ledger_write(written, now); });
  });
}

void Host::on_connection(ConnectionId connection) {
  if (agenda_.now() < paused_until_) {
    inbox_.emplace_back([=, this] { on_connection(connection); });
    return;
  }
  turn([=, this](server::Node& node, Now now) {
    protocol::Session& session = node.open_session({}, now);
    Client& client = process_->clients[connection];
    client.session = &session;
    client.connection = connection;
    session.transport = &client;
  });
}

void Host::on_bytes(ConnectionId connection, const std::string& bytes) {
  if (agenda_.now() < paused_until_) {
    inbox_.emplace_back([=, this] { on_bytes(connection, bytes); });
    return;
  }
  turn([&](server::Node& node, Now now) {
    const auto found = process_->clients.find(connection);
    if (found == process_->clients.end()) return;
    note_releases(found->second, bytes);
    lines_.on_requests(connection, bytes);
    node.receive(*found->second.session, bytes, now);
  });
}

void Host::note_releases(Client& client, const std::string& bytes) {
  const bool comes_whole = world_.scenario.pieces_per_thousand == 0;
  if (!comes_whole) client.unread += bytes;
  for (const std::string& value :
       comes_whole ? released_values(bytes) : take_released_values(client.unread)) {
    world_.referee.note_release_arrived(value, number_);
  }
}

void Host::on_end(ConnectionId connection) {
  if (agenda_.now() < paused_until_) {
    inbox_.emplace_back([=, this] { on_end(connection); });
    return;
  }
  turn([=, this](server::Node& node, Now now) {
    const auto found = process_->clients.find(connection);
    if (found == process_->clients.end()) return;
    found->second.is_there = false;
    if (node.has_unfinished_request(*found->second.session)) return;
    node.close_session(found->second.session->id());
    lines_.on_close(connection, now.monotonic);
    process_->clients.erase(found);
  });
}

void Host::pause(TrueTime until) {
  if (!process_ || process_->stops || agenda_.now() < paused_until_) return;
  ++faults_;
  tell("is paused");
  paused_until_ = until;
  obligations_.note_pause();
  agenda_.at(until, [this, number = process_->number] {
    if (process_ && process_->number == number && agenda_.now() >= paused_until_) go_on();
  });
}

void Host::work_off_inbox() {
  for (const auto& come : std::exchange(inbox_, {})) come();
}

void Host::race(std::int64_t faster_millionths) {
  clock_.set_rate(agenda_.now(), faster_millionths);
  tell(fmt::format("'s clock runs {} millionths too fast", faster_millionths));
}

void Host::heal(const Calm& calm) {
  heal_disk();
  sync_max_ = calm.sync_max();
  turn_max_ = calm.shortened(world_.scenario.turn_max);
  if (agenda_.now() < paused_until_) {
    paused_until_ = agenda_.now();
    go_on();
  }
  if (waits_for_start_ && !process_) start();
}

bool Host::is_serving() const {
  return process_ && !process_->node->grants().is_recovering(read_clocks().monotonic);
}

std::vector<std::string> Host::values() const {
  std::vector<std::string> values;
  if (!process_) return values;
  const Instant now = read_clocks().monotonic;
  process_->node->locks().for_each([&](const server::Lock& lock) {
    if (!lock.is_over(now)) values.emplace_back(lock.value());
  });
  return values;
}

std::string Host::leftovers() {
  if (!process_) return "it is down";
  server::Node& node = *process_->node;
  const Now now = read_clocks();
  while (node.next_work() && *node.next_work() <= now.monotonic) node.do_due_work(now);
  if (!is_serving()) return "it is recovering";
  if (node.locks().size() > 0) return fmt::format("it holds {} locks", node.locks().size());
  return "";
}

}  // namespace redlock::simulation
