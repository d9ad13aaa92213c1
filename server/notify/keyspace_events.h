// KeyspaceEvents: what became of keys, told to those who listen (notify-keyspace-events).
//
//   events.tell(kGenericEvent, "del", key, now);   // by the command that is done with the key
//   events.tell_expired();                         // after a command, and a turn of expiry
//
// Where nobody asked for events, telling one costs one branch.
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "server/locks/key_notes.h"
#include "server/notify/pubsub.h"
#include "server/observe/client_log.h"
#include "server/settings/event_flags.h"

#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

class KeyspaceEvents {
 public:
  // All outlive it. asked: the setting, which may change; apply_settings() follows.
  KeyspaceEvents(const EventFlags& asked, KeyNotes& notes, PubSub& pubsub, ClientLog& log)
      : asked_(asked), notes_(notes), pubsub_(pubsub), log_(log) {}
  KeyspaceEvents(const KeyspaceEvents&) = delete;
  KeyspaceEvents& operator=(const KeyspaceEvents&) = delete;

  void apply_settings();

  // The key may be a view of anything but the lock.
  void tell(EventFlag kind, std::string_view event, std::string_view key, Instant now) {
    if (asked_ != 0) publish(kind, event, key, now);
  }
  // The keys whose locks ended by their deadline.
  void tell_expired() {
    if (notes_.has_expired()) publish_expired();
  }

 private:
  void publish(EventFlag kind, std::string_view event, std::string_view key, Instant now);
  void publish_expired();

  const EventFlags& asked_;
  KeyNotes& notes_;
  PubSub& pubsub_;
  ClientLog& log_;
  std::vector<std::string> expired_;  // kept for its memory
};

}  // namespace redlock::server
