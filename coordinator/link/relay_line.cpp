#include "coordinator/link/relay_line.h"

#include "base/invariant.h"

#include <memory>
#include <utility>
#include <vector>

namespace redlock::coordinator {

using protocol::Reply;

namespace {

bool is_from_relay(const Reply& push, std::string_view what) {
  const auto& items = push.items();
  return items.size() == 3 && items[0].text() == what && items[1].text() == kRelayChannel;
}

std::size_t bytes_of(const SharedWords& publish) {
  return publish->back().size();
}

}  // namespace

NodeRequest RelayLine::subscription() const {
  static const SharedWords kWords = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"SUBSCRIBE", std::string(kRelayChannel)});
  return {.kind = RequestKind::subscribe, .words = kWords};
}

void RelayLine::add(const SharedWords& publish) {
  const std::size_t bytes = bytes_of(publish) + kMessageBytes;
  if (!waiting_.empty() && waiting_bytes_ + bytes > kWaitingBytesMax) return note_unsent();
  waiting_.push_back(publish);
  waiting_bytes_ += bytes;
}

std::optional<NodeRequest> RelayLine::next_publication() {
  if (waiting_.empty()) return std::nullopt;
  const std::size_t bytes = bytes_of(waiting_.front());
  const bool has_room =
      in_flight_.size() < kInFlightMax && in_flight_bytes_ + bytes <= kInFlightBytesMax;
  if (!has_room && !in_flight_.empty()) return std::nullopt;
  in_flight_.push_back(bytes);
  in_flight_bytes_ += bytes;
  waiting_bytes_ -= bytes + kMessageBytes;
  NodeRequest request{.kind = RequestKind::publish, .words = std::move(waiting_.front())};
  waiting_.pop_front();
  return request;
}

bool RelayLine::is_confirmation(const Reply& push) const {
  return push.is(Reply::Kind::push) && is_from_relay(push, "subscribe");
}

bool RelayLine::take_message(const Reply& push) {
  if (!is_from_relay(push, "message")) return false;
  received_.emplace_back(push.items()[2].text());
  return true;
}

std::string RelayLine::take_received() {
  INVARIANT(has_received(), "a message that did not come");
  std::string message = std::move(received_.front());
  received_.pop_front();
  return message;
}

bool RelayLine::on_answer(RequestKind kind, const Reply& reply) {
  if (kind == RequestKind::subscribe) is_subscribed_ = is_confirmation(reply);
  if (kind == RequestKind::publish) note_published(reply);
  return has_waiting();
}

void RelayLine::note_published(const Reply& reply) {
  INVARIANT(!in_flight_.empty(), "an answer to a message that was not sent");
  in_flight_bytes_ -= in_flight_.front();
  in_flight_.pop_front();
  if (reply.is_error()) ++unsent_;
}

void RelayLine::on_end() {
  is_subscribed_ = false;
  unsent_ += waiting_.size();
  in_flight_.clear();
  waiting_.clear();
  in_flight_bytes_ = waiting_bytes_ = 0;
}

SharedWords relay_publication(std::string message) {
  return std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"PUBLISH", std::string(kRelayChannel), std::move(message)});
}

}  // namespace redlock::coordinator
