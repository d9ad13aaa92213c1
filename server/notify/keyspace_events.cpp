#include "server/notify/keyspace_events.h"

namespace redlock::server {

void KeyspaceEvents::apply_settings() {
  notes_.want(KeyNotes::expired, are_told(asked_, kExpiredEvent));
}

// What ran out before is told before.
void KeyspaceEvents::publish(EventFlag kind, std::string_view event, std::string_view key,
                             Instant now) {
  tell_expired();
  if (!are_told(asked_, kind)) return;
  if (pubsub_.is_full()) {
    log_.log(ClientLog::Kind::events_dropped, LogLevel::warning,
             "keyspace events are dropped: their listeners cannot be told as fast", now);
  }
  pubsub_.publish_event(asked_, event, key);
}

void KeyspaceEvents::publish_expired() {
  notes_.take_expired(expired_);
  for (const std::string& key : expired_) pubsub_.publish_event(asked_, "expired", key);
}

}  // namespace redlock::server
