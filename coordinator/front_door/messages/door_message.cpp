#include "coordinator/front_door/messages/door_message.h"

#include "server/grants/refusals.h"
#include "server/locks/lock.h"

#include <algorithm>

namespace redlock::coordinator {

using server::PubSub;

namespace {

constexpr char kChannel = 'c';
constexpr char kShardChannel = 's';
constexpr std::size_t kKindAt = std::tuple_size_v<MessageId>;
constexpr std::size_t kLengthAt = kKindAt + 1;

std::size_t read_length(std::string_view four) {
  std::size_t length = 0;
  for (const char byte : four) length = (length << 8) | static_cast<unsigned char>(byte);
  return length;
}

}  // namespace

MessageId new_message_id(const RandomBytes& random) {
  MessageId id;
  random(id);
  return id;
}

std::string written_message(const MessageId& id, const DoorMessage& message) {
  std::string bytes(id.begin(), id.end());
  bytes.reserve(kMessageHeaderBytes + message.channel.size() + message.text.size());
  bytes += message.kind == PubSub::Kind::shard_channel ? kShardChannel : kChannel;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((message.channel.size() >> shift) & 0xff);
  }
  bytes += message.channel;
  bytes += message.text;
  return bytes;
}

std::optional<ReadMessage> read_message(std::string_view bytes) {
  if (bytes.size() < kMessageHeaderBytes) return std::nullopt;
  const char kind = bytes[kKindAt];
  if (kind != kChannel && kind != kShardChannel) return std::nullopt;
  const std::size_t length = read_length(bytes.substr(kLengthAt, 4));
  const std::string_view rest = bytes.substr(kMessageHeaderBytes);
  if (length > rest.size() || length > server::kKeyBytesMax) return std::nullopt;
  ReadMessage message{
      .id = {},
      .kind = kind == kChannel ? PubSub::Kind::channel : PubSub::Kind::shard_channel,
      .channel = rest.substr(0, length),
      .text = rest.substr(length)};
  std::copy_n(bytes.begin(), message.id.size(), message.id.begin());
  return message;
}

PubSub::Kind kind_of(const server::Call& call) {
  const bool is_sharded = call.command.spec.name == "spublish";
  return is_sharded ? PubSub::Kind::shard_channel : PubSub::Kind::channel;
}

protocol::Refusal refuse_message(std::string_view channel, std::string_view text,
                                 std::uint64_t value_size_limit) {
  if (channel.size() > server::kKeyBytesMax) return server::key_too_long(channel, "channel");
  const std::size_t bytes = kMessageHeaderBytes + channel.size() + text.size();
  const std::uint64_t limit = value_size_limit + kRecordHeaderBytes;
  if (bytes > limit) return server::value_too_large("message with its channel", bytes, limit);
  return std::nullopt;
}

}  // namespace redlock::coordinator
