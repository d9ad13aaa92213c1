#include "server/pubsub.h"

#include "base/invariant.h"
#include "protocol/glob.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using protocol::Reply;
using protocol::Session;

constexpr std::string_view kListenerCommands[] = {"ping",         "quit",        "reset",
                                                  "subscribe",    "unsubscribe", "psubscribe",
                                                  "punsubscribe", "ssubscribe",  "sunsubscribe"};

std::size_t bytes_of(std::string_view name) {
  return name.size() + kSubscriptionBytes;
}

std::uint32_t& counter_of(Session& session, PubSub::Kind kind) {
  switch (kind) {
    case PubSub::Kind::channel:
      return session.listens_to.channels;
    case PubSub::Kind::pattern:
      return session.listens_to.patterns;
    case PubSub::Kind::shard_channel:
      break;
  }
  return session.listens_to.shard_channels;
}

Reply message_to(PubSub::Kind kind, std::string_view channel, std::string_view text) {
  const bool is_sharded = kind == PubSub::Kind::shard_channel;
  Reply message = Reply::push({});
  message.add(Reply::bulk_view(is_sharded ? "smessage" : "message"))
      .add(Reply::bulk_view(channel))
      .add(Reply::bulk_view(text));
  return message;
}

Reply message_by(std::string_view pattern, std::string_view channel, std::string_view text) {
  Reply message = Reply::push({});
  message.add(Reply::bulk_view("pmessage"))
      .add(Reply::bulk_view(pattern))
      .add(Reply::bulk_view(channel))
      .add(Reply::bulk_view(text));
  return message;
}

}  // namespace

bool PubSub::subscribe(Session& session, Kind kind, std::string_view name) {
  const auto known = names(kind).find(name);
  if (known != names(kind).end() && known->second.contains(session.id())) return true;
  Listener& listener = listeners_[session.id()];
  if (listener.bytes + bytes_of(name) > kSubscriptionBytesMax) return false;
  const auto entry = known != names(kind).end()
                         ? known
                         : names(kind).emplace(std::string(name), Listeners()).first;
  entry->second.emplace(session.id(), &session);
  listener.names[static_cast<std::size_t>(kind)].insert(entry->first);
  listener.bytes += bytes_of(name);
  bytes_ += bytes_of(name);
  ++counter_of(session, kind);
  session.enter(Session::kListening);
  return true;
}

void PubSub::unsubscribe(Session& session, Kind kind, std::string_view name) {
  const auto entry = names(kind).find(name);
  if (entry == names(kind).end() || entry->second.erase(session.id()) == 0) return;
  const auto listener = listeners_.find(session.id());
  INVARIANT(listener != listeners_.end(), "a listener that stands with its channel only");
  listener->second.names[static_cast<std::size_t>(kind)].erase(entry->first);
  listener->second.bytes -= bytes_of(entry->first);
  bytes_ -= bytes_of(entry->first);
  --counter_of(session, kind);
  if (entry->second.empty()) names(kind).erase(entry);
  if (!session.listens_to.nothing()) return;
  listeners_.erase(listener);
  session.leave(Session::kListening);
}

void PubSub::forget(Session& session) {
  for (const Kind kind : {Kind::channel, Kind::pattern, Kind::shard_channel}) {
    for (const std::string& name : names_of(session, kind)) unsubscribe(session, kind, name);
  }
}

std::vector<std::string> PubSub::names_of(const Session& session, Kind kind) const {
  const auto listener = listeners_.find(session.id());
  if (listener == listeners_.end()) return {};
  const auto& names = listener->second.names[static_cast<std::size_t>(kind)];
  return {names.begin(), names.end()};
}

std::size_t PubSub::publish(std::string_view channel, std::string_view message, Kind kind) {
  std::size_t receivers = 0;
  const auto entry = names(kind).find(channel);
  if (entry != names(kind).end()) {
    receivers += write_to_all(entry->second, message_to(kind, channel, message));
  }
  if (kind == Kind::shard_channel) return receivers;
  for (const auto& [pattern, listeners] : names(Kind::pattern)) {
    if (!protocol::glob_matches(pattern, channel)) continue;
    receivers += write_to_all(listeners, message_by(pattern, channel, message));
  }
  return receivers;
}

// One that does not read what it is told costs no more than its limit: the shell closes it.
std::size_t PubSub::write_to_all(const Listeners& listeners, const Reply& message) const {
  for (const auto& [id, session] : listeners) session->tell(message, output_bytes_max_);
  return listeners.size();
}

void PubSub::publish_event(EventFlags asked, std::string_view event, std::string_view key) {
  if (count(Kind::channel) + count(Kind::pattern) == 0) return;
  if ((asked & kToKeyspace) != 0) publish(fmt::format("__keyspace@0__:{}", key), event);
  if ((asked & kToKeyevent) != 0) publish(fmt::format("__keyevent@0__:{}", event), key);
}

std::size_t PubSub::listeners(Kind kind, std::string_view name) const {
  const auto entry = names(kind).find(name);
  return entry == names(kind).end() ? 0 : entry->second.size();
}

std::vector<std::string> PubSub::matching(Kind kind, std::string_view pattern) const {
  std::vector<std::string> matching;
  for (const auto& [name, listeners] : names(kind)) {
    if (protocol::glob_matches(pattern, name)) matching.push_back(name);
  }
  return matching;
}

std::optional<Reply> refuse_to_listener(const Session& session, const protocol::CommandSpec& spec) {
  if (session.version() != protocol::Version::resp2) return std::nullopt;
  if (std::find(std::begin(kListenerCommands), std::end(kListenerCommands), spec.name) !=
      std::end(kListenerCommands)) {
    return std::nullopt;
  }
  return Reply::error(
      fmt::format("ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / "
                  "RESET are allowed in this context",
                  spec.name));
}

}  // namespace redlock::server
