// Sessions: all clients of one service, and which of them the shell has to look at.
//
// A command may write to other sessions than its own or close them (CLIENT KILL, a push). The shell
// asks for the touched ones once per turn, writes their output and closes those that are closing.
//
// What all of them keep is bounded (maxmemory-clients): whoever takes most is cut off, as many as
// it takes, at the moment in which the bound is passed.
#pragma once

#include "protocol/session/session.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

namespace redlock::protocol {

class Sessions {
 public:
  Session& open(Peer peer, bool authenticated, Instant now);
  // The connection is gone. A Kind::later reply that comes for it finds nobody.
  void close(Session::Id id);

  Session* find(Session::Id id);
  std::size_t count() const { return sessions_.size(); }
  const std::map<Session::Id, std::unique_ptr<Session>>& all() const { return sessions_; }

  // Input, queued transactions, output, watches and subscriptions, as each told last.
  std::size_t bytes() const { return bytes_; }
  void set_bytes_max(std::size_t bytes) { bytes_max_ = bytes; }
  std::uint64_t cut_for_bytes() const { return cut_for_bytes_; }

  // Those with new output or a wish to close since the last call; each once.
  template <class Look>
  void for_each_touched(Look look) {
    while (!touched_.empty()) {
      looking_.swap(touched_);
      for (Session* session : looking_) {
        if (session == nullptr) continue;  // closed since
        session->touched_ = false;
        look(*session);
      }
      looking_.clear();
    }
  }

 private:
  friend class Session;

  void make_room();

  std::map<Session::Id, std::unique_ptr<Session>> sessions_;
  std::vector<Session*> touched_;
  std::vector<Session*> looking_;
  Session::Id last_id_ = 0;
  std::size_t bytes_ = 0;
  std::size_t bytes_max_ = std::numeric_limits<std::size_t>::max();
  std::uint64_t cut_for_bytes_ = 0;
};

}  // namespace redlock::protocol
