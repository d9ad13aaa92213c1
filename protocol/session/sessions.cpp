#include "protocol/session/sessions.h"

#include <algorithm>

namespace redlock::protocol {
namespace {

constexpr std::size_t kRoomShare = 32;  // of maxmemory-clients

}  // namespace

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
// gone out since. Those that took most go until a little more room is made than is wanted, or each
// who comes next would have all of them looked at again.
void Sessions::make_room() {
  std::vector<Session*> by_bytes;
  by_bytes.reserve(sessions_.size());
  bytes_ = 0;
  for (const auto& [id, session] : sessions_) {
    if (const Transport* transport = session->transport; transport != nullptr) {
      session->unsent_bytes_ = transport->unsent_bytes();
    }
    session->settled_bytes_ = session->cut_ == Session::Cut::no ? session->memory_bytes() : 0;
    bytes_ += session->settled_bytes_;
    by_bytes.push_back(session.get());
  }
  if (bytes_ <= bytes_max_) return;
  std::sort(by_bytes.begin(), by_bytes.end(), [](const Session* a, const Session* b) {
    return a->settled_bytes_ > b->settled_bytes_;
  });
  for (Session* largest : by_bytes) {
    if (bytes_ <= bytes_max_ - bytes_max_ / kRoomShare) break;
    ++cut_for_bytes_;
    largest->cut_off(Session::Cut::took_most);
  }
}

Session* Sessions::find(Session::Id id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

}  // namespace redlock::protocol
