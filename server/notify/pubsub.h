// PubSub: who listens to which channel, and the messages to them.
//
//   pubsub.subscribe(session, PubSub::Kind::channel, "news");
//   pubsub.publish("news", "hello");              // how many got it
//
// A message is written to those who listen at once: it stands in a connection's output before the
// reply of what published it, as with Redis 7.0. It reaches whoever listens at that moment, and is
// kept for nobody.
//
// Unless it has so many listeners, or so many patterns to be matched with, that everybody would
// wait for it: then the rest of them is told in pieces, by go_on(). Whatever is published meanwhile
// comes behind, so all listeners see all messages in one order.
//
// A session counts what it listens to (Session::listens_to); in RESP2 such a one may call little
// else, as its client could not tell a message from a reply.
//
// Thread safety: none. Invariant: a name stands in names_ as long as a session listens to it, and
// each of its listeners has it in listeners_.
#pragma once

#include "protocol/catalogue/command_spec.h"
#include "protocol/resp/reply.h"
#include "protocol/session/session.h"
#include "server/settings/event_flags.h"
#include "server/settings/piece.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// What all that one connection listens to may take. It bounds the memory, the time that its
// patterns cost each message, and that in which all of them are forgotten when it goes.
inline constexpr std::size_t kSubscriptionBytesMax = 4 * 1024 * 1024;
// What the messages may take of which a part of the listeners was not told yet.
inline constexpr std::size_t kUnfinishedBytesMax = 16 * 1024 * 1024;
// What a script or a transaction is told that publishes while PubSub::is_full().
inline constexpr std::string_view kTooManyMessages =
    "ERR messages are published faster than their listeners can be told: this one was not";
// About what one subscription takes beside its name: nodes of three trees.
inline constexpr std::size_t kSubscriptionBytes = 256;

class PubSub {
 public:
  using Session = protocol::Session;
  using Reply = protocol::Reply;
  // Shard channels are a world of their own: SPUBLISH reaches them, and no pattern does.
  enum class Kind : std::uint8_t { channel, pattern, shard_channel };

  PubSub() = default;
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  // Again is the same as once. False: it would be more than kSubscriptionBytesMax.
  // REQUIRES: the session lives until forget() or has unsubscribed from all.
  [[nodiscard]] bool subscribe(Session& session, Kind kind, std::string_view name);
  void unsubscribe(Session& session, Kind kind, std::string_view name);
  // From so much at most, without a word: the session ends, or begins anew. Returns from how much.
  std::size_t forget(Session& session, std::size_t at_most = kAllAtOnce);
  // In the order of their bytes, the first ones.
  std::vector<std::string> names_of(const Session& session, Kind kind,
                                    std::size_t at_most = kAllAtOnce) const;

  // To how many listeners it went so far; one that listens by several patterns counts, and gets it,
  // as often. `kind`: channel or shard_channel.
  struct Published {
    std::size_t receivers = 0;
    bool is_whole = true;  // false: go_on() tells the rest
  };
  Published publish(std::string_view channel, std::string_view message, Kind kind = Kind::channel);
  // How many a message would go to now. Counted no further than publish() would tell in one piece.
  std::size_t receivers(std::string_view channel, Kind kind = Kind::channel) const;
  // Who waits to be told how many got the message that was published last.
  // REQUIRES: it is not whole.
  void tell_when_whole(Session::Id publisher);

  // Whether go_on() has something to do.
  bool has_unfinished() const { return !unfinished_.empty(); }
  // No more is to be published until go_on() has told some of it.
  bool is_full() const { return unfinished_bytes_ > kUnfinishedBytesMax; }
  // A piece. Whoever waits for the end of what has come to it is put behind `whole`.
  struct Whole {
    Session::Id publisher;
    std::size_t receivers;
  };
  void go_on(std::vector<Whole>& whole);

  // What happened to a key, to those of the two channels that `asked` names (event_flags.h).
  void publish_event(EventFlags asked, std::string_view event, std::string_view key);

  std::size_t count(Kind kind) const { return names(kind).size(); }
  std::size_t listeners(Kind kind, std::string_view name) const;
  // Names with a listener that match the glob. nullopt: to match all of them takes too long.
  std::optional<std::vector<std::string>> matching(Kind kind, std::string_view pattern) const;

  // A listener whose unread output is more than this is closed; 0: never.
  void set_output_bytes_max(std::uint64_t bytes) { output_bytes_max_ = bytes; }
  // About what all subscriptions take, and the messages that are not whole, for maxmemory.
  std::size_t bytes() const { return bytes_ + unfinished_bytes_; }

 private:
  // By number, not by address: messages go out in the same order in every run of the simulator.
  using Listeners = std::map<Session::Id, Session*>;
  using Names = std::map<std::string, Listeners, std::less<>>;
  struct Listener {
    std::array<std::set<std::string_view>, 3> names;  // by kind; views of the keys of names_
    std::size_t bytes = 0;
  };

  // How far a message has come: to which listener, of its channel or of which pattern.
  struct Progress {
    bool is_at_patterns = false;
    std::string pattern;
    Session::Id told = 0;  // the last of these; 0: none
    std::size_t receivers = 0;
  };
  struct Message {
    std::string channel;
    std::string text;
    Kind kind;
    bool is_event;  // of a key: it stands in the channel or in the text
    Progress progress;
    std::optional<Session::Id> publisher;
  };

  // event_key: of an event; it is told to those alone who are shown the key.
  using EventKey = std::optional<std::string_view>;
  Published publish(std::string_view channel, std::string_view text, Kind kind, bool is_event);
  bool tell(std::string_view channel, std::string_view text, Kind kind, const EventKey& event_key,
            Progress& progress) const;
  bool tell_some(const Listeners& listeners, const Reply& message, const EventKey& event_key,
                 Progress& progress, std::size_t& steps) const;

  Names& names(Kind kind) { return names_[static_cast<std::size_t>(kind)]; }
  const Names& names(Kind kind) const { return names_[static_cast<std::size_t>(kind)]; }

  std::array<Names, 3> names_;
  std::map<Session::Id, Listener> listeners_;
  std::size_t bytes_ = 0;
  std::uint64_t output_bytes_max_ = 0;
  std::deque<Message> unfinished_;
  std::size_t unfinished_bytes_ = 0;
};

// Why a session that listens may not call this command; nullopt: it may. REQUIRES: it listens.
std::optional<protocol::Reply> refuse_to_listener(const protocol::Session& session,
                                                  const protocol::CommandSpec& spec);

}  // namespace redlock::server
