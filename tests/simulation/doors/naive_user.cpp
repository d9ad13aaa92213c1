#include "tests/simulation/doors/naive_user.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using protocol::ParsedReply;
using protocol::Reply;

constexpr Instant kFirstReading{std::chrono::minutes(40)};
constexpr Duration kDialAgain = 100ms;
constexpr Duration kProbePatience = 10s;
constexpr unsigned kKeysApart = 1000;  // for the referee: no key of the group's own clients

bool is_no(const Reply& reply) {
  if (reply.is(Reply::Kind::array)) return !reply.items().empty() && is_no(reply.items().front());
  return reply.is(Reply::Kind::integer) && reply.integer() == 0;
}

// Of GET, EXISTS or PTTL: nobody holds it.
bool says_free(const Reply& reply) {
  return reply.is_null() ||
         (reply.is(Reply::Kind::integer) && (reply.integer() == 0 || reply.integer() == -2));
}

// LOCK.ACQUIRE: [1, token, ms].
Token token_in(const Reply& reply) {
  if (!reply.is(Reply::Kind::array) || reply.items().size() != 3) return 0;
  return static_cast<Token>(reply.items()[1].integer());
}

// redis-py's Lock, its extend() with what is left added.
constexpr std::string_view kPyExtend =
    "local token = redis.call('get', KEYS[1])\n"
    "if not token or token ~= ARGV[1] then\n    return 0\nend\n"
    "local expiration = redis.call('pttl', KEYS[1])\n"
    "if not expiration then\n    expiration = 0\nend\n"
    "if expiration < 0 then\n    return 0\nend\n"
    "local newttl = ARGV[2]\n"
    "if ARGV[3] == \"0\" then\n    newttl = ARGV[2] + expiration\nend\n"
    "redis.call('pexpire', KEYS[1], newttl)\nreturn 1\n";
constexpr std::string_view kPyRelease =
    "local token = redis.call('get', KEYS[1])\n"
    "if not token or token ~= ARGV[1] then\n    return 0\nend\n"
    "redis.call('del', KEYS[1])\nreturn 1\n";
// Spring Integration's registry.
constexpr std::string_view kSpringObtain =
    "local lockClientId = redis.call('GET', KEYS[1])\n"
    "if lockClientId == ARGV[1] then\n  redis.call('PEXPIRE', KEYS[1], ARGV[2])\n  return 1\n"
    "elseif not lockClientId then\n  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n"
    "  return 1\nend\nreturn 0\n";
constexpr std::string_view kSpringRelease =
    "local lockClientId = redis.call('GET', KEYS[1])\n"
    "if lockClientId == ARGV[1] then\n  redis.call('UNLINK', KEYS[1])\n  return 1\nend\nreturn 0\n";

std::vector<NaiveForm> all_naive_forms() {
  std::vector<NaiveForm> all;
  for (const Form& form : forms()) all.push_back({form, form.name != "setnx"});
  const Requests set = {{"SET", "K", "V", "NX", "PX", "T"}};
  const auto eval = [](std::string_view script) {
    return Requests{{"EVAL", script, "1", "K", "V", "T", "0"}};
  };
  all.push_back({{"redis-py", set, eval(kPyExtend), eval(kPyRelease)}});
  all.push_back(
      {{"spring", eval(kSpringObtain), eval(kSpringObtain), eval(kSpringRelease)}, false});
  return all;
}

}  // namespace

std::span<const NaiveForm> naive_forms() {
  static const std::vector<NaiveForm> kForms = all_naive_forms();
  return kForms;
}

// Its clock runs as that of one of the clients.
NaiveUser::NaiveUser(const Surroundings& world, Network& front, unsigned number)
    : world_(world),
      front_(front),
      agenda_(world.agenda),
      number_(world.scenario.clients + world.scenario.users + world.scenario.doors + number),
      own_(number),
      random_(world.scenario.seed * 65537 + number),
      clock_(agenda_.now(), kFirstReading,
             world.scenario.client_rates[number % world.scenario.clients]),
      connections_(world.scenario.doors) {}

std::string NaiveUser::key_of(const Event& event) const {
  const bool is_shared = world_.scenario.shares_keys;
  return fmt::format("{}{}", is_shared ? "key" : "door", world_.scenario.first_key + event.key);
}

std::string NaiveUser::new_value() {
  if (world_.scenario.same_values) return "1";
  const std::uint64_t secret = random_();
  return fmt::format("{}-{:016x}", number_, secret);
}

void NaiveUser::use(const Event& event) {
  if (!wants_more_) return;
  const WantId id = ++last_want_;
  wants_[id] = {.event = event, .value = new_value(), .give_up = agenda_.now() + event.wait};
  take(id);
}

void NaiveUser::probe(unsigned door, unsigned key, Duration ttl,
                      std::function<void(bool was_got)> done) {
  const Event event{.other = door, .key = key, .length = 1ms, .delay = 50ms, .ttl = ttl};
  const WantId id = ++last_want_;
  wants_more_ = true;
  wants_[id] = {.event = event,
                .value = fmt::format("probe-{}", id),
                .give_up = agenda_.now() + kProbePatience,
                .probed = std::move(done)};
  take(id);
}

void NaiveUser::look_later(WantId id, Duration wait, void (NaiveUser::*what)(WantId id)) {
  agenda_.after(wait, [=, this, looks = ++wants_.at(id).looks] {
    const auto found = wants_.find(id);
    if (found != wants_.end() && found->second.looks == looks) (this->*what)(id);
  });
}

unsigned NaiveUser::door_for(const Want& want) {
  if (want.event.other != 0) return want.event.other;
  return 1 + static_cast<unsigned>(random_.below(world_.scenario.doors));
}

void NaiveUser::send(const Want& want, const Requests& requests, Duration ttl, Answered answered) {
  const unsigned door = door_for(want);
  Connection& connection = connections_[door - 1];
  if (!connection.id) connection.id = front_.dial(own_, door);
  if (!connection.is_made) return answered(nullptr);
  const std::uint64_t number = ++last_question_;
  connection.questions.push_back({number, requests.size(), std::move(answered)});
  front_.send(*connection.id, Network::to_node,
              written(requests, key_of(want.event), want.value, fmt::format("{}", floor_ms(ttl))));
  const Duration longest =
      2 * (world_.scenario.acquire_time + world_.scenario.front_delay_max) + 1s;
  const Duration some = 50ms + Duration(random_.below(static_cast<std::uint64_t>(longest.count())));
  const Duration patience = want.probed ? kProbePatience : some;
  agenda_.after(patience, [=, this] { give_up_on(door, number); });
}

// As a client library does it whose request has timed out.
void NaiveUser::give_up_on(unsigned door, std::uint64_t question) {
  Connection& connection = connections_[door - 1];
  const bool waits =
      std::any_of(connection.questions.begin(), connection.questions.end(),
                  [question](const Question& asked) { return asked.number == question; });
  if (!waits) return;
  front_.close(*connection.id, Network::to_node);
  drop(connection);
}

void NaiveUser::leave() {
  for (Connection& connection : connections_) {
    if (!connection.id) continue;
    front_.close(*connection.id, Network::to_node);
    drop(connection);
  }
}

// --- locks

// Half of the time with the value of before, as libraries do that send a request anew. Over plain
// Redis nodes not by a form that extends what it finds, where the last request may not be undone
// everywhere yet: such a node cannot know that it was extended (rule D5).
void NaiveUser::take(WantId id) {
  Want& want = wants_.at(id);
  const bool may_extend =
      world_.scenario.plain && want.is_unsure && !naive_forms()[want.event.form].is_exact;
  const bool is_anew = random_.below(2) == 0 || may_extend;
  if (is_anew && !want.probed) want.value = new_value();
  want.asked = agenda_.now();
  if (!want.probed && random_.below(4) == 0) read(id);
  if (!wants_.contains(id)) return;
  send(want, form_of(want).take, want.event.ttl,
       [=, this](const Reply* reply) { on_taken(id, reply); });
}

void NaiveUser::on_taken(WantId id, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end() || found->second.hold) return;
  Want& want = found->second;
  const bool is_over = agenda_.now() >= want.give_up || !wants_more_;
  if (reply != nullptr && is_yes(*reply)) {
    if (want.probed) return let_go(id, true);
    return rely_on(id, token_in(*reply));
  }
  if (is_over) return let_go(id, reply == nullptr && !world_.scenario.same_values);
  want.is_unsure = reply == nullptr || reply->is_error();
  look_later(id, reply != nullptr ? want.event.delay : kDialAgain, &NaiveUser::take);
}

// From when it reads the answer.
void NaiveUser::rely_on(WantId id, Token token) {
  Want& want = wants_.at(id);
  ++acquired_;
  want.valid_until = now() + want.event.ttl;
  tell(fmt::format("has {} by {}, for {} ms", key_of(want.event), form_of(want).name,
                   floor_ms(want.event.ttl)));
  const unsigned apart = world_.scenario.shares_keys ? 0 : kKeysApart;
  want.hold = world_.referee.begin({.client = number_,
                                    .key = want.event.key + apart,
                                    .token = token,
                                    .asked = want.asked,
                                    .valid_until = want.valid_until,
                                    .clock = &clock_});
  if (want.event.holding != Holding::run_out) want.release_at = agenda_.now() + want.event.length;
  look_after(id);
}

void NaiveUser::look_after(WantId id) {
  Want& want = wants_.at(id);
  if (now() >= want.valid_until && want.is_extending) return;  // goes on when it is answered
  const bool may_be_late = !world_.scenario.same_values && random_.below(4) == 0;
  if (now() >= want.valid_until) return let_go(id, may_be_late);
  if (agenda_.now() >= want.release_at) return let_go(id, true);
  const bool keeps = want.event.holding == Holding::keep;
  const TrueTime end = clock_.when(want.valid_until, agenda_.now());
  const TrueTime next = std::min(end, want.release_at);
  // Mostly in time, and sometimes just before the end.
  const Duration left = end - agenda_.now();
  const TrueTime extend_at = agenda_.now() + (random_.below(3) == 0 ? left * 9 / 10 : left / 3);
  const bool acts = extend_at < next && (keeps || random_.below(3) == 0);
  look_later(id, (acts ? extend_at : next) - agenda_.now(),
             !acts   ? &NaiveUser::look_after
             : keeps ? &NaiveUser::extend
                     : &NaiveUser::read);
}

// Also to a shorter time, by forms that can: that may be done from when it is sent.
void NaiveUser::extend(WantId id) {
  Want& want = wants_.at(id);
  if (would_come_late(want)) return look_later(id, kDialAgain, &NaiveUser::look_after);
  const bool shortens = random_.below(4) == 0;
  const Duration ttl = shortens ? want.event.ttl / 2 : want.event.ttl;
  if (shortens && now() + ttl < want.valid_until) {
    want.valid_until = now() + ttl;
    world_.referee.extend(*want.hold, want.valid_until);
  }
  const auto answered = note_loose(want);
  want.is_extending = true;
  look_later(id, clock_.when(want.valid_until, agenda_.now()) - agenda_.now(),
             &NaiveUser::look_after);
  send(want, form_of(want).extend, ttl, [=, this, sent = agenda_.now()](const Reply* reply) {
    if (reply != nullptr) answered();
    const bool may_be_done_later = shortens && reply == nullptr;
    if (may_be_done_later && wants_.contains(id)) return let_go(id, false);
    on_extended(id, ttl, sent, reply);
  });
}

// One that is answered after the lock's time relies on it anew.
void NaiveUser::on_extended(WantId id, Duration ttl, TrueTime sent, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end() || !found->second.hold) return;
  Want& want = found->second;
  want.is_extending = false;
  if (reply != nullptr && is_yes(*reply)) {
    ++extended_;
    const bool was_valid = now() < want.valid_until;
    want.valid_until = now() + ttl;
    tell(fmt::format("has extended {}, for {} ms", key_of(want.event), floor_ms(ttl)));
    if (was_valid) {
      world_.referee.extend(*want.hold, want.valid_until);
    } else {
      world_.referee.extend_anew(*want.hold, want.valid_until);
    }
  } else if (reply != nullptr && is_no(*reply) && !world_.scenario.plain) {
    world_.referee.check_free(*want.hold, sent, "is told that it has it no more");
  }
  look_after(id);
}

void NaiveUser::read(WantId id) {
  constexpr std::array kQuestions = {"GET", "EXISTS", "PTTL"};
  const Want& want = wants_.at(id);
  const std::string_view question = kQuestions[random_.below(kQuestions.size())];
  const unsigned key = want.event.key + (world_.scenario.shares_keys ? 0 : kKeysApart);
  send(want, {{question, "K"}}, 0ns, [=, this, sent = agenda_.now()](const Reply* reply) {
    // A plain Redis that has restarted answers as an empty one.
    const bool is_told = reply != nullptr && !world_.scenario.plain;
    if (is_told && says_free(*reply)) world_.referee.check_free(key, sent, number_);
  });
  if (want.hold) look_later(id, kDialAgain, &NaiveUser::look_after);
}

void NaiveUser::let_go(WantId id, bool releases) {
  const auto found = wants_.find(id);
  const Want want = std::move(found->second);
  wants_.erase(found);
  if (want.hold) {
    world_.referee.end(*want.hold);
    tell(fmt::format("{} {}", releases ? "releases" : "no longer relies on", key_of(want.event)));
  }
  if (releases && !would_come_late(want)) release(want);
  if (want.probed) want.probed(releases);
}

void NaiveUser::release(const Want& want) {
  const auto answered = note_loose(want);
  send(want, form_of(want).release, 0ns, [answered](const Reply* reply) {
    if (reply != nullptr) answered();
  });
}

// With a value that all have in common nothing is asked that might hit another's lock.
bool NaiveUser::would_come_late(const Want& want) const {
  if (!world_.scenario.same_values || want.probed) return false;
  return now() >= want.valid_until;
}

// What may still be on its way, or under way in a door, when the lock is another's, and compares
// equal. Until it is answered.
std::function<void()> NaiveUser::note_loose(const Want& want) {
  if (!world_.scenario.same_values || !want.hold) return [] {};
  return world_.referee.note_loose(*want.hold);
}

void NaiveUser::stop_wanting() {
  wants_more_ = false;
  std::vector<WantId> held;
  for (const auto& [id, want] : wants_) {
    if (want.hold) held.push_back(id);
  }
  for (const WantId id : held) let_go(id, true);
}

void NaiveUser::tell(std::string_view what) {
  const std::string who = fmt::format("naive {}", number_);
  world_.story.note(agenda_.now(), who);
  world_.story.note(agenda_.now(), what);
  if (world_.story.tells_events()) world_.story.tell(agenda_.now(), who, now(), what);
}

// --- connections

void NaiveUser::on_connected(ConnectionId id) {
  for (Connection& connection : connections_) {
    if (connection.id == id) connection.is_made = true;
  }
}

void NaiveUser::on_bytes(ConnectionId id, const std::string& bytes) {
  for (Connection& connection : connections_) {
    if (connection.id != id) continue;
    connection.unread += bytes;
    while (!connection.unread.empty()) {
      ParsedReply parsed = protocol::parse_reply(connection.unread);
      if (parsed.state != ParsedReply::State::complete) return;
      connection.unread.erase(0, parsed.consumed);
      if (connection.questions.empty() || --connection.questions.front().replies > 0) continue;
      const Answered answered = std::move(connection.questions.front().answered);
      connection.questions.pop_front();
      answered(&parsed.reply);
    }
  }
}

void NaiveUser::on_end(ConnectionId id, std::string_view /*reason*/) {
  for (Connection& connection : connections_) {
    if (connection.id == id) drop(connection);
  }
}

void NaiveUser::drop(Connection& connection) {
  const std::deque<Question> questions = std::exchange(connection, Connection{}).questions;
  for (const Question& question : questions) question.answered(nullptr);
}

}  // namespace redlock::simulation
