#include "protocol/sessions.h"

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
  sessions_.erase(found);
}

Session* Sessions::find(Session::Id id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

}  // namespace redlock::protocol
