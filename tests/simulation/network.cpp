#include "tests/simulation/network.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {
namespace {

// What a lost segment costs: Linux's shortest retransmission time.
constexpr Duration kResendTime = 200ms;

}  // namespace

Network::Network(Agenda& agenda, Story& story, const Scenario& scenario)
    : agenda_(agenda), story_(story), scenario_(scenario), nodes_max_(scenario.nodes) {
  const unsigned clients = scenario.clients + scenario.users + scenario.doors;
  const std::size_t ways = std::size_t{clients} * scenario.nodes * 2;
  for (std::size_t i = 0; i < ways; ++i) ways_.push_back({Random(scenario.seed * 1024 + i)});
  for (unsigned client = 0; client < clients; ++client) {
    std::vector<unsigned>& addresses = leads_to_.emplace_back();
    for (unsigned node = 1; node <= scenario.nodes; ++node) addresses.push_back(node);
  }
}

Duration Network::travel_time(Way& way) {
  const auto spread =
      static_cast<std::uint64_t>((scenario_.delay_max - scenario_.delay_min).count());
  Duration time = scenario_.delay_min + Duration(way.random.below(spread + 1));
  const bool is_resent = way.random.below(1000) < scenario_.resent_per_thousand;
  if (calm_) return calm_->shortened(time);
  if (is_resent) time += kResendTime;
  if (agenda_.now() < way.slow_until) time += way.slow_by;
  return time;
}

ConnectionId Network::dial(unsigned client, unsigned address) {
  connections_.push_back({client, address, leads_to_[client - 1][address - 1]});
  const ConnectionId id = connections_.size() - 1;
  put(id, to_node, What::dial);
  return id;
}

void Network::send(ConnectionId id, Direction direction, std::string bytes) {
  Way& its_way = way(connections_[id], direction);
  const bool is_whole = scenario_.pieces_per_thousand == 0 ||
                        its_way.random.below(1000) >= scenario_.pieces_per_thousand;
  if (!is_whole) return send_in_pieces(id, direction, bytes);
  put(id, direction, What::bytes, std::move(bytes));
}

void Network::send_in_pieces(ConnectionId id, Direction direction, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t piece = 1 + way(connections_[id], direction).random.below(bytes.size());
    put(id, direction, What::bytes, std::string(bytes.substr(0, piece)));
    bytes.remove_prefix(piece);
  }
}

void Network::close(ConnectionId id, Direction direction) {
  Connection& connection = connections_[id];
  (direction == to_node ? connection.client_is_there : connection.node_is_there) = false;
  put(id, direction, What::end);
}

void Network::end_all_of_node(unsigned node) {
  for (ConnectionId id = 0; id < connections_.size(); ++id) {
    if (connections_[id].node == node && connections_[id].node_is_there) close(id, to_client);
  }
}

void Network::end_all_of_client(unsigned client) {
  for (ConnectionId id = 0; id < connections_.size(); ++id) {
    if (connections_[id].client == client && connections_[id].client_is_there) close(id, to_node);
  }
}

void Network::forget_all_of_node(unsigned node) {
  for (Connection& connection : connections_) {
    if (connection.node == node) connection.node_is_there = false;
  }
}

void Network::put(ConnectionId id, Direction direction, What what, std::string bytes) {
  Connection& connection = connections_[id];
  Pipe& pipe = connection.pipes[direction];
  const TrueTime due = agenda_.now() + travel_time(way(connection, direction));
  pipe.last_due = std::max(pipe.last_due, due);
  pipe.messages.push_back({pipe.last_due, what, std::move(bytes)});
  if (pipe.messages.size() == 1) agenda_.at(pipe.last_due, [=, this] { pump(id, direction); });
}

// Delivers what is due; of what follows the first says when to look again.
void Network::pump(ConnectionId id, Direction direction) {
  Connection& connection = connections_[id];
  Pipe& pipe = connection.pipes[direction];
  while (!pipe.messages.empty()) {
    const TrueTime now = agenda_.now();
    const Way& its_way = way(connection, direction);
    TrueTime next = pipe.messages.front().due;
    if (its_way.cut_until > now) next = std::max(next, its_way.cut_until + scenario_.delay_max);
    const bool is_off = direction == to_node && !nodes_[connection.node - 1]->is_machine_on();
    if (is_off) next = std::max(next, now + kResendTime);
    if (next > now) return agenda_.at(next, [=, this] { pump(id, direction); });
    Message message = std::move(pipe.messages.front());
    pipe.messages.pop_front();
    const bool joins = scenario_.pieces_per_thousand > 0 && message.what == What::bytes;
    while (joins && !pipe.messages.empty() && pipe.messages.front().what == What::bytes &&
           pipe.messages.front().due <= now) {
      message.bytes += pipe.messages.front().bytes;
      pipe.messages.pop_front();
    }
    deliver(id, direction, std::move(message));
  }
}

void Network::deliver(ConnectionId id, Direction direction, Message message) {
  const Connection& connection = connections_[id];
  story_.note(agenda_.now(), (std::uint64_t{id} << 8) | (std::uint64_t{direction} << 4) |
                                 static_cast<std::uint64_t>(message.what));
  story_.note(agenda_.now(), message.bytes);
  if (story_.tells_messages()) tell(connection, direction, message);
  if (direction == to_node) {
    deliver_to_node(id, std::move(message));
  } else {
    deliver_to_client(id, message);
  }
}

void Network::deliver_to_node(ConnectionId id, Message message) {
  Connection& connection = connections_[id];
  NodeEnd& node = *nodes_[connection.node - 1];
  if (message.what == What::dial) {
    if (!connection.client_is_there) return;
    if (node.process() == 0) return put(id, to_client, What::refused);
    connection.process = node.process();
    connection.node_is_there = true;
    put(id, to_client, What::dialled);
    return node.on_connection(id);
  }
  const bool is_same_process = connection.process == node.process();
  if (!connection.node_is_there || !is_same_process) {
    if (connection.client_is_there) put(id, to_client, What::end);
    return;
  }
  if (message.what == What::bytes) return node.on_bytes(id, message.bytes);
  connection.node_is_there = false;
  node.on_end(id);
}

void Network::deliver_to_client(ConnectionId id, const Message& message) {
  Connection& connection = connections_[id];
  if (!connection.client_is_there) return;
  ClientEnd& client = *clients_[connection.client - 1];
  switch (message.what) {
    case What::dialled:
      return client.on_connected(id);
    case What::bytes:
      return client.on_bytes(id, message.bytes);
    case What::refused:
      connection.client_is_there = false;
      return client.on_end(id, "connection refused");
    case What::dial:
    case What::end:
      connection.client_is_there = false;
      return client.on_end(id, "connection reset by peer");
  }
}

void Network::tell(const Connection& connection, Direction direction, const Message& message) {
  constexpr std::array kTexts = {"dials", "is connected", "is refused", "", "ends"};
  const std::string text = message.what == What::bytes
                               ? resp_text(message.bytes)
                               : kTexts[static_cast<std::size_t>(message.what)];
  story_.tell(
      agenda_.now(), fmt::format("client {}", connection.client), std::nullopt,
      fmt::format("{} node {}: {}", direction == to_node ? "-->" : "<--", connection.node, text));
}

void Network::cut(unsigned client, unsigned node, Direction direction, TrueTime until) {
  TrueTime& cut_until = way(client, node, direction).cut_until;
  cut_until = std::max(cut_until, until);
}

void Network::slow(unsigned client, unsigned node, Duration by, TrueTime until) {
  for (const Direction direction : {to_node, to_client}) {
    Way& its_way = way(client, node, direction);
    its_way.slow_by = by;
    its_way.slow_until = until;
  }
}

void Network::mislead(unsigned client, unsigned address, unsigned node) {
  leads_to_[client - 1][address - 1] = node;
  hang_up(client, address);
}

void Network::hang_up(unsigned client, unsigned address) {
  for (ConnectionId id = 0; id < connections_.size(); ++id) {
    Connection& connection = connections_[id];
    if (connection.client != client || connection.address != address) continue;
    if (!connection.client_is_there) continue;
    close(id, to_node);
    clients_[client - 1]->on_end(id, "connection reset by peer");
  }
}

void Network::heal(const Calm& calm) {
  calm_ = calm;
  for (Way& each : ways_) {
    each.cut_until = std::min(each.cut_until, agenda_.now());
    each.slow_until = std::min(each.slow_until, agenda_.now());
  }
  for (unsigned client = 1; client <= scenario_.clients; ++client) {
    for (unsigned address = 1; address <= scenario_.nodes; ++address) {
      if (leads_to_[client - 1][address - 1] != address) mislead(client, address, address);
    }
  }
}

}  // namespace redlock::simulation
