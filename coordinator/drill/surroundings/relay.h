// Relay: the way of one client to one node, which a drill can cut and slow as a bad network does.
//
// The client connects to a unix socket of the relay, which connects to the node and passes on what
// comes, in both directions. On a way that is cut nothing arrives, and nothing is lost either: it
// is kept, in order, until the way is healed, as TCP keeps what it gets no answer to. So neither
// end learns that it is cut off, but by waiting. An end that closes, or a node that is not there,
// is passed on like bytes are.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "base/net/sockets/listener.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/time.h"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace redlock::drill {

class Relay {
 public:
  enum class Way { to_node, from_node };

  Relay(net::Loop& loop, net::Address node);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  Status listen(const net::Address& at);
  std::uint16_t port() const { return listener_->local().port; }  // of a TCP one

  void cut(Way way) { road(way).is_cut = true; }
  void heal();
  void slow(Duration delay);  // each way
  void unslow();

 private:
  class Connection;
  struct Road {
    bool is_cut = false;
    Duration delay{0};
  };

  Road& road(Way way) { return roads_[static_cast<std::size_t>(way)]; }
  void pass_on();

  net::Loop& loop_;
  const net::Address node_;
  std::array<Road, 2> roads_;
  net::Timer next_;
  std::unique_ptr<net::Listener> listener_;
  std::map<Connection*, std::unique_ptr<Connection>> connections_;
};

}  // namespace redlock::drill
