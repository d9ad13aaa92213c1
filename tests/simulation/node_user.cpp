#include "tests/simulation/node_user.h"

#include "coordinator/quorum/validity.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

using protocol::ParsedReply;
using protocol::Reply;

constexpr Instant kUsersFirstReading{std::chrono::minutes(20)};
constexpr Duration kUserDialsAgain = 20ms;

// For the referee: no key of the group, and no key of another node.
unsigned key_of(const Event& event) {
  return event.node * 100 + event.key;
}

}  // namespace

// Its clock runs as that of one of the clients.
NodeUser::NodeUser(const Surroundings& world, unsigned number)
    : world_(world),
      agenda_(world.agenda),
      number_(world.scenario.clients + number),
      random_(world.scenario.seed * 16411 + number),
      clock_(agenda_.now(), kUsersFirstReading,
             world.scenario.client_rates[number % world.scenario.clients]),
      connections_(world.scenario.nodes) {}

void NodeUser::ask(const Event& event) {
  if (!wants_more_) return;
  const WantId id = ++last_want_;
  const std::uint64_t secret = random_();
  wants_[id] = {.event = event,
                .key = fmt::format("own{}", event.key),
                .value = fmt::format("{}-{:016x}", number_, secret),
                .give_up = agenda_.now() + event.wait,
                .hold = {},
                .granted_on = {}};
  take(id);
}

void NodeUser::after(Duration wait, WantId id, void (NodeUser::*what)(WantId id)) {
  agenda_.after(wait, [=, this] {
    if (wants_.contains(id)) (this->*what)(id);
  });
}

void NodeUser::send(const Want& want, const Requests& requests, Answered answered) {
  Connection& connection = connection_of(want);
  if (!connection.id) connection.id = world_.network.dial(number_, want.event.node);
  if (!connection.is_made) return answered(nullptr);
  connection.questions.push_back({requests.size(), std::move(answered)});
  world_.network.send(
      *connection.id, Network::to_node,
      written(requests, want.key, want.value, fmt::format("{}", floor_ms(want.event.ttl))));
}

// A new value each time: what came too late to be relied on is not taken for a later one (Q6).
void NodeUser::take(WantId id) {
  Want& want = wants_.at(id);
  const std::uint64_t secret = random_();
  want.value = fmt::format("{}-{:016x}", number_, secret);
  const Instant sent = now();
  send(want, form_of(want).take, [=, this](const Reply* reply) { on_taken(id, sent, reply); });
}

void NodeUser::on_taken(WantId id, Instant sent, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end()) return;
  Want& want = found->second;
  const bool is_over = agenda_.now() >= want.give_up || !wants_more_;
  const bool is_taken = reply != nullptr && is_yes(*reply);
  if (!is_taken && is_over) return let_go(id, reply == nullptr);
  if (!is_taken)
    return after(reply != nullptr ? want.event.delay : kUserDialsAgain, id, &NodeUser::take);
  want.valid_until = coordinator::validity_end(sent, want.event.ttl, world_.scenario.drift());
  if (now() >= want.valid_until || !wants_more_) return let_go(id, true);
  ++acquired_;
  want.granted_on = connection_of(want).id;
  tell(fmt::format("has {} of node {} by {}, valid for {} ms", want.key, want.event.node,
                   form_of(want).name, floor_ms(want.valid_until - now())));
  want.hold = world_.referee.begin({.client = number_,
                                    .key = key_of(want.event),
                                    .token = 0,
                                    .asked = agenda_.now(),
                                    .valid_until = want.valid_until,
                                    .clock = &clock_});
  if (want.event.holding != Holding::run_out) want.release_at = agenda_.now() + want.event.length;
  look_after(id);
}

void NodeUser::look_after(WantId id) {
  Want& want = wants_.at(id);
  if (agenda_.now() >= want.release_at) return let_go(id, true);
  if (now() >= want.valid_until) return let_go(id, false);
  const bool keeps = want.event.holding == Holding::keep;
  const TrueTime extend_at = agenda_.now() + want.event.ttl / 3;
  const TrueTime end = clock_.when(want.valid_until, agenda_.now());
  const TrueTime next = std::min(end, want.release_at);
  const bool extends = keeps && extend_at < next;
  after((extends ? extend_at : next) - agenda_.now(), id,
        extends ? &NodeUser::extend : &NodeUser::look_after);
}

void NodeUser::extend(WantId id) {
  const Want& want = wants_.at(id);
  const Instant sent = now();
  send(want, form_of(want).extend, [=, this](const Reply* reply) { on_extended(id, sent, reply); });
}

// A node that said yes on this very connection has not been restarted since: it must hold the lock
// as long as it is valid.
void NodeUser::on_extended(WantId id, Instant sent, const Reply* reply) {
  const auto found = wants_.find(id);
  if (found == wants_.end() || !found->second.hold) return;
  Want& want = found->second;
  if (now() >= want.valid_until) return let_go(id, false);
  if (reply != nullptr && is_yes(*reply)) {
    ++extended_;
    want.valid_until = std::max(
        want.valid_until, coordinator::validity_end(sent, want.event.ttl, world_.scenario.drift()));
    world_.referee.extend(*want.hold, want.valid_until);
  } else if (reply != nullptr && is_no(*reply) && want.granted_on == connection_of(want).id) {
    world_.referee.found(
        Breach::lost, fmt::format("node {} lacks {}, which it gave to user {} and nobody released",
                                  want.event.node, want.key, number_));
  }
  look_after(id);
}

// Also what may have been granted unheard.
void NodeUser::let_go(WantId id, bool releases) {
  const auto found = wants_.find(id);
  const Want want = std::move(found->second);
  wants_.erase(found);
  if (want.hold) {
    world_.referee.end(*want.hold);
    tell(fmt::format("lets {} of node {} go", want.key, want.event.node));
  }
  if (releases) send(want, form_of(want).release, [](const Reply*) {});
}

void NodeUser::stop_wanting() {
  wants_more_ = false;
  std::vector<WantId> held;
  for (const auto& [id, want] : wants_) {
    if (want.hold) held.push_back(id);
  }
  for (const WantId id : held) let_go(id, true);
}

void NodeUser::tell(std::string_view what) {
  const std::string who = fmt::format("user {}", number_);
  world_.story.note(agenda_.now(), who);
  world_.story.note(agenda_.now(), what);
  if (world_.story.tells_events()) world_.story.tell(agenda_.now(), who, now(), what);
}

// --- connections

void NodeUser::on_connected(ConnectionId id) {
  for (Connection& connection : connections_) {
    if (connection.id == id) connection.is_made = true;
  }
}

void NodeUser::on_bytes(ConnectionId id, const std::string& bytes) {
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

void NodeUser::on_end(ConnectionId id, std::string_view /*reason*/) {
  for (Connection& connection : connections_) {
    if (connection.id == id) drop(connection);
  }
}

void NodeUser::drop(Connection& connection) {
  const std::deque<Question> questions = std::exchange(connection, Connection{}).questions;
  for (const Question& question : questions) question.answered(nullptr);
}

}  // namespace redlock::simulation
