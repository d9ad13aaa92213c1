// SessionServer: clients' sockets in front of a SessionHost, a node or a front door. A thin shell:
// it moves bytes between streams and sessions, reads the clock, and sets one timer.
//
// A turn of the loop: what has come is read, from some dozens of connections at a time; then it
// goes to the sessions, with a `now` that was read after it (rule C4), and their output is written,
// once per connection; at the end the timer is set for the host's next work.
//
// Thread safety: none, as Loop.
#pragma once

#include "base/net/turn/after_wait.h"
#include "base/net/turn/before_wait.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "server/sockets/listeners.h"
#include "server/sockets/session_host.h"
#include "server/sockets/turn_input.h"

#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace redlock::server {

class SessionServer {
 public:
  struct Hooks {
    // The host has stopped, and what it answered has gone out: the end of the loop, say.
    std::function<void()> stopped;
    // At the end of each turn, when all of it was executed and nothing of it answered: what the
    // host has to say to others leaves before what it says to clients.
    std::function<void()> before_output = {};
    // Behind it: work that takes long, and keeps no answer waiting.
    std::function<void()> behind_output = {};
  };
  // All outlive the server.
  SessionServer(net::Loop& loop, SessionHost& host, Listeners& listeners, Hooks hooks);
  ~SessionServer();
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  // SIGTERM, SIGINT: finishes the turn and stops the host.
  void stop();

 private:
  class Connection;

  void accept(std::unique_ptr<net::Stream> stream);
  void take(Connection& connection, std::string_view bytes);
  void execute_held();
  void forget(Connection& connection);
  void end_session(protocol::Session::Id id);
  void let_some_leave();
  void drop_last_words(Instant now);
  void drop_unopened(Instant now);
  bool is_opening(protocol::Session::Id id) const;
  void forget_opened();
  void drop_first_opening(std::string_view why);
  void make_place();
  void do_due_work();
  void write_output();
  void end_turn();
  void set_timer();

  SessionHost& host_;
  const Hooks hooks_;
  std::unordered_map<protocol::Session::Id, std::unique_ptr<Connection>> connections_;
  TurnInput<Connection> held_;
  // Connections that end when their peers have read, or at these instants, the soonest first.
  struct Ending {
    Instant end;
    protocol::Session::Id session;
  };
  std::deque<Ending> ending_;
  // Connections whose TLS is to be open by these instants, the soonest first. Those that are, or
  // have gone, may still be among them.
  std::deque<Ending> opening_;
  // Sessions without a connection that have much to be forgotten, in the order of their ends.
  std::deque<protocol::Session::Id> leaving_;
  std::size_t forgotten_ = 0;  // wishes, in this turn
  net::Timer timer_;
  net::AfterWait after_wait_;
  net::BeforeWait before_wait_;
};

}  // namespace redlock::server
