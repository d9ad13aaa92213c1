// A message of a door's clients to those of all doors (rule D11), and what it is at the nodes:
//
//   | id: 16 random bytes | 'c' or 's' | length of the channel: 4, big-endian | channel | text |
//
// 's': of a shard channel. Any client of a node may write there as well, so it is read strictly.
#pragma once

#include "coordinator/front_door/records/record.h"
#include "protocol/resp/reply.h"
#include "server/node/command.h"
#include "server/notify/pubsub.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::coordinator {

struct DoorMessage {
  server::PubSub::Kind kind;  // channel or shard_channel
  std::string channel;
  std::string text;
};

using MessageId = std::array<unsigned char, 16>;
inline constexpr std::size_t kMessageHeaderBytes = std::tuple_size_v<MessageId> + 1 + 4;

MessageId new_message_id(const RandomBytes& random);
std::string written_message(const MessageId& id, const DoorMessage& message);

// Views of what was read.
struct ReadMessage {
  MessageId id;
  server::PubSub::Kind kind;
  std::string_view channel;
  std::string_view text;
};
// nullopt: it is none.
std::optional<ReadMessage> read_message(std::string_view bytes);

// Of PUBLISH or SPUBLISH.
server::PubSub::Kind kind_of(const server::Call& call);

// Why a message cannot be told to other doors; nullopt: it can. value_size_limit: of a door, whose
// nodes take a value that is longer by a record's header.
protocol::Refusal refuse_message(std::string_view channel, std::string_view text,
                                 std::uint64_t value_size_limit);

}  // namespace redlock::coordinator
