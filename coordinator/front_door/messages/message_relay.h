// MessageRelay: messages between the clients of all front doors over the same nodes (rule D11).
//
//   relay.tell(message);              // to this door's listeners now, and to the nodes in act()
//   relay.act(now, holders_now);      // first in a turn: what the nodes passed on
//   relay.send(holders_now);          // last in it: what has been told goes to them
//
// A message goes to all nodes, and each passes it on to all doors: so who is subscribed at a quorum
// hears what reached a quorum. The first that comes of a message is told to the listeners, and all
// further ones are dropped. Delivery is Redis's: at most once, while connected, to nobody who
// listens later; and a door's messages keep their order.
//
// The door asks each node for its messages again from time to time. A node that hangs, or whose
// machine is gone, is so found by its silence (Link::kSilenceMax), and what it still passes on when
// it awakes reaches a connection that is over, instead of listeners that heard it long ago. With it
// the nodes are asked for their roster: a door whose clients take no lock hears of no other.
//
// Whoever reaches the nodes may publish there as much as he likes. So the relay has a group of its
// own, over connections that carry nothing else; it takes messages for kTurnMax of a turn, and
// while some wait for that their connections are not read. What a node cannot get rid of it keeps,
// up to its client-output-buffer-limit; then it ends the connection, which is dialled again, and
// what it had kept is lost. A flood delays and drops messages, and no answer about a lock.
//
// Pure. Thread safety: none.
#pragma once

#include "base/time.h"
#include "coordinator/front_door/messages/door_message.h"
#include "coordinator/front_door/messages/seen_messages.h"
#include "coordinator/group/group.h"
#include "server/notify/pubsub.h"
#include "server/observe/stopwatch.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

struct RelayFigures {
  std::uint64_t sent = 0;       // messages of this door's clients
  std::uint64_t received = 0;   // of other doors' clients, each once
  std::uint64_t repeated = 0;   // came again, from a further node
  std::uint64_t malformed = 0;  // of somebody who is no front door
  std::uint64_t too_many = 0;   // received while listeners could not be told as quickly
};

class MessageRelay {
 public:
  static constexpr Duration kSubscribeAgainAfter = 15s;
  // Of a turn, in which locks are looked after, too.
  static constexpr Duration kTurnMax = 1ms;

  // What it is given outlives it: `group` for messages, best one that locks do not share. An empty
  // stopwatch times nothing.
  MessageRelay(Group& group, server::PubSub& listeners, const RandomBytes& random,
               const server::Stopwatch& stopwatch)
      : group_(group), listeners_(listeners), random_(random), stopwatch_(stopwatch) {}
  MessageRelay(const MessageRelay&) = delete;
  MessageRelay& operator=(const MessageRelay&) = delete;

  // To the listeners of this door, and to other doors.
  void tell(const DoorMessage& message);
  // To other doors alone.
  void tell_others(const DoorMessage& message);

  // For a turn's time at most: what is left then comes next.
  void act(Now now, Instant holders_now);
  // What has been told since goes out. Behind all that tells something.
  void send(Instant holders_now);
  std::optional<Instant> next_work() const;

  const RelayFigures& figures() const { return figures_; }
  void forget_figures() { figures_ = {}; }
  // Nodes that pass on to this door what other doors tell.
  std::size_t subscribed_nodes() const;
  // Of all links: messages that a node did not take.
  std::uint64_t unsent() const;

 private:
  void receive();
  bool receive_one_of_each();
  void receive(std::string_view bytes);
  void subscribe_again(Instant holders_now);

  Group& group_;
  server::PubSub& listeners_;
  const RandomBytes& random_;
  const server::Stopwatch& stopwatch_;
  SeenMessages seen_;
  std::vector<SharedWords> outbox_;
  RelayFigures figures_;
  Instant now_{};  // of act()
  std::optional<Instant> subscribe_again_at_;
};

}  // namespace redlock::coordinator
