// RelayLine: what one link carries of the messages between front doors (rule D11).
//
// A door is subscribed to one channel at each node, and publishes to it there: what is a message of
// which channel of its clients stands inside. Nobody waits for a message, so none may cost a lock
// anything: few are in flight, in number and bytes, the next wait until the node has answered
// those, and of a node that hangs the latest are not sent to it. What a node pushes is kept apart
// from the pushes of LOCK.WAIT, and is no more than was read at once (Link::is_full).
//
// A part of a Link, of which one that does not relay never subscribes. A door's links for messages
// are not those for locks: what others publish at a node delays no answer (message_relay.h).
#pragma once

#include "coordinator/link/node_request.h"
#include "protocol/resp/reply.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

// At the nodes. Its first byte is one that no client's channel is likely to begin with.
inline constexpr std::string_view kRelayChannel{"\0redlock:relay", 14};

class RelayLine {
 public:
  // Messages that the node has not answered. One alone may be of any length.
  static constexpr std::size_t kInFlightMax = 1024;
  static constexpr std::size_t kInFlightBytesMax = 4 * 1024 * 1024;
  // Messages behind those, each with kMessageBytes of its own: a burst is sent whole.
  static constexpr std::size_t kWaitingBytesMax = 16 * 1024 * 1024;
  static constexpr std::size_t kMessageBytes = 64;

  explicit RelayLine(bool is_doors) : is_doors_(is_doors) {}

  bool is_doors() const { return is_doors_; }
  // Whether the node has confirmed, on the present connection, that it passes messages on.
  bool is_subscribed() const { return is_subscribed_; }
  // Messages that the node did not take: it was not there, too far behind, or refused them.
  std::uint64_t unsent() const { return unsent_; }

  NodeRequest subscription() const;
  // A message that is to go out, behind those before.
  void add(const SharedWords& publish);
  // The first of those, if it may be written now: then it counts as written.
  std::optional<NodeRequest> next_publication();
  void note_unsent() { ++unsent_; }
  void forget_unsent() { unsent_ = 0; }

  // Whether a push answers a subscription().
  bool is_confirmation(const protocol::Reply& push) const;
  // A push that is a message is taken; others are left alone.
  bool take_message(const protocol::Reply& push);
  // The answer to a request of whatever kind. Whether messages wait for the room that it makes.
  bool on_answer(RequestKind kind, const protocol::Reply& reply);
  bool has_waiting() const { return !waiting_.empty(); }
  void on_end();

  bool has_received() const { return !received_.empty(); }
  // The first of what came. REQUIRES: has_received().
  std::string take_received();

 private:
  void note_published(const protocol::Reply& reply);

  bool is_doors_;
  bool is_subscribed_ = false;
  std::deque<std::size_t> in_flight_;  // their bytes
  std::size_t in_flight_bytes_ = 0;
  std::deque<SharedWords> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::deque<std::string> received_;
  std::uint64_t unsent_ = 0;
};

// PUBLISH of this to the relay's channel, for the links to all nodes.
SharedWords relay_publication(std::string message);

}  // namespace redlock::coordinator
