#include "server/notify/pubsub.h"

#include "base/invariant.h"
#include "protocol/access/user.h"
#include "protocol/catalogue/glob.h"
#include "server/settings/piece.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using protocol::Reply;
using protocol::Session;

constexpr std::string_view kKeyspace = "__keyspace@0__:";
constexpr std::string_view kKeyevent = "__keyevent@0__:";

std::string_view key_of_event(std::string_view channel, std::string_view text) {
  return channel.starts_with(kKeyspace) ? channel.substr(kKeyspace.size()) : text;
}

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

// To look at a pattern that needs no matching, as memory fetches it.
constexpr std::size_t kStepsOfPattern = 32;

// A listener's output has to be found, written and sent, which is a system call; the bytes are
// copied twice.
std::size_t steps_to_tell(const Reply& message) {
  constexpr std::size_t kStepsToWrite = 4096;
  constexpr std::size_t kBytesPerStep = 4;
  std::size_t bytes = 0;
  for (const Reply& item : message.items()) bytes += item.text().size();
  return kStepsToWrite + bytes / kBytesPerStep;
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
  session.kept_bytes += bytes_of(name);
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
  session.kept_bytes -= bytes_of(entry->first);
  --counter_of(session, kind);
  if (entry->second.empty()) names(kind).erase(entry);
  if (!session.listens_to.nothing()) return;
  listeners_.erase(listener);
  session.leave(Session::kListening);
}

std::size_t PubSub::forget(Session& session, std::size_t at_most) {
  std::size_t forgotten = 0;
  for (const Kind kind : {Kind::channel, Kind::pattern, Kind::shard_channel}) {
    for (const std::string& name : names_of(session, kind, at_most - forgotten)) {
      unsubscribe(session, kind, name);
      ++forgotten;
    }
  }
  return forgotten;
}

std::vector<std::string> PubSub::names_of(const Session& session, Kind kind,
                                          std::size_t at_most) const {
  const auto listener = listeners_.find(session.id());
  if (listener == listeners_.end()) return {};
  const auto& names = listener->second.names[static_cast<std::size_t>(kind)];
  if (at_most >= names.size()) return {names.begin(), names.end()};
  return {names.begin(), std::next(names.begin(), static_cast<std::ptrdiff_t>(at_most))};
}

PubSub::Published PubSub::publish(std::string_view channel, std::string_view text, Kind kind) {
  return publish(channel, text, kind, false);
}

PubSub::Published PubSub::publish(std::string_view channel, std::string_view text, Kind kind,
                                  bool is_event) {
  Progress progress;
  const bool is_first = unfinished_.empty();
  const EventKey key = is_event ? EventKey(key_of_event(channel, text)) : std::nullopt;
  if (is_first && tell(channel, text, kind, key, progress)) return {progress.receivers, true};
  const std::size_t receivers = progress.receivers;
  unfinished_.push_back(
      {std::string(channel), std::string(text), kind, is_event, std::move(progress), std::nullopt});
  unfinished_bytes_ += sizeof(Message) + channel.size() + text.size();
  return {receivers, false};
}

void PubSub::tell_when_whole(Session::Id publisher) {
  INVARIANT(!unfinished_.empty(), "the end of a message that is whole");
  unfinished_.back().publisher = publisher;
}

void PubSub::go_on(std::vector<Whole>& whole) {
  if (unfinished_.empty()) return;
  Message& message = unfinished_.front();
  const EventKey key =
      message.is_event ? EventKey(key_of_event(message.channel, message.text)) : std::nullopt;
  if (!tell(message.channel, message.text, message.kind, key, message.progress)) return;
  if (message.publisher) whole.push_back({*message.publisher, message.progress.receivers});
  unfinished_bytes_ -= sizeof(Message) + message.channel.size() + message.text.size();
  unfinished_.pop_front();
}

// A piece of it. True: all have been told.
bool PubSub::tell(std::string_view channel, std::string_view text, Kind kind,
                  const EventKey& event_key, Progress& progress) const {
  std::size_t steps = 0;
  if (!progress.is_at_patterns) {
    const auto entry = names(kind).find(channel);
    if (entry != names(kind).end() &&
        !tell_some(entry->second, message_to(kind, channel, text), event_key, progress, steps)) {
      return false;
    }
    if (kind == Kind::shard_channel) return true;
    progress.is_at_patterns = true;
    progress.told = 0;
  }
  const Names& patterns = names(Kind::pattern);
  for (auto at = patterns.lower_bound(progress.pattern); at != patterns.end(); ++at) {
    if (at->first != progress.pattern) progress.told = 0;
    if (steps >= kStepsOfPiece) {
      progress.pattern = at->first;
      return false;
    }
    steps += kStepsOfPattern;
    if (!protocol::glob_matches(at->first, channel, steps)) continue;
    const Reply message = message_by(at->first, channel, text);
    if (!tell_some(at->second, message, event_key, progress, steps)) {
      progress.pattern = at->first;
      return false;
    }
  }
  return true;
}

// Those behind the one that was told last. One that does not read what it is told costs no more
// than its limit: the shell closes it. False: the piece is at its end before the listeners.
bool PubSub::tell_some(const Listeners& listeners, const Reply& message, const EventKey& event_key,
                       Progress& progress, std::size_t& steps) const {
  const std::size_t steps_each = steps_to_tell(message);
  for (auto at = listeners.upper_bound(progress.told); at != listeners.end(); ++at) {
    if (steps >= kStepsOfPiece) return false;
    progress.told = at->first;
    const bool is_hidden =
        event_key && at->second->is_restricted() && !at->second->user()->may_see(*event_key);
    steps += is_hidden ? kStepsOfPattern : steps_each;
    if (is_hidden) continue;
    at->second->tell(message, output_bytes_max_);
    ++progress.receivers;
  }
  progress.told = 0;
  return true;
}

std::size_t PubSub::receivers(std::string_view channel, Kind kind) const {
  std::size_t receivers = listeners(kind, channel);
  if (kind == Kind::shard_channel) return receivers;
  std::size_t steps = 0;
  for (const auto& [pattern, listeners] : names(Kind::pattern)) {
    if (steps >= kStepsOfPiece) break;
    steps += kStepsOfPattern;
    if (protocol::glob_matches(pattern, channel, steps)) receivers += listeners.size();
  }
  return receivers;
}

void PubSub::publish_event(EventFlags asked, std::string_view event, std::string_view key) {
  if (count(Kind::channel) + count(Kind::pattern) == 0 || is_full()) return;
  const auto tell_to = [&](std::string_view channel, std::string_view about,
                           std::string_view text) {
    publish(fmt::format("{}{}", channel, about), text, Kind::channel, true);
  };
  if ((asked & kToKeyspace) != 0) tell_to(kKeyspace, key, event);
  if ((asked & kToKeyevent) != 0) tell_to(kKeyevent, event, key);
}

std::size_t PubSub::listeners(Kind kind, std::string_view name) const {
  const auto entry = names(kind).find(name);
  return entry == names(kind).end() ? 0 : entry->second.size();
}

std::optional<std::vector<std::string>> PubSub::matching(Kind kind,
                                                         std::string_view pattern) const {
  constexpr std::size_t kPieces = 8;  // nobody goes on with it, and a hundred thousand are too many
  std::vector<std::string> matching;
  std::size_t steps = 0;
  for (const auto& [name, listeners] : names(kind)) {
    if (steps >= kPieces * kStepsOfPiece) return std::nullopt;
    steps += kStepsOfPattern;
    if (protocol::glob_matches(pattern, name, steps)) matching.push_back(name);
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
