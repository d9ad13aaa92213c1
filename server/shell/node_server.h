// NodeServer: the node on sockets. A thin shell: it moves bytes between streams and sessions, reads
// the clock, and sets one timer.
//
// A turn of the loop: what has come is read, from some dozens of connections at a time; then it
// goes to the sessions, with a `now` that was read after it (rule C4), and their output is written,
// once per connection; at the end the timer is set for the node's next work.
//
// Thread safety: none, as Loop.
#pragma once

#include "base/net/sockets/listener.h"
#include "base/net/sockets/stream.h"
#include "base/net/turn/after_wait.h"
#include "base/net/turn/before_wait.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "server/node/node.h"
#include "server/shell/turn_input.h"
#include <redlock/result.h>

#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::server {

// What listens before there is a node: so that an address in use ends a start before it touched the
// state folder.
class Listeners {
 public:
  using OnConnection = std::function<void(std::unique_ptr<net::Stream>)>;

  // At every address of the settings. An address marked optional may fail. any_free_port: at a port
  // that the system chooses instead of the setting's; for one TCP address.
  static Result<std::unique_ptr<Listeners>> open(net::Loop& loop, const Settings& settings,
                                                 bool any_free_port = false);

  // Nothing is accepted before the loop runs. REQUIRES: called before that.
  void admit_to(OnConnection on_connection) { on_connection_ = std::move(on_connection); }

  std::uint16_t port() const;     // of the first TCP address; 0: none
  std::string addresses() const;  // for the log

 private:
  Result<bool> add(net::Loop& loop, const net::Address& address, const Settings& settings);

  OnConnection on_connection_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

class NodeServer {
 public:
  NodeServer(net::Loop& loop, Node& node, Listeners& listeners);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  // SIGTERM, SIGINT: finishes the turn, then the loop stops.
  void stop(StopRequest request);

 private:
  class Connection;

  void accept(std::unique_ptr<net::Stream> stream);
  void take(Connection& connection, std::string_view bytes);
  void execute_held();
  void forget(Connection& connection);
  void end_session(protocol::Session::Id id);
  void let_some_leave();
  void drop_last_words(Instant now);
  void do_due_work();
  void write_output();
  void end_turn();
  void set_timer();

  net::Loop& loop_;
  Node& node_;
  std::unordered_map<protocol::Session::Id, std::unique_ptr<Connection>> connections_;
  TurnInput<Connection> held_;
  // Connections that end when their peers have read, or at these instants, the soonest first.
  struct Ending {
    Instant end;
    protocol::Session::Id session;
  };
  std::deque<Ending> ending_;
  // Sessions without a connection that have much to be forgotten, in the order of their ends.
  std::deque<protocol::Session::Id> leaving_;
  std::size_t forgotten_ = 0;  // wishes, in this turn
  net::Timer timer_;
  net::AfterWait after_wait_;
  net::BeforeWait before_wait_;
};

}  // namespace redlock::server
