#include "tests/simulation/doors/naive_user.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using protocol::ParsedReply;
using protocol::Reply;

constexpr Instant kNaivesFirstReading{std::chrono::minutes(40)};
constexpr Duration kDialAgain = 100ms;
constexpr Duration kProbePatience = 10s;
// Of a lock's time: with less nobody extends it, or a user without a connection would ask for ever.
constexpr Duration kLeastLeft = 1ms;
constexpr unsigned kKeysApart = 1000;  // for the referee: no key of the group's own clients

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

}  // namespace

// Its clock runs as that of one of the clients.
NaiveUser::NaiveUser(const Surroundings& world, Network& front, unsigned number)
    : world_(world),
      front_(front),
      agenda_(world.agenda),
      number_(world.scenario.clients + world.scenario.users + world.scenario.doors + number),
      own_(number),
      random_(world.scenario.seed * 65537 + number),
      clock_(agenda_.now(), kNaivesFirstReading,
             world.scenario.client_rates[number % world.scenario.clients]),
      connections_(2 * world.scenario.doors) {}

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

void NaiveUser::probe(unsigned door, unsigned form, Duration ttl,
                      std::function<void(bool was_got)> done) {
  const Event event{
      .other = door, .key = 1, .length = 1ms, .delay = 50ms, .ttl = ttl, .form = form};
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
  send(door_for(want), want, requests, ttl, std::move(answered));
}

void NaiveUser::send(unsigned door, const Want& want, const Requests& requests, Duration ttl,
                     Answered answered, Duration longest) {
  const std::size_t index = door - 1 + (longest > 0ns ? world_.scenario.doors : 0);
  Connection& connection = connections_[index];
  if (!connection.id) connection.id = front_.dial(own_, door);
  if (!connection.is_made) return answered(nullptr);
  const std::uint64_t number = ++last_question_;
  connection.questions.push_back({number, requests.size(), std::move(answered)});
  const std::string key = key_of(want.event);
  front_.send(*connection.id, Network::to_node,
              written(requests, key, want.value, fmt::format("{}", floor_ms(ttl)), key + "-flag"));
  longest += 2 * (world_.scenario.acquire_time + world_.scenario.front_delay_max) + 1s;
  const Duration patience = want.probed ? kProbePatience : 50ms + some_time(longest);
  agenda_.after(patience, [=, this] { give_up_on(index, number); });
}

// As a client library does it whose request has timed out.
void NaiveUser::give_up_on(std::size_t index, std::uint64_t question) {
  Connection& connection = connections_[index];
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
  const bool may_extend = world_.scenario.plain && want.is_unsure && !naive_form_of(want).is_exact;
  const bool is_anew = random_.below(2) == 0 || may_extend;
  if (is_anew && !want.probed) {
    want.value = new_value();
    want.requests = 0;
    want.counted = 0;
  }
  naive_form_of(want).has_flag ? move_flag(id) : ask(id);
}

// Raises the flag, mostly, and moves it through some doors while the script may be under way.
void NaiveUser::move_flag(WantId id) {
  constexpr std::array<Duration, 3> kTimes = {10ms, 40ms, 300ms};
  constexpr Duration kScriptTime = 20ms;  // when all goes well
  const Event event = wants_.at(id).event;
  const Duration wait = some_time(kTimes[random_.below(kTimes.size())]);
  if (random_.below(4) != 0) raise_or_lower(event, 0);
  if (!wants_.contains(id)) return;
  for (std::uint64_t moves = random_.below(6); moves > 0; --moves) {
    const bool is_close = random_.below(4) != 0;
    const Duration at =
        is_close ? wait + some_time(kScriptTime) : some_time(2 * wait + kScriptTime);
    agenda_.after(at, [=, this, what = random_.below(4)] { raise_or_lower(event, what); });
  }
  look_later(id, wait, &NaiveUser::ask);
}

// Nobody waits for it.
void NaiveUser::raise_or_lower(const Event& event, std::uint64_t what) {
  const std::array<Requests, 4> all = {{{{"SET", "F", "up", "NX", "PX", "T"}},
                                        {{"DEL", "F"}},
                                        {{"GETDEL", "F"}},
                                        {{"PEXPIRE", "F", "10"}}}};
  const auto door = 1 + static_cast<unsigned>(random_.below(world_.scenario.doors));
  send(door, {.event = event, .value = {}, .give_up = {}}, all[what], event.ttl,
       [](const Reply*) {});
}

Duration NaiveUser::some_time(Duration most) {
  return Duration(random_.below(static_cast<std::uint64_t>(most.count())));
}

void NaiveUser::ask(WantId id) {
  Want& want = wants_.at(id);
  want.asked = agenda_.now();
  if (!want.probed && random_.below(4) == 0) read(id);
  if (!wants_.contains(id)) return;
  ++want.requests;
  world_.referee.forget_refused(want.value);
  const unsigned door = door_for(want);
  send(
      door, want, form_of(want).take, want.event.ttl,
      [=, this](const Reply* reply) { on_taken(id, door, reply); }, naive_form_of(want).waits);
}

void NaiveUser::watch(WantId id) {
  const Want& want = wants_.at(id);
  const std::string length = fmt::format("{}", floor_ms(kWatchLength));
  send(
      door_for(want), want, {{"LOCK.WAIT", "K", length}}, 0ns,
      [=, this](const Reply* reply) {
        const bool waits = wants_.contains(id) && !wants_.at(id).hold;
        if (waits) look_later(id, reply != nullptr ? 0ns : kDialAgain, &NaiveUser::take);
      },
      kWatchLength);
}

void NaiveUser::on_taken(WantId id, unsigned door, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end() || found->second.hold) return;
  Want& want = found->second;
  const NaiveForm& form = naive_form_of(want);
  const bool is_over = agenda_.now() >= want.give_up || !wants_more_;
  const auto told = reply == nullptr ? std::nullopt : told_time(form, *reply, want.event.ttl);
  if (told) {
    if (form.counts) check_count(want, *reply);
    if (want.probed) return let_go(id, true);
    return rely_on(id, *told, token_in(*reply));
  }
  const bool is_refused = reply != nullptr && !reply->is_error();
  const bool has_one_answer = want.requests == 1 && form.is_exact;
  if (is_refused && has_one_answer && !world_.scenario.same_values) {
    world_.referee.note_refused(want.value, door);
  }
  if (is_over) return let_go(id, reply == nullptr && !world_.scenario.same_values);
  want.is_unsure = reply == nullptr || reply->is_error();
  if (is_refused && form.watches) return watch(id);
  look_later(id, reply != nullptr ? want.event.delay : kDialAgain, &NaiveUser::take);
}

// From when it reads the answer.
void NaiveUser::rely_on(WantId id, Duration ttl, Token token) {
  Want& want = wants_.at(id);
  ++acquired_;
  want.valid_until = now() + ttl;
  tell(fmt::format("has {} by {}, for {} ms", key_of(want.event), form_of(want).name,
                   floor_ms(ttl)));
  const unsigned apart = world_.scenario.shares_keys ? 0 : kKeysApart;
  // A door hands an answer over within its acquire time, and the reply time brings it here: twice
  // that is longer by any clock.
  const Duration under_way = 2 * (world_.scenario.acquire_time + world_.scenario.reply_time);
  want.hold = world_.referee.begin({.client = number_,
                                    .key = want.event.key + apart,
                                    .token = token,
                                    .asked = want.asked,
                                    .valid_until = want.valid_until,
                                    .clock = &clock_,
                                    .granted = std::max(want.asked, agenda_.now() - under_way)});
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
  const bool acts = left > kLeastLeft && extend_at < next && (keeps || random_.below(3) == 0);
  look_later(id, (acts ? extend_at : next) - agenda_.now(),
             !acts   ? &NaiveUser::look_after
             : keeps ? &NaiveUser::extend
                     : &NaiveUser::read);
}

// Also to a shorter time, by forms that can: that may be done from when it is sent.
void NaiveUser::extend(WantId id) {
  Want& want = wants_.at(id);
  if (would_come_late(want)) return look_later(id, kDialAgain, &NaiveUser::look_after);
  const bool shortens = random_.below(4) == 0 && !naive_form_of(want).has_flag;
  const Duration ttl = shortens ? want.event.ttl / 2 : want.event.ttl;
  if (shortens && now() + ttl < want.valid_until) {
    want.valid_until = now() + ttl;
    world_.referee.extend(*want.hold, want.valid_until);
  }
  const auto answered = note_loose(want);
  ++want.requests;
  want.is_extending = true;
  look_later(id, clock_.when(want.valid_until, agenda_.now()) - agenda_.now(),
             &NaiveUser::look_after);
  if (naive_form_of(want).counts) count_beside(id);
  send(want, form_of(want).extend, ttl, [=, this, sent = agenda_.now()](const Reply* reply) {
    if (reply != nullptr) answered();
    const bool may_be_done_later = shortens && reply == nullptr;
    if (may_be_done_later && wants_.contains(id)) return let_go(id, false);
    on_extended(id, ttl, sent, reply);
  });
}

// One that is answered after the lock's time relies on it anew, unless the value is one that all
// have: what it extended may be another's lock by then (with one Redis, too).
void NaiveUser::on_extended(WantId id, Duration ttl, TrueTime sent, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end() || !found->second.hold) return;
  Want& want = found->second;
  want.is_extending = false;
  const auto told = reply == nullptr ? std::nullopt : told_time(naive_form_of(want), *reply, ttl);
  if (told) {
    ++extended_;
    const bool was_valid = now() < want.valid_until;
    if (!was_valid && world_.scenario.same_values) return let_go(id, false);
    if (naive_form_of(want).counts && was_valid) check_count(want, *reply);
    want.valid_until = now() + *told;
    tell(fmt::format("has extended {}, for {} ms", key_of(want.event), floor_ms(*told)));
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

// The same through other doors at about the same time, as of threads of one holder. Nobody waits
// for these.
void NaiveUser::count_beside(WantId id) {
  for (std::uint64_t more = random_.below(4); more > 0; --more) {
    agenda_.after(some_time(random_.below(2) == 0 ? 2ms : 20ms), [=, this] {
      const auto found = wants_.find(id);
      if (found == wants_.end()) return;
      ++found->second.requests;
      const Want want = found->second;
      send(want, form_of(want).extend, want.event.ttl, [](const Reply*) {});
    });
  }
}

// Each request was done once at most; and one that it was told of, before it sent this one, is
// there still. Plain Redis nodes forget.
void NaiveUser::check_count(Want& want, const Reply& reply) {
  const std::int64_t before = std::exchange(want.counted, reply.integer());
  const bool is_sound = want.counted > before && want.counted <= want.requests;
  if (is_sound || world_.scenario.plain) return;
  world_.referee.found(
      Breach::miscounted,
      fmt::format(
          "naive {}, who has asked {} times for {} and was told of {} by then, is told of {}",
          number_, want.requests, key_of(want.event), before, want.counted));
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
