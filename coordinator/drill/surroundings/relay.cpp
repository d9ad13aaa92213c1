#include "coordinator/drill/surroundings/relay.h"

#include "base/net/sockets/stream.h"
#include "base/net/turn/clock.h"

#include <algorithm>
#include <utility>

namespace redlock::drill {
namespace {

constexpr int kBacklog = 16;

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

}  // namespace

class Relay::Connection {
 public:
  Connection(Relay& relay, std::unique_ptr<net::Stream> client)
      : client_(relay, Way::to_node), node_(relay, Way::from_node) {
    client_.stream = std::move(client);
    client_.stream->set_user(client_);
    client_.stream->start_reading();
    node_.stream = net::Stream::connect(relay.loop_, relay.node_, node_);
  }

  // Passes on what is due. False when the connection is over, as one of its ends knows by now.
  bool pass_on(Instant at) {
    return client_.pass_on(at, *node_.stream) && node_.pass_on(at, *client_.stream);
  }
  // When something is due next, if nothing holds it.
  std::optional<Instant> next_due() const { return earlier(client_.next_due(), node_.next_due()); }

 private:
  // One end, and what came from it and has not been passed on.
  struct End final : net::Stream::User {
    struct Piece {
      Instant due;
      std::string bytes;  // empty: it has closed
    };

    End(Relay& its_relay, Way its_way) : relay(its_relay), way(its_way) {}

    void on_connected() override { stream->start_reading(); }
    void on_bytes(std::string_view bytes) override { take(std::string(bytes)); }
    void on_end(std::string_view) override { take({}); }
    // What is slowed later does not overtake what was slowed before.
    void take(std::string bytes) {
      Instant due = now() + relay.road(way).delay;
      if (!waiting.empty()) due = std::max(due, waiting.back().due);
      waiting.push_back({due, std::move(bytes)});
      relay.pass_on();  // may be the end of this object
    }
    bool pass_on(Instant at, net::Stream& other) {
      while (next_due() && *next_due() <= at) {
        const Piece piece = std::move(waiting.front());
        waiting.pop_front();
        if (piece.bytes.empty()) return false;
        other.write(piece.bytes);
      }
      return true;
    }
    std::optional<Instant> next_due() const {
      if (waiting.empty() || relay.road(way).is_cut) return std::nullopt;
      return waiting.front().due;
    }

    Relay& relay;
    const Way way;
    std::unique_ptr<net::Stream> stream;
    std::deque<Piece> waiting;
  };

  End client_;
  End node_;
};

Relay::Relay(net::Loop& loop, net::Address node)
    : loop_(loop),
      node_(std::move(node)),
      next_(loop, net::ClockKind::monotonic, [this] { pass_on(); }) {}

Relay::~Relay() = default;

Status Relay::listen(const net::Address& at) {
  auto listener =
      net::Listener::listen(loop_, at, kBacklog, [this](std::unique_ptr<net::Stream> client) {
        auto connection = std::make_unique<Connection>(*this, std::move(client));
        Connection* const key = connection.get();
        connections_.emplace(key, std::move(connection));
      });
  if (!listener) return listener.error();
  listener_ = std::move(listener).value();
  return Done{};
}

void Relay::heal() {
  for (Road& road : roads_) road.is_cut = false;
  pass_on();
}

void Relay::slow(Duration delay) {
  for (Road& road : roads_) road.delay = delay;
}

void Relay::unslow() {
  for (Road& road : roads_) road.delay = Duration::zero();
}

void Relay::pass_on() {
  std::optional<Instant> next;
  const Instant at = now();
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (!it->second->pass_on(at)) {
      it = connections_.erase(it);
      continue;
    }
    const auto due = it->second->next_due();
    if (due && (!next || *due < *next)) next = due;
    ++it;
  }
  next_.set(next);
}

}  // namespace redlock::drill
