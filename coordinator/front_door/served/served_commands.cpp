#include "coordinator/front_door/served/served_commands.h"

#include "base/invariant.h"

#include <utility>

namespace redlock::coordinator {

// What one command has learned is told to those behind it that came before it was asked (D10): each
// runs again, and may be answered by it.
ServedCommands::ServedCommands(Parts parts)
    : is_audited_(parts.is_audited),
      shared_{
          .group = parts.group,
          .lines = lines_,
          .known = parts.known,
          .stats = parts.stats,
          .quotas = parts.quotas,
          .times = parts.times,
          .random = parts.random,
          .worth = parts.worth,
          .stopwatch = parts.stopwatch,
          .on_event = [this](Number number) { events_.push_back(number); },
          .on_slow = [this](Number number) { slow_.push_back(number); },
          .is_turn_over =
              [this] { return shared_.stopwatch() - turn_began_ >= server::TurnOrder::kTurnMax; },
          .on_certain =
              [this](const KeyState& key, Instant as_of) {
                for (const Number number : lines_.waiting_since(key.key, as_of)) {
                  find(number)->learn(key, now_);
                }
              },
          .on_held =
              [this](const std::string& key, Instant as_of) {
                for (const Number number : lines_.waiting_since(key, as_of)) {
                  find(number)->learn_held(key, now_);
                }
              },
          .on_change = std::move(parts.on_change)} {}

ServedCommand* ServedCommands::find(Number number) {
  const auto found = commands_.find(number);
  return found == commands_.end() ? nullptr : &found->second.command;
}

void ServedCommands::begin(SessionId session, std::unique_ptr<CommandBody> body, bool is_heard,
                           Now now) {
  now_ = now;
  const Number number = ++last_number_;
  const auto place = commands_.try_emplace(number, session, shared_, number, std::move(body), now);
  ServedCommand& begun = place.first->second.command;
  const bool is_first = by_session_.emplace(session, number).second;
  INVARIANT(is_first, "a session with two commands under way");
  if (!is_heard) begun.client_gone(now);
  if (!takes_nothing_as_.empty()) begun.stop_taking(takes_nothing_as_, now);
  if (!begun.finished()) begun.start(now);
}

void ServedCommands::client_gone(SessionId session, Now now) {
  const auto found = by_session_.find(session);
  if (found == by_session_.end()) return;
  now_ = now;
  const Number number = found->second;
  by_session_.erase(found);
  find(number)->client_gone(now);
}

void ServedCommands::stop_taking(std::string_view error, Now now) {
  now_ = now;
  takes_nothing_as_ = error;
  for (auto& [number, under_way] : commands_) under_way.command.stop_taking(error, now);
}

void ServedCommands::begin_turn() {
  if (shared_.stopwatch) turn_began_ = shared_.stopwatch();
}

// A command that is finished has said so by an event of its own.
void ServedCommands::settle(Now now) {
  now_ = now;
  while (!events_.empty()) {
    const Number number = events_.front();
    events_.pop_front();
    ServedCommand* command = find(number);
    if (command == nullptr) continue;
    command->on_event(now);
    if (command->finished()) end(number);
  }
}

void ServedCommands::let_slow_one_run(Now now) {
  now_ = now;
  const Number number = slow_.front();
  slow_.pop_front();
  if (ServedCommand* const command = find(number)) command->run_again(now);
}

void ServedCommands::end(Number number) {
  auto under_way = commands_.extract(number);
  const SessionId session = under_way.mapped().session;
  ServedCommand& command = under_way.mapped().command;
  const auto found = by_session_.find(session);
  if (found != by_session_.end() && found->second == number) by_session_.erase(found);
  answered_.push_back({session, command.take_reply(), command.take_promise(),
                       command.is_beyond_limits(), command.take_broken(),
                       is_audited_ ? command.taken() : std::vector<Claim>()});
}

}  // namespace redlock::coordinator
