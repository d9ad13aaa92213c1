#include "coordinator/front_door/front_door.h"

#include "base/hash.h"
#include "base/invariant.h"
#include "coordinator/front_door/records/door_commands.h"
#include "coordinator/front_door/served/door_errors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace redlock::coordinator {

using protocol::Reply;
using protocol::Session;
using server::Settings;

namespace {

// Some fifty requests.
constexpr std::size_t kBacklogOfGoneMax = 4096;

// To end a wait takes so many times what it takes to end a subscription: each node is told.
constexpr std::size_t kWishesOfWait = 16;

// Where no node has told its own yet, or none has one, as plain Redis servers.
Duration usual_max_ttl() {
  return Settings().max_ttl;
}

server::NodeStart start_of(const FrontDoor::Environment& environment) {
  server::NodeStart start;
  start.node_id = start.run_id = environment.run_id;
  start.hash_seed = environment.seed;
  start.started_at = environment.started_at;
  start.cause = "front door";
  return start;
}

// A record is longer than the value in it.
Settings door_settings(Settings settings) {
  settings.require_ttl = true;
  settings.value_size_limit -= std::min(settings.value_size_limit, kRecordHeaderBytes);
  settings.busy_reply_threshold = settings.script_time_limit = kScriptTimeMax;
  settings.notify_keyspace_events = 0;
  return settings;
}

}  // namespace

FrontDoor::FrontDoor(Group& group, Group& message_group, Options options, Environment environment)
    : group_(group),
      message_group_(message_group),
      times_(options.times),
      fixed_max_ttl_(options.max_ttl),
      random_(environment.random),
      settings_(door_settings(std::move(options.settings))),
      scratch_settings_(settings_),
      stopwatch_(environment.stopwatch),
      node_(session_families(), settings_, start_of(environment),
            server::Node::Environment{.inspect = environment.inspect,
                                      .log = environment.log,
                                      .stopwatch = environment.stopwatch,
                                      .elsewhere = this,
                                      .ttl_bound = &ttl_bound_,
                                      .user_file = environment.user_file,
                                      .system_random = environment.system_random,
                                      .accept_tls = environment.accept_tls,
                                      .audit_file = environment.audit_file}),
      relay_(message_group, node_.pubsub(), random_, stopwatch_),
      scratch_({scratch_settings_, environment.log, environment.script_watch, ttl_bound_,
                stopwatch_, &node_.pubsub(), &node_.access().log()},
               environment.seed, environment.started_at),
      commands_({.group = group,
                 .known = known_,
                 .stats = stats_,
                 .quotas = quotas_,
                 .times = times_,
                 .random = random_,
                 .worth = worth_,
                 .stopwatch = stopwatch_,
                 .is_audited = node_.audit().is_on(),
                 .on_change = [this](const WantedChange& change) { note_change(change); }}),
      waiting_(group) {
  now_.monotonic = environment.started_at;
  refresh_max_ttl();
  node_.begin_run(now_);
}

FrontDoor::~FrontDoor() = default;

// --- the turn

void FrontDoor::act(Now now, Instant holders_now) {
  now_ = now;
  locks_now_ = {holders_now, now.wall};
  refresh_max_ttl();
  if (node_.stop_request()) stop();
  if (is_stopping_ && !stop_by_) stop_by_ = later(now.monotonic, group_.options().node_timeout);
  end_gone();
  message_group_.follow(group_.roster());
  group_.follow(message_group_.roster());
  relay_.act(now, holders_now);
  begin_new();
  commands_.begin_turn();
  do {
    commands_.settle(locks_now_);
    commands_.take_answered(answered_);
    for (auto& answered : answered_) deliver(std::move(answered));
    waiting_.act(now_, holders_now);
    for (const auto& news : waiting_.take_told()) tell_waiter(news);
    // What is left of the lines is the next turn's: the sockets are looked at before.
  } while (commands_.has_news());
  relay_.send(holders_now);
}

bool FrontDoor::is_turn_over(Instant began) const {
  return stopwatch_ && stopwatch_() - began >= server::TurnOrder::kTurnMax;
}

// One of each session at most, and behind the first no more than a turn's time: between two turns
// the sockets are looked at, whatever anybody sends.
void FrontDoor::begin_new() {
  const Instant began = stopwatch_ ? stopwatch_() : Instant{};
  bool goes_on = true;
  for (std::size_t count = begun_.size(); count > 0 && goes_on;
       --count, goes_on = !is_turn_over(began)) {
    NewCommand first = std::move(begun_.front());
    begun_.pop_front();
    run(std::move(first));
  }
}

// At least one, so all that many send of it keeps others waiting for one run at a time. Behind it
// others have as much time: a lock takes several turns, and may be got within the acquire time.
void FrontDoor::act_behind_output(Now now, Instant holders_now) {
  if (!has_slow() || now.monotonic < slow_may_begin_) return;
  now_ = now;
  locks_now_ = {holders_now, now.wall};
  const Instant began = stopwatch_ ? stopwatch_() : Instant{};
  bool goes_on = true;
  for (; commands_.has_slow() && goes_on; goes_on = !is_turn_over(began)) {
    commands_.let_slow_one_run(locks_now_);
  }
  for (; goes_on; goes_on = !is_turn_over(began)) {
    const auto is_there = [this](Session::Id id) { return is_heard(id); };
    for (const NewCommand& left : slow_.set_aside(is_there)) refuse(left, kClientGone);
    if (slow_.empty()) break;
    run(slow_.take());
  }
  if (!stopwatch_) return;
  const Instant ended = stopwatch_();
  slow_may_begin_ = later(ended, ended - began);
}

bool FrontDoor::is_heard(Session::Id id) {
  const Session* const session = node_.sessions().find(id);
  return session != nullptr && !session->client_is_gone;
}

// Also what was sent just before its client went, such as a release. A door that stops takes
// nothing for who was called before that (rule D6).
void FrontDoor::run(NewCommand command) {
  if (is_stopping_ && command.body->only_takes()) return refuse(command, kDoorStops);
  begun_for_.erase(command.session);
  commands_.begin(command.session, std::move(command.body), is_heard(command.session), locks_now_);
}

void FrontDoor::refuse(const NewCommand& command, std::string_view error) {
  begun_for_.erase(command.session);
  deliver({command.session, Reply::error_view(error), {}, false, {}, {}});
}

// A client that goes takes along what it waits for, and what it was to be told of and was not.
void FrontDoor::end_gone() {
  for (const Session::Id id : std::exchange(gone_, {})) {
    commands_.client_gone(id, locks_now_);
    watched_.forget(id);
    waiting_.forget(id);
    wanted_.erase(id);
    kept_.erase(id);
    const auto promised = promised_.find(id);
    if (promised == promised_.end()) continue;
    const Promise promise = std::move(promised->second);
    promised_.erase(promised);
    stats_.undone_gone += promise.created.size();
    undo(promise.created);
  }
}

// Whose a lock is that was broken: as at a node, but for what other doors gave (LockBreaks).
void FrontDoor::audit(const ServedCommands::Answered& answered) {
  const auto hash_of = [](std::string_view key) {
    return static_cast<std::uint32_t>(keyed_hash(key, 0));
  };
  for (const server::BrokenLock& lock : answered.broken) {
    if (takers_.is_taken_by(hash_of(lock.key), lock.token, answered.session)) continue;
    node_.breaks().tell(lock, node_.who_of(answered.session), now_);
  }
  for (const Claim& claim : answered.taken) {
    takers_.note(hash_of(claim.name), lock_number(claim.value), answered.session);
  }
  node_.forget_who(answered.session);
}

// An answer to an attempt to take a lock by one who waits for it: whether it goes on waiting. Not
// one who may not have it (max-locks), or whom the nodes refuse it (a value that is too large for
// them): those behind it would wait for a lock that is free.
bool FrontDoor::waits_on(const ServedCommands::Answered& answered) {
  const Session::Id session = answered.session;
  const Reply& reply = answered.reply;
  const auto found = wanted_.find(session);
  if (found == wanted_.end()) return false;
  const bool is_got = !reply.items().empty() && reply.items()[0].integer() == 1;
  const bool may_not =
      answered.is_beyond_limits || (reply.is_error() && reply.text().starts_with("NOPERM"));
  if (!is_got && !may_not && !found->second.is_last && !is_stopping_) {
    waiting_.wait_on(session, found->second.key, reply.is_error());
    return true;
  }
  waiting_.leave(session, found->second.key);
  wanted_.erase(found);
  return false;
}

void FrontDoor::deliver(ServedCommands::Answered answered) {
  if (node_.audit().is_on()) audit(answered);
  Session* session = node_.sessions().find(answered.session);
  const bool is_heard = session != nullptr && !session->is_closing() && !session->client_is_gone;
  if (!is_heard) {
    stats_.undone_gone += answered.promise.created.size();
    undo(std::exchange(answered.promise, {}).created);
  }
  if (session == nullptr || waits_on(answered)) return;
  forget_request(*session);
  answer(*session, answered.reply);
  if (answered.promise.send_by == kNever || session->output().empty()) return;
  Promise& promised = promised_[answered.session];
  promised.send_by = std::min(promised.send_by, answered.promise.send_by);
  std::move(answered.promise.created.begin(), answered.promise.created.end(),
            std::back_inserter(promised.created));
}

void FrontDoor::answer(Session& session, const Reply& reply) {
  node_.answer(session, reply, now_);
}

void FrontDoor::undo(const std::vector<Claim>& created) {
  for (const Claim& claim : created) {
    known_.forget(claim.name);
    quotas_.end(claim.name);
    waiting_.note_release(claim.name);
    group_.undo(known_lock(claim.name, claim.value, worth_), locks_now_.monotonic);
  }
}

void FrontDoor::note_change(const WantedChange& change) {
  watched_.note_change(change.key);
  if (change.kind == ChangeKind::release) waiting_.note_release(change.key);
}

void FrontDoor::refresh_max_ttl() {
  Duration least = Duration::max();
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    const Link& link = group_.link(node);
    const Duration max_ttl = link.facts().status.max_ttl;
    if (link.connection_began() && max_ttl > 0ns) least = std::min(least, max_ttl);
  }
  if (least == Duration::max()) least = nodes_max_ttl_ > 0ns ? nodes_max_ttl_ : usual_max_ttl();
  if (least == nodes_max_ttl_) return;
  nodes_max_ttl_ = least;
  worth_ = stretch(least, times_.clock_drift) + kDoorRounding;
  const Duration left = door_max_ttl(least, times_);
  const Duration longest = std::max<Duration>(left, 1ms);
  settings_.max_ttl = std::min(longest, fixed_max_ttl_.value_or(longest));
  scratch_settings_.max_ttl = settings_.max_ttl;
  ttl_bound_ = fmt::format("this front door's max-ttl ({} ms)", floor_ms(settings_.max_ttl));
  if (settings_.max_ttl < longest) {
    ttl_bound_ += ": ask for less, or start it with a larger --max-ttl";
    return;
  }
  ttl_bound_ += fmt::format(
      ": the nodes' max-ttl is {} ms, of which the door needs {} ms; ask for less, or raise "
      "max-ttl at the nodes",
      floor_ms(least), ceil_ms(least - left));
}

// --- SessionHost

Session& FrontDoor::open_session(protocol::Peer peer, Now now) {
  return node_.open_session(std::move(peer), now);
}

// What it has sent goes on without it.
void FrontDoor::close_session(Session::Id id) {
  gone_.push_back(id);
  const bool is_served = commands_.is_serving(id) || begun_for_.contains(id);
  if (is_served && node_.audit().is_on()) node_.keep_who(id);
  node_.close_session(id);
}

std::size_t FrontDoor::wishes_of(const Session& session) const {
  return node_.wishes_of(session) + waiting_.count_of(session.id()) * kWishesOfWait +
         watched_.count_of(session.id());
}

std::size_t FrontDoor::forget_some(Session& session, std::size_t at_most) {
  const std::size_t forgotten = node_.forget_some(session, at_most);
  const std::size_t waits = (at_most - forgotten) / kWishesOfWait;
  return forgotten + waiting_.forget(session.id(), std::max(waits, std::size_t{1})) * kWishesOfWait;
}

// What came behind the command under way, such as a release, was sent, and is executed. One that
// waits for a lock waits no longer. Of who left more than a few requests nothing more is executed:
// who comes and goes would keep the door from all others for as long as what he sent takes.
bool FrontDoor::has_unfinished_request(const Session& session) const {
  if (session.client_is_gone && session.backlog_bytes() > kBacklogOfGoneMax) return false;
  if (node_.has_unfinished_request(session)) return true;
  const bool is_served = commands_.is_serving(session.id()) || begun_for_.contains(session.id());
  return session.backlog_bytes() > 0 && is_served && !wanted_.contains(session.id());
}

void FrontDoor::receive(Session& session, std::string_view bytes, Now now) {
  node_.receive(session, bytes, now);
}

std::optional<Instant> FrontDoor::send_by(const Session& session) const {
  const auto promised = promised_.find(session.id());
  if (promised == promised_.end()) return std::nullopt;
  return promised->second.send_by;
}

// Of what was taken in part it is not known how much of it tells of a lock: that lock stays.
void FrontDoor::note_sent(Session& session, std::size_t bytes) {
  node_.stats().bytes_out += bytes;
  if (bytes > 0) promised_.erase(session.id());
}

void FrontDoor::note_unsent(Session& session, std::size_t bytes) {
  node_.note_unsent(session, bytes);
}

std::optional<Instant> FrontDoor::next_work() const {
  const bool has_news = !begun_.empty() || !gone_.empty() || commands_.has_news();
  const bool begins_to_stop = is_stopping_ && !stop_by_;
  if (has_news || waiting_.has_work() || begins_to_stop) return Instant{};
  std::optional<Instant> next = earlier(node_.next_work(), waiting_.next_deadline());
  if (has_slow()) next = earlier(next, slow_may_begin_);
  return earlier(earlier(next, relay_.next_work()), stop_by_);
}

void FrontDoor::do_due_work(Now now) {
  now_ = now;
  node_.do_due_work(now);
}

void FrontDoor::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  waiting_.end_all();
  commands_.stop_taking(kDoorStops, locks_now_);
}

bool FrontDoor::is_stopped() const {
  if (!stop_by_) return false;
  const bool is_told =
      begun_for_.empty() && commands_.count() == 0 && !commands_.has_news() && !waiting_.has_work();
  return (is_told && group_.releases_under_way() == 0) || now_.monotonic >= *stop_by_;
}

}  // namespace redlock::coordinator
