// The node and its clients: what becomes of those that end, idle, or do not read.
#include "server/node/node.h"

#include <fmt/format.h>

namespace redlock::server {

using protocol::Session;

void Node::tell_of_cut(const Session& session) {
  const auto tell = [&](ClientLog::Kind kind, std::string_view why) {
    client_log_.log(kind, LogLevel::warning,
                    fmt::format("closing {}: {}", session.peer().address, why),
                    grants_.clock().latest());
  };
  if (session.cut() == Session::Cut::reply_too_large) {
    tell(ClientLog::Kind::large_reply,
         fmt::format("the reply to its {} would take more than a client may be told at once",
                     session.last_command));
  } else if (session.cut() == Session::Cut::took_most) {
    ++stats_.clients_evicted;
    tell(ClientLog::Kind::evicted,
         fmt::format("it took {} bytes, the most of all clients, and together they took more than "
                     "maxmemory-clients",
                     session.bytes_when_cut()));
  }
}

void Node::forget_wishes(Session& session) {
  key_walks_.forget(session);
  waiters_.forget(session.id());
  watches_.forget(session);
  pubsub_.forget(session);
  observers_.leave(session);
}

std::size_t Node::wishes_of(const Session& session) const {
  const Session::ListensTo& to = session.listens_to;
  return std::size_t{to.channels} + to.patterns + to.shard_channels + session.watched_keys +
         waiters_.count_of(session.id());
}

void Node::note_unsent(Session& session, std::size_t bytes) {
  session.note_unsent(bytes);
  if (session.is_held_back() && session.has_room()) give_turn(session);
}

void Node::forget_stats() {
  stats_ = {};
  rates_ = {};
}

void Node::close_idle_sessions(Instant now) {
  if (settings_.timeout == 0ns || now < idle_check_ + kIdleCheckInterval) return;
  idle_check_ = now;
  for (const auto& [id, session] : sessions_.all()) {
    const bool is_idle = now - session->last_request() > settings_.timeout;
    const bool is_told = session->is_listening() || session->is_in(Session::kMonitoring);
    const bool waits = session->is_waiting() || waiters_.count_of(id) > 0 || is_told;
    if (is_idle && !waits) session->close_after_output();
  }
}

}  // namespace redlock::server
