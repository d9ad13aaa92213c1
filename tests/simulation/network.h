// Network: connections between clients and nodes, as TCP gives them: bytes arrive in order, once,
// or the connection ends. Nothing is promised between two connections: what was sent on an older
// one may arrive after what was sent on a newer one, also after the client has given the
// older one up.
//
// Where a scenario says so messages come in pieces, and several as one.
//
// A cut holds bytes back, as retransmissions get through when it ends. Bytes for a machine that is
// off wait for it in the same way, and are then answered with a reset.
#pragma once

#include "base/random.h"
#include "tests/simulation/agenda.h"
#include "tests/simulation/calm.h"
#include "tests/simulation/scenario.h"
#include "tests/simulation/story.h"

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

using ConnectionId = std::size_t;

// What the network sees of a node and its machine.
class NodeEnd {
 public:
  virtual ~NodeEnd() = default;
  virtual bool is_machine_on() const = 0;
  // The process that listens now; 0: none.
  virtual std::uint64_t process() const = 0;
  virtual void on_connection(ConnectionId connection) = 0;
  virtual void on_bytes(ConnectionId connection, const std::string& bytes) = 0;
  virtual void on_end(ConnectionId connection) = 0;
};

class ClientEnd {
 public:
  virtual ~ClientEnd() = default;
  virtual void on_connected(ConnectionId connection) = 0;
  virtual void on_bytes(ConnectionId connection, const std::string& bytes) = 0;
  virtual void on_end(ConnectionId connection, std::string_view reason) = 0;
};

class Network {
 public:
  enum Direction : std::uint8_t { to_node, to_client };

  Network(Agenda& agenda, Story& story, const Scenario& scenario);

  // They outlive it. In the order of their numbers.
  void add_node(NodeEnd& node) { nodes_.push_back(&node); }
  void add_client(ClientEnd& client) { clients_.push_back(&client); }

  // For clients and nodes, numbered from 1. A connection is dialled to whatever the address leads
  // to now.
  ConnectionId dial(unsigned client, unsigned address);
  void send(ConnectionId connection, Direction direction, std::string bytes);
  void close(ConnectionId connection, Direction direction);
  void end_all_of_node(unsigned node);      // its process is gone
  void end_all_of_client(unsigned client);  // the same
  void forget_all_of_node(unsigned node);   // its machine is off: nobody is told

  unsigned client_of(ConnectionId connection) const { return connections_[connection].client; }

  // Faults.
  void cut(unsigned client, unsigned node, Direction direction, TrueTime until);
  void slow(unsigned client, unsigned node, Duration by, TrueTime until);
  void mislead(unsigned client, unsigned address, unsigned node);
  void hang_up(unsigned client, unsigned address);
  // All of them end.
  void heal(const Calm& calm);

 private:
  enum class What : std::uint8_t { dial, dialled, refused, bytes, end };
  struct Message {
    TrueTime due;
    What what;
    std::string bytes;
  };
  struct Pipe {
    std::deque<Message> messages;
    TrueTime last_due{};
  };
  struct Connection {
    unsigned client;
    unsigned address;
    unsigned node;
    std::uint64_t process = 0;  // that accepted it
    bool client_is_there = true;
    bool node_is_there = false;
    std::array<Pipe, 2> pipes = {};
  };
  // What is known of a client and a node, in one direction.
  struct Way {
    Random random;
    TrueTime cut_until{};
    TrueTime slow_until{};
    Duration slow_by{};
  };

  Way& way(const Connection& connection, Direction direction) {
    return way(connection.client, connection.node, direction);
  }
  Way& way(unsigned client, unsigned node, Direction direction) {
    return ways_[((client - 1) * nodes_max_ + node - 1) * 2 + direction];
  }
  Duration travel_time(Way& way);
  void send_in_pieces(ConnectionId id, Direction direction, std::string_view bytes);
  void put(ConnectionId id, Direction direction, What what, std::string bytes = {});
  void pump(ConnectionId id, Direction direction);
  void deliver(ConnectionId id, Direction direction, Message message);
  void deliver_to_node(ConnectionId id, Message message);
  void deliver_to_client(ConnectionId id, const Message& message);
  void tell(const Connection& connection, Direction direction, const Message& message);

  Agenda& agenda_;
  Story& story_;
  const Scenario& scenario_;
  const std::size_t nodes_max_;
  std::vector<NodeEnd*> nodes_;
  std::vector<ClientEnd*> clients_;
  std::deque<Connection> connections_;  // never forgotten: a run is short
  std::vector<Way> ways_;
  std::vector<std::vector<unsigned>> leads_to_;  // by client and address
  std::optional<Calm> calm_;
};

}  // namespace redlock::simulation
