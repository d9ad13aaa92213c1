// What a front door reads from the relay's channel, where any client of a node may write: it is a
// message, and the very one that these bytes are written as, or it is none.
//
// The input: the bytes. Taken apart otherwise it is a message of a door's client: two bytes that
// say how long its channel is, one for its kind, the id, the channel, and the text.
#include "coordinator/front_door/messages/door_message.h"

#include "server/locks/lock.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <string>

namespace redlock::fuzz {
namespace {

using namespace redlock::coordinator;
using Kind = server::PubSub::Kind;

std::string written_again(const ReadMessage& message) {
  return written_message(message.id,
                         {message.kind, std::string(message.channel), std::string(message.text)});
}

void read(std::string_view bytes) {
  const auto message = read_message(bytes);
  if (!message) return;
  INVARIANT(message->channel.size() <= server::kKeyBytesMax, "a channel that no client can have");
  INVARIANT(written_again(*message) == bytes, "a message is not what it was read from");
}

void write_and_read(std::string_view input) {
  const std::size_t length = take_byte(input) * 256u + take_byte(input);
  const Kind kind = take_byte(input) % 2 == 0 ? Kind::channel : Kind::shard_channel;
  MessageId id{};
  const std::string_view of_id = take(input, id.size());
  std::copy(of_id.begin(), of_id.end(), id.begin());
  const std::string channel(take(input, length));
  const std::string bytes = written_message(id, {kind, channel, std::string(input)});
  const auto message = read_message(bytes);
  INVARIANT(message && message->id == id && message->kind == kind && message->channel == channel &&
                message->text == input,
            "a door's message is read as another one");
}

}  // namespace

void run(std::string_view input) {
  read(input);
  write_and_read(input);
}

}  // namespace redlock::fuzz
