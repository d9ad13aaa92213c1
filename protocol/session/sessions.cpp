#include "protocol/session/sessions.h"

#include <algorithm>

namespace redlock::protocol {

Session& Sessions::open(Peer peer, bool authenticated, Instant now) {
  const Session::Id id = ++last_id_;
  auto session = std::make_unique<Session>(*this, id, std::move(peer), authenticated, now);
  return *sessions_.emplace(id, std::move(session)).first->second;
}

void Sessions::close(Session::Id id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const Session& session = *found->second;
  for (std::vector<Session*>* list : {&touched_, &looking_}) {
    const std::size_t at = session.touched_at_;
    if (at < list->size() && (*list)[at] == &session) (*list)[at] = nullptr;
  }
  bytes_ -= session.settled_bytes_;
  sessions_.erase(found);
}

// The shell's figures are looked at anew: what was unsent when it told them may have
// gone out since.
void Sessions::make_room() {
  bytes_ = 0;
  for (const auto& [id, session] : sessions_) {
    if (const Transport* transport = session->transport; transport != nullptr) {
      session->unsent_bytes_ = transport->unsent_bytes();
    }
    session->settled_bytes_ = session->cut_ == Session::Cut::no ? session->memory_bytes() : 0;
    bytes_ += session->settled_bytes_;
  }
  while (bytes_ > bytes_max_) {
    const auto largest =
        std::max_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
          return a.second->settled_bytes_ < b.second->settled_bytes_;
        });
    ++cut_for_bytes_;
    largest->second->cut_off(Session::Cut::took_most);
  }
}

Session* Sessions::find(Session::Id id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

}  // namespace redlock::protocol
