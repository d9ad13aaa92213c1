// SUBSCRIBE and its siblings, PUBLISH, SPUBLISH, PUBSUB: messages from client to client.
//
// Lock libraries wake their waiters by them: Redisson's unlock script publishes, and whoever waits
// for the lock listens. Nothing of it touches a lock, so a recovering node serves it.
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/grants/refusals.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/settings/piece.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts
using Kind = PubSub::Kind;

// What clients are told: shard channels count by themselves.
std::int64_t count_of(const Session& session, Kind kind) {
  const Session::ListensTo& to = session.listens_to;
  return kind == Kind::shard_channel ? to.shard_channels : to.channels + to.patterns;
}

Reply confirmation(std::string_view what, Reply name, std::int64_t count) {
  Reply message = Reply::push({});
  message.add(Reply::bulk_view(what)).add(std::move(name)).add(Reply::integer(count));
  return message;
}

// So many names at a time, unless others are kept out anyway.
std::size_t names_of_piece(const Call& call) {
  return call.in_transaction ? kAllAtOnce : kNamesOfPiece;
}

// What a piece did is confirmed at its end: messages may come before the next.
Reply in_next_turn(Call& call, const Reply& confirmations) {
  for (const Reply& each : confirmations.items()) call.session.tell(each, 0);
  return call.node.turns().in_next_turn(call.session, call.instant());
}

// What is done with each of the command's names, which it confirms; an error ends the command.
template <class Deed>
Reply in_pieces(Call& call, Deed deed) {
  Walk walk = call.node.walks().take(call.session);
  const Request left = call.words.subspan(1 + walk.next);
  const Request piece = left.first(std::min(left.size(), names_of_piece(call)));
  Reply confirmations = Reply::sequence();
  for (const std::string_view name : piece) {
    confirmations.add(deed(name));
    if (confirmations.items().back().is_error()) return confirmations;
  }
  if (piece.size() == left.size()) return confirmations;
  walk.next += static_cast<std::uint32_t>(piece.size());
  call.node.walks().keep(call.session, std::move(walk));
  return in_next_turn(call, confirmations);
}

Reply subscribe_to(Call& call, Kind kind) {
  return in_pieces(call, [&](std::string_view name) {
    if (!call.node.pubsub().subscribe(call.session, kind, name)) {
      return Reply::error(
          fmt::format("ERR this connection listens to too much already: the names of its channels "
                      "and patterns may take {} bytes together",
                      kSubscriptionBytesMax));
    }
    return confirmation(call.command.spec.name, Reply::bulk_view(name),
                        count_of(call.session, kind));
  });
}

Reply leave(Call& call, Kind kind, std::string_view name) {
  call.node.pubsub().unsubscribe(call.session, kind, name);
  return confirmation(call.command.spec.name, Reply::bulk(std::string(name)),
                      count_of(call.session, kind));
}

// Without a name from all of the kind: one confirmation each, or one of nothing.
Reply unsubscribe_from(Call& call, Kind kind) {
  if (call.words.size() > 1) {
    return in_pieces(call, [&](std::string_view name) { return leave(call, kind, name); });
  }
  const auto names = call.node.pubsub().names_of(call.session, kind, names_of_piece(call));
  Reply confirmations = Reply::sequence();
  for (const std::string& name : names) confirmations.add(leave(call, kind, name));
  if (names.empty()) {
    confirmations.add(
        confirmation(call.command.spec.name, Reply::null(), count_of(call.session, kind)));
  }
  if (call.node.pubsub().names_of(call.session, kind, 1).empty()) return confirmations;
  return in_next_turn(call, confirmations);
}

template <Kind kind>
Reply subscribe(Call& call) {
  return subscribe_to(call, kind);
}
template <Kind kind>
Reply unsubscribe(Call& call) {
  return unsubscribe_from(call, kind);
}

// A message is copied to every listener, so it is held to the limits of a key and its value.
template <Kind kind>
Reply publish(Call& call) {
  const std::uint64_t bytes_max = call.node.settings().value_size_limit;
  if (call.word(1).size() > kKeyBytesMax) return key_too_long(call.word(1), "channel");
  if (call.word(2).size() > bytes_max) {
    return value_too_large("message", call.word(2).size(), bytes_max);
  }
  call.node.events().tell_expired();  // what the script around it came upon stands before
  PubSub& pubsub = call.node.pubsub();
  const bool must_answer = call.from_script || call.in_transaction;
  if (pubsub.is_full()) {
    return must_answer ? Reply::error_view(kTooManyMessages)
                       : call.node.turns().in_next_turn(call.session, call.instant());
  }
  const PubSub::Published published = pubsub.publish(call.word(1), call.word(2), kind);
  if (published.is_whole || must_answer) {
    return Reply::integer(static_cast<std::int64_t>(published.receivers));
  }
  pubsub.tell_when_whole(call.session.id());
  return Reply::later();
}

template <Kind kind>
Reply active_channels(Call& call) {
  if (call.words.size() > 3) {
    return wrong_subcommand_use("pubsub", call.word(1));
  }
  Reply answer = Reply::array();
  const std::string_view pattern = call.words.size() == 3 ? call.word(2) : "*";
  auto matching = call.node.pubsub().matching(kind, pattern);
  if (!matching) {
    return Reply::error_view("ERR there are too many channels to match each with this pattern");
  }
  for (std::string& name : *matching) {
    if (call.may_hear(name)) answer.add(Reply::bulk(std::move(name)));
  }
  // Without a pattern all are told; the one whose name is empty no pattern would match.
  const bool has_listeners = call.node.pubsub().listeners(kind, "") > 0 && call.may_hear("");
  if (call.words.size() == 2 && has_listeners) {
    answer.add(Reply::bulk_view(""));
  }
  return answer;
}

template <Kind kind>
Reply listener_counts(Call& call) {
  Reply answer = Reply::array();
  for (const std::string_view name : call.words.subspan(2)) {
    const std::size_t listeners = call.node.pubsub().listeners(kind, name);
    const auto count = static_cast<std::int64_t>(call.may_hear(name) ? listeners : 0);
    answer.add(Reply::bulk_view(name)).add(Reply::integer(count));
  }
  return answer;
}

Reply pattern_count(Call& call) {
  return Reply::integer(static_cast<std::int64_t>(call.node.pubsub().count(Kind::pattern)));
}

Reply pubsub_help(Call& call) {
  return container_help(call.node.commands().specs(), "pubsub");
}

constexpr std::uint32_t kListen = kPubSub | kNoScript | kLoading | kStale;
constexpr std::uint32_t kPublish = kPubSub | kLoading | kStale | kFast | kMayReplicate;
constexpr std::uint32_t kCountListeners = kPubSub | kLoading | kStale;

constexpr Command kPubsubCommands[] = {
    {{"subscribe", -2, kListen, 0, 0, 0, "pubsub", "2.0.0", "Listens to channels.",
      "channel [channel ...]"},
     subscribe<Kind::channel>},
    {{"unsubscribe", -1, kListen | kTimed, 0, 0, 0, "pubsub", "2.0.0",
      "Stops listening to channels, or to all.", "[channel [channel ...]]"},
     unsubscribe<Kind::channel>},
    {{"psubscribe", -2, kListen, 0, 0, 0, "pubsub", "2.0.0",
      "Listens to all channels whose names match.", "pattern [pattern ...]"},
     subscribe<Kind::pattern>},
    {{"punsubscribe", -1, kListen | kTimed, 0, 0, 0, "pubsub", "2.0.0",
      "Stops listening by patterns, or by all.", "[pattern [pattern ...]]"},
     unsubscribe<Kind::pattern>},
    {{"ssubscribe", -2, kListen, 1, -1, 1, "pubsub", "7.0.0", "Listens to shard channels.",
      "shardchannel [shardchannel ...]"},
     subscribe<Kind::shard_channel>},
    {{"sunsubscribe", -1, kListen | kTimed, 1, -1, 1, "pubsub", "7.0.0",
      "Stops listening to shard channels, or to all.", "[shardchannel [shardchannel ...]]"},
     unsubscribe<Kind::shard_channel>},
    {{"publish", 3, kPublish, 0, 0, 0, "pubsub", "2.0.0",
      "Sends a message to all who listen; answers how many they are.", "channel message"},
     publish<Kind::channel>},
    {{"spublish", 3, kPublish, 1, 1, 1, "pubsub", "7.0.0",
      "Sends a message to all who listen to a shard channel.", "shardchannel message"},
     publish<Kind::shard_channel>},
    {{"pubsub", -2, 0, 0, 0, 0, "pubsub", "2.8.0", "Commands about who listens to what.", ""},
     nullptr},
    {{"pubsub|channels", -2, kCountListeners | kTimed, 0, 0, 0, "pubsub", "2.8.0",
      "Answers the channels that somebody listens to.", "[pattern]"},
     active_channels<Kind::channel>},
    {{"pubsub|numsub", -2, kCountListeners, 0, 0, 0, "pubsub", "2.8.0",
      "Answers how many listen to each of the channels.", "[channel [channel ...]]"},
     listener_counts<Kind::channel>},
    {{"pubsub|numpat", 2, kCountListeners, 0, 0, 0, "pubsub", "2.8.0",
      "Answers by how many patterns somebody listens.", ""},
     pattern_count},
    {{"pubsub|shardchannels", -2, kCountListeners | kTimed, 0, 0, 0, "pubsub", "7.0.0",
      "Answers the shard channels that somebody listens to.", "[pattern]"},
     active_channels<Kind::shard_channel>},
    {{"pubsub|shardnumsub", -2, kCountListeners, 0, 0, 0, "pubsub", "7.0.0",
      "Answers how many listen to each of the shard channels.",
      "[shardchannel [shardchannel ...]]"},
     listener_counts<Kind::shard_channel>},
    {{"pubsub|help", 2, kLoading | kStale, 0, 0, 0, "pubsub", "6.2.0",
      "Explains PUBSUB's subcommands.", ""},
     pubsub_help},
};

}  // namespace

Family pubsub_commands() {
  return kPubsubCommands;
}

}  // namespace redlock::server
