#include "coordinator/front_door/messages/message_relay.h"

#include <utility>

namespace redlock::coordinator {

void MessageRelay::tell(const DoorMessage& message) {
  listeners_.publish(message.channel, message.text, message.kind);
  tell_others(message);
}

// This door hears it, too.
void MessageRelay::tell_others(const DoorMessage& message) {
  ++figures_.sent;
  const MessageId id = new_message_id(random_);
  seen_.add(id, now_);
  outbox_.push_back(relay_publication(written_message(id, message)));
}

void MessageRelay::act(Now now, Instant holders_now) {
  now_ = now.monotonic;
  receive();
  if (group_.options().relays) subscribe_again(holders_now);
}

void MessageRelay::receive() {
  const Instant began = stopwatch_ ? stopwatch_() : Instant{};
  while (receive_one_of_each()) {
    if (stopwatch_ && stopwatch_() - began >= kTurnMax) return;
  }
}

// In turn, so that no node's messages wait behind all those of another.
bool MessageRelay::receive_one_of_each() {
  bool is_any = false;
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    RelayLine& line = group_.link(node).relay();
    if (!line.has_received()) continue;
    is_any = true;
    receive(line.take_received());
  }
  return is_any;
}

void MessageRelay::subscribe_again(Instant holders_now) {
  if (!subscribe_again_at_) subscribe_again_at_ = later(now_, kSubscribeAgainAfter);
  if (now_ < *subscribe_again_at_) return;
  subscribe_again_at_ = later(now_, kSubscribeAgainAfter);
  for (NodeIndex node = 0; node < group_.size(); ++node) group_.link(node).subscribe(holders_now);
  group_.look_for_newer_roster(holders_now);
}

// An id is noted even of what cannot be told: one that comes once more is no second chance.
void MessageRelay::receive(std::string_view bytes) {
  const std::optional<ReadMessage> message = read_message(bytes);
  if (!message) {
    ++figures_.malformed;
  } else if (!seen_.add(message->id, now_)) {
    ++figures_.repeated;
  } else if (listeners_.is_full()) {
    ++figures_.too_many;
  } else {
    ++figures_.received;
    listeners_.publish(message->channel, message->text, message->kind);
  }
}

void MessageRelay::send(Instant holders_now) {
  for (const SharedWords& publish : std::exchange(outbox_, {})) {
    for (NodeIndex node = 0; node < group_.size(); ++node) {
      group_.link(node).publish(publish, holders_now);
    }
  }
}

std::optional<Instant> MessageRelay::next_work() const {
  if (!outbox_.empty()) return Instant{};
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    if (group_.link(node).relay().has_received()) return Instant{};
  }
  return subscribe_again_at_;
}

std::size_t MessageRelay::subscribed_nodes() const {
  std::size_t subscribed = 0;
  for (NodeIndex node = 0; node < group_.size(); ++node) {
    if (group_.link(node).relay().is_subscribed()) ++subscribed;
  }
  return subscribed;
}

std::uint64_t MessageRelay::unsent() const {
  std::uint64_t unsent = 0;
  for (NodeIndex node = 0; node < group_.size(); ++node)
    unsent += group_.link(node).relay().unsent();
  return unsent;
}

}  // namespace redlock::coordinator
