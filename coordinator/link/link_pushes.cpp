// What comes of itself, and what is sent to be passed on: LOCK.WAIT's pushes, the relay's messages.
#include "coordinator/link/link.h"

#include <utility>

namespace redlock::coordinator {

using protocol::Reply;

void Link::keep_push(Reply push) {
  if (relay_.take_message(push)) return;
  if (pushes_.size() < kPushesMax) pushes_.push_back(std::move(push));
}

// In RESP3 SUBSCRIBE is answered by a push, in its place among the answers; where it is refused, by
// an error, as all else.
bool Link::is_answer(const Reply& push) const {
  return !greeting_.is_under_way() && !in_flight_.empty() &&
         in_flight_.front().request.kind == RequestKind::subscribe && relay_.is_confirmation(push);
}

// In RESP2 a connection that is subscribed may ask nothing else: such a node passes nothing on.
void Link::subscribe(Instant now) {
  if (!relay_.is_doors() || !is_ready() || !greeting_.speaks_resp3()) return;
  if (in_flight_.size() < kInFlightMax) write(relay_.subscription(), ScriptForm::in_full, now);
}

void Link::publish(const SharedWords& publish, Instant now) {
  if (!is_ready()) return relay_.note_unsent();
  relay_.add(publish);
  publish_waiting(now);
}

// What is in flight needs no copy of it: nothing sends it again.
void Link::publish_waiting(Instant now) {
  while (in_flight_.size() < kInFlightMax) {
    std::optional<NodeRequest> request = relay_.next_publication();
    if (!request) return;
    write(std::move(*request), ScriptForm::in_full, now);
    in_flight_.back().request.words = nullptr;
  }
}

}  // namespace redlock::coordinator
