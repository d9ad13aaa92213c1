// NodeUser: a program that uses single nodes as lock servers, as one uses a Redis: no quorum, no
// coordinator. It asks by any of the forms, tries again while another holds the lock, extends what
// it keeps, and counts its validity by rule Q2. What one node promises is checked by the same
// referee: each key of each node is a lock of its own.
#pragma once

#include "base/random.h"
#include "protocol/resp/reply_parser.h"
#include "tests/simulation/forms.h"
#include "tests/simulation/host.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class NodeUser final : public ClientEnd {
 public:
  // number: from 1, among the users. The network knows it behind the clients.
  NodeUser(const Surroundings& world, unsigned number);

  void ask(const Event& event);
  // It wants nothing more, and lets go of what it has.
  void stop_wanting();
  std::uint64_t acquired() const { return acquired_; }
  std::uint64_t extended() const { return extended_; }

  // ClientEnd
  void on_connected(ConnectionId connection) override;
  void on_bytes(ConnectionId connection, const std::string& bytes) override;
  void on_end(ConnectionId connection, std::string_view reason) override;

 private:
  // reply: nullptr when the connection ended before.
  using Answered = std::function<void(const protocol::Reply* reply)>;
  struct Question {
    std::size_t replies;  // that are still to come
    Answered answered;
  };
  struct Connection {
    std::optional<ConnectionId> id;
    bool is_made = false;
    std::string unread;
    std::deque<Question> questions;
  };
  // A lock that is wanted, or held.
  struct Want {
    Event event;
    std::string key;
    std::string value;
    TrueTime give_up;
    TrueTime release_at = kEndOfTime;
    Instant valid_until = {};
    std::optional<Referee::HoldId> hold;
    std::optional<ConnectionId> granted_on;
  };
  using WantId = std::uint64_t;

  Instant now() const { return clock_.at(agenda_.now()); }
  const Form& form_of(const Want& want) const { return forms()[want.event.form]; }
  Connection& connection_of(const Want& want) { return connections_[want.event.node - 1]; }
  // Sends it if there is a connection, else makes one and answers nullptr.
  void send(const Want& want, const Requests& requests, Answered answered);
  void drop(Connection& connection);
  // Later, if the want is still there.
  void after(Duration wait, WantId id, void (NodeUser::*what)(WantId id));

  void take(WantId id);
  void on_taken(WantId id, Instant sent, const protocol::Reply* reply);
  void look_after(WantId id);
  void extend(WantId id);
  void on_extended(WantId id, Instant sent, const protocol::Reply* reply);
  void let_go(WantId id, bool releases);
  void tell(std::string_view what);

  const Surroundings world_;
  Agenda& agenda_;
  const unsigned number_;  // as the network knows it
  Random random_;
  SkewedClock clock_;
  std::vector<Connection> connections_;  // by node, from 0
  std::map<WantId, Want> wants_;
  WantId last_want_ = 0;
  bool wants_more_ = true;
  std::uint64_t acquired_ = 0;
  std::uint64_t extended_ = 0;
};

}  // namespace redlock::simulation
