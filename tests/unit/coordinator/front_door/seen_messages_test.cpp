#include "coordinator/front_door/messages/seen_messages.h"

#include <cstring>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

MessageId id_of(std::uint64_t number) {
  MessageId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}

}  // namespace

TEST_CASE("a message is seen again for a minute, and then as if it were new") {
  SeenMessages seen;
  Instant now = Instant(1h);
  CHECK(seen.add(id_of(1), now));
  CHECK_FALSE(seen.add(id_of(1), now));
  CHECK(seen.add(id_of(2), now + 1ms));
  now += SeenMessages::kSeenTime;
  CHECK_FALSE(seen.add(id_of(1), now - 1ns));
  CHECK(seen.add(id_of(1), now));
  CHECK_FALSE(seen.add(id_of(2), now));
  CHECK(seen.size() == 2);
}

TEST_CASE("of too many messages the oldest are forgotten") {
  SeenMessages seen;
  const Instant now = Instant(1h);
  bool are_new = true;
  for (std::uint64_t i = 0; i < SeenMessages::kSeenMax; ++i) {
    are_new = seen.add(id_of(i), now) && are_new;
  }
  CHECK(are_new);
  CHECK_FALSE(seen.add(id_of(0), now));
  for (std::uint64_t i = 0; i < 1000; ++i) seen.add(id_of(SeenMessages::kSeenMax + i), now);
  CHECK(seen.size() == SeenMessages::kSeenMax);
  CHECK_FALSE(seen.add(id_of(1000), now));
  CHECK(seen.add(id_of(999), now));
}

TEST_CASE("what is written is read, and nothing else is") {
  const DoorMessage message{server::PubSub::Kind::shard_channel, "ch", "text"};
  const std::string bytes = written_message(id_of(7), message);
  const auto read = read_message(bytes);
  REQUIRE(read);
  CHECK(read->id == id_of(7));
  CHECK(read->kind == message.kind);
  CHECK(read->channel == "ch");
  CHECK(read->text == "text");
  // Cut anywhere within the channel or before it, it is none; a text may be of any length.
  for (std::size_t end = 0; end < kMessageHeaderBytes + 2; ++end) {
    CHECK_FALSE(read_message(std::string_view(bytes).substr(0, end)));
  }
  CHECK(read_message(std::string_view(bytes).substr(0, kMessageHeaderBytes + 2)));
  const std::string empty = written_message(id_of(7), {server::PubSub::Kind::channel, "", ""});
  REQUIRE(read_message(empty));
  CHECK(read_message(empty)->channel.empty());
}
