// NodeHost: a node behind the SessionServer.
//
// Pure: the clock is handed in. Thread safety: none.
#pragma once

#include "server/node/node.h"
#include "server/sockets/session_host.h"

#include <utility>

namespace redlock::server {

class NodeHost : public SessionHost {
 public:
  // clock: monotonic; read anew after work that took its time. The node outlives the host.
  NodeHost(Node& node, Instant (*clock)()) : node_(node), clock_(clock) {}

  protocol::Session& open_session(protocol::Peer peer, Now now) override {
    return node_.open_session(std::move(peer), now);
  }
  void note_certificate(protocol::Session& session, std::string_view name, Now now) override {
    node_.note_certificate(session, name, now);
  }
  void close_session(protocol::Session::Id id) override { node_.close_session(id); }
  std::size_t wishes_of(const protocol::Session& session) const override {
    return node_.wishes_of(session);
  }
  std::size_t forget_some(protocol::Session& session, std::size_t at_most) override {
    return node_.forget_some(session, at_most);
  }
  bool has_unfinished_request(const protocol::Session& session) const override {
    return node_.has_unfinished_request(session);
  }
  protocol::Sessions& sessions() override { return node_.sessions(); }

  void expect(std::span<const std::string_view> received) override {
    node_.look_ahead().expect_first_of(received);
  }
  void receive(protocol::Session& session, std::string_view bytes, Now now) override {
    node_.receive(session, bytes, now);
  }

  void note_sent(protocol::Session&, std::size_t bytes) override {
    node_.stats().bytes_out += bytes;
  }
  void note_unsent(protocol::Session& session, std::size_t bytes) override {
    node_.note_unsent(session, bytes);
  }

  std::optional<Instant> next_work() const override { return node_.next_work(); }
  void do_due_work(Now now) override {
    const auto last_deadline = node_.do_due_work(now);
    if (last_deadline) node_.stats().reclaim_lag = clock_() - *last_deadline;
  }

  void stop() override { node_.stop({}); }
  bool is_stopped() const override { return node_.stop_request().has_value(); }

  const Settings& settings() const override { return node_.settings(); }
  ClientLog& client_log() override { return node_.client_log(); }

 protected:
  Node& node() { return node_; }
  const Node& node() const { return node_; }

 private:
  Node& node_;
  Instant (*clock_)();
};

}  // namespace redlock::server
