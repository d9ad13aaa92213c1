// Messages between the clients of front doors over the same nodes (rule D11).
#include "coordinator/front_door/served/door_errors.h"
#include "tests/support/door_world.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using coordinator::kRelayChannel;

namespace {

// All that has come for a client after a while, one a line.
std::string heard_by(DoorWorld& world, DoorClient& client, Duration patience = 100ms) {
  world.nodes().pass(patience);
  std::string heard;
  for (std::string next = client.take(); next != "(none)"; next = client.take()) {
    heard += heard.empty() ? next : "\n" + next;
  }
  return heard;
}

// A client of the nodes that tells doors what it likes.
void publish_at_nodes(DoorWorld& world, const std::vector<std::string>& messages) {
  auto& client = world.nodes().new_client({}, true);
  world.nodes().pass(1s);
  for (const std::string& message : messages) {
    for (coordinator::NodeIndex node = 0; node < client.group().size(); ++node) {
      client.group().link(node).publish(coordinator::relay_publication(message),
                                        world.nodes().now());
    }
  }
  world.nodes().pass(1s);
}

std::string written(std::string_view id, std::string_view text) {
  coordinator::MessageId bytes{};
  std::copy(id.begin(), id.end(), bytes.begin());
  return coordinator::written_message(bytes,
                                      {server::PubSub::Kind::channel, "news", std::string(text)});
}

// Redisson's way to give a lock back.
const std::string kReleaseAndTell =
    "EVAL \"if redis.call('get',KEYS[1]) ~= ARGV[1] then return 0 end redis.call('del',KEYS[1]) "
    "redis.call('publish',KEYS[2],'free') return 1\" 2 ";

}  // namespace

TEST_CASE("a message reaches the listeners of every door once, though five nodes pass it on") {
  DoorWorld world(5, 3);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  DoorClient carol = world.connect(3);
  DoorClient dave = world.connect(1);
  CHECK(bob("SUBSCRIBE news") == R"(["subscribe", "news", (integer) 1])");
  CHECK(carol("SUBSCRIBE news") == R"(["subscribe", "news", (integer) 1])");
  CHECK(alice("PUBLISH news hello") == "(integer) 0");
  CHECK(heard_by(world, bob) == R"(["message", "news", "hello"])");
  CHECK(heard_by(world, carol) == R"(["message", "news", "hello"])");
  CHECK(dave("SUBSCRIBE news other").starts_with(R"(["subscribe", "news", (integer) 1])"));
  heard_by(world, dave);
  CHECK(alice("PUBLISH news again") == "(integer) 1");
  CHECK(heard_by(world, dave) == R"(["message", "news", "again"])");
  CHECK(heard_by(world, bob) == R"(["message", "news", "again"])");
  CHECK(world.door(2).relay().figures().received == 2);
  CHECK(world.door(2).relay().figures().repeated == 8);
  CHECK(world.door(1).relay().figures().sent == 2);
  CHECK(world.door(1).relay().figures().received == 0);
  CHECK(bob("UNSUBSCRIBE") == R"(["unsubscribe", "news", (integer) 0])");
  CHECK(alice("PUBLISH news late") == "(integer) 1");
  CHECK(heard_by(world, bob).empty());
}

TEST_CASE("two nodes that are dead, or hang, cost no message") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  world.nodes().refuse(4);
  world.nodes().hang(5);
  for (int i = 0; i < 100; ++i) CHECK(alice(fmt::format("PUBLISH news {}", i)) == "(integer) 0");
  CHECK(heard_by(world, bob).ends_with(R"(["message", "news", "99"])"));
  CHECK(world.door(2).relay().figures().received == 100);
}

TEST_CASE("messages of one door keep their order") {
  DoorWorld world(5, 2, {}, 7ms);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  world.nodes().hang(2);
  std::string all;
  for (int i = 0; i < 50; ++i) {
    if (i == 20) world.nodes().hang(2, false);
    if (i == 30) world.nodes().refuse(3);
    if (i == 40) world.nodes().refuse(3, false);
    alice.send(fmt::format("PUBLISH news {}", i));
    world.nodes().pass(1ms);
    all += fmt::format("{}[\"message\", \"news\", \"{}\"]", i == 0 ? "" : "\n", i);
  }
  CHECK(heard_by(world, bob) == all);
}

TEST_CASE("a node that hung and goes on tells nobody again, however late") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  world.nodes().hang(5);
  CHECK(alice("PUBLISH news hello") == "(integer) 0");
  CHECK(heard_by(world, bob) == R"(["message", "news", "hello"])");
  world.nodes().pass(5min);
  world.nodes().hang(5, false);
  CHECK(heard_by(world, bob, 5s).empty());
  CHECK(world.door(2).relay().subscribed_nodes() == 5);
}

TEST_CASE("a door whose nodes were away hears all of them again") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  for (unsigned number = 1; number <= 5; ++number) world.nodes().refuse(number);
  CHECK(alice("PUBLISH news lost") == "(integer) 0");
  CHECK(heard_by(world, bob, 5s).empty());
  CHECK(world.door(2).relay().subscribed_nodes() == 0);
  CHECK(world.door(1).relay().unsent() == 5);
  for (unsigned number = 1; number <= 5; ++number) world.nodes().refuse(number, false);
  world.nodes().pass(2s);
  CHECK(world.door(2).relay().subscribed_nodes() == 5);
  alice("PUBLISH news hello");
  CHECK(heard_by(world, bob) == R"(["message", "news", "hello"])");
}

TEST_CASE("patterns, shard channels, RESP3, and what has bytes of any kind") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  DoorClient carol = world.connect(2);
  CHECK(bob("PSUBSCRIBE redisson_*") == R"(["psubscribe", "redisson_*", (integer) 1])");
  CHECK(bob("GET k").starts_with("-ERR Can't execute 'get'"));
  CHECK(carol("HELLO 3").starts_with("{"));
  CHECK(carol("SSUBSCRIBE news") == R"(>["ssubscribe", "news", (integer) 1])");
  CHECK(carol("SUBSCRIBE other") == R"(>["subscribe", "other", (integer) 1])");
  CHECK(carol("SET k v NX PX 10000") == "+OK");
  CHECK(alice("PUBLISH redisson_x 0") == "(integer) 0");
  CHECK(alice("SPUBLISH news shard") == "(integer) 0");
  CHECK(alice("PUBLISH news no-shard") == "(integer) 0");
  CHECK(heard_by(world, bob) == R"(["pmessage", "redisson_*", "redisson_x", "0"])");
  CHECK(heard_by(world, carol) == R"(>["smessage", "news", "shard"])");
  const std::string bytes("\0\r\n\xff:", 5);
  alice.send(std::vector<std::string>{"PUBLISH", "other", bytes});
  world.nodes().pass(100ms);
  const protocol::Reply message = carol.take_reply();
  REQUIRE(message.items().size() == 3);
  CHECK(message.items()[2].text() == bytes);
  CHECK(carol("PUBSUB CHANNELS") == R"(["other"])");
  CHECK(carol("PUBSUB NUMPAT") == "(integer) 1");
}

TEST_CASE("a script's message is told once its changes are made, and once") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  DoorClient carol = world.connect(1);
  carol("SUBSCRIBE channel");
  bob("SUBSCRIBE channel");
  // This door has no part in it, so its first run is on a wrong guess.
  DoorClient dave = world.connect(2);
  CHECK(dave("SET printer dave NX PX 10000") == "+OK");
  const std::uint64_t runs = world.door(1).stats().runs;
  alice.send(kReleaseAndTell + "printer channel dave");
  world.host().act();
  CHECK(heard_by(world, carol, 0ms).empty());
  CHECK(alice.receive() == "(integer) 1");
  CHECK(world.door(1).stats().runs - runs > 1);
  CHECK(heard_by(world, carol) == R"(["message", "channel", "free"])");
  CHECK(heard_by(world, bob) == R"(["message", "channel", "free"])");
  CHECK(world.held_at("printer") == 0);
  // What finds nothing to do tells nothing.
  CHECK(alice(kReleaseAndTell + "printer channel dave") == "(integer) 0");
  CHECK(heard_by(world, carol).empty());
  CHECK(alice("EVAL \"return redis.call('publish','channel','x')\" 0") == "(integer) 1");
  CHECK(heard_by(world, bob) == R"(["message", "channel", "x"])");
}

TEST_CASE("a command that fails publishes nothing") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(1);
  bob("SUBSCRIBE channel");
  CHECK(alice("SET printer alice NX PX 10000") == "+OK");
  for (const unsigned number : {3u, 4u, 5u}) world.nodes().hang(number);
  CHECK(alice(kReleaseAndTell + "printer channel alice").starts_with("-ERR NOQUORUM"));
  CHECK(heard_by(world, bob).empty());
  CHECK(world.door(1).relay().figures().sent == 0);
  CHECK(alice("PUBLISH channel here") == "(integer) 1");
  CHECK(heard_by(world, bob) == R"(["message", "channel", "here"])");
}

TEST_CASE("in a transaction: publishes come with its end, and one may begin to listen in it") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  alice("HELLO 3");
  CHECK(alice("WATCH printer") == "+OK");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("SET printer alice NX PX 10000") == "+QUEUED");
  CHECK(alice("PUBLISH news taken") == "+QUEUED");
  CHECK(alice("SUBSCRIBE own") == "+QUEUED");
  CHECK(heard_by(world, bob).empty());
  alice.send("EXEC");
  CHECK(heard_by(world, bob) == R"(["message", "news", "taken"])");
  CHECK(heard_by(world, alice).find("+OK, (integer) 0") != std::string::npos);
  CHECK(alice("PUBSUB NUMSUB own") == R"(["own", (integer) 1])");
  CHECK(alice("WATCH printer") == "+OK");
  CHECK(alice("MULTI") == "+OK");
  CHECK(alice("PUBLISH news broken") == "+QUEUED");
  DoorClient carol = world.connect(2);
  CHECK(carol("DEL printer") == "(integer) 1");
  CHECK(alice("EXEC") == "(nil)");
  CHECK(heard_by(world, bob).empty());
}

TEST_CASE("what others write to the relay's channel at a node is told to nobody") {
  DoorWorld world(5, 1);
  DoorClient bob = world.connect();
  bob("SUBSCRIBE news");
  std::string good = written("0123456789abcdef", "hello");
  std::string of_no_kind = good;
  of_no_kind[16] = 'x';
  std::string too_long = good;
  too_long[20] = 'z';
  std::string endless = good;
  endless[17] = '\xff';
  publish_at_nodes(world, {"", "x", good.substr(0, 20), of_no_kind, too_long, endless});
  CHECK(heard_by(world, bob).empty());
  CHECK(world.door().relay().figures().malformed == 30);
  publish_at_nodes(world, {good});
  CHECK(heard_by(world, bob) == R"(["message", "news", "hello"])");
  CHECK(bob("PING") == R"(["pong", ""])");
}

TEST_CASE("a message that is longer than a node takes with its channel is refused") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("SUBSCRIBE news");
  const std::size_t longest = 64 * 1024 - coordinator::kMessageHeaderBytes - 4;
  std::string text(longest, 'm');
  const auto publish = [&](const std::string& message) {
    alice.send(std::vector<std::string>{"PUBLISH", "news", message});
    return alice.receive();
  };
  CHECK(publish(text.substr(32)) == "(integer) 0");
  world.nodes().pass(100ms);
  CHECK(bob.take_reply().items().at(2).text().size() == longest - 32);
  CHECK(publish(text + "m").starts_with("-ERR a message with its channel of 65537 bytes"));
  CHECK(publish(std::string(1 << 20, 'm')).starts_with("-ERR a message with its channel of "));
  CHECK(world.door(1).relay().figures().sent == 1);
  CHECK(alice("EVAL \"local s = string.rep('m', 1000) for i = 1, 2000 do redis.call('publish', "
              "'news', s) end\" 0")
            .starts_with("-ERR messages are published faster"));
}

TEST_CASE("more listeners than can be told at once hear all messages in one order") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  std::vector<DoorClient> listeners;
  for (int i = 0; i < 300; ++i) {
    listeners.push_back(world.connect(2));
    listeners.back()("SUBSCRIBE news");
  }
  alice("PUBLISH news one");
  alice("PUBLISH news two");
  world.nodes().pass(100ms);
  CHECK(bob("PUBLISH news three") == "(integer) 300");
  for (DoorClient& listener : listeners) {
    CHECK(listener.take() == R"(["message", "news", "one"])");
    CHECK(listener.take() == R"(["message", "news", "two"])");
    CHECK(listener.take() == R"(["message", "news", "three"])");
    CHECK(listener.take() == "(none)");
  }
}

TEST_CASE("while listeners cannot be told as quickly as others publish, nobody tells more") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  DoorClient carol = world.connect(2);
  DoorClient dave = world.connect(1);
  dave("SUBSCRIBE news");
  std::vector<DoorClient> listeners;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> words{"PSUBSCRIBE"};
    for (int j = 0; j < 1000; ++j) words.push_back(fmt::format("p{}-{}*", i, j));
    listeners.push_back(world.connect(2));
    listeners.back().send(words);
  }
  server::PubSub& pubsub = world.door(2).node().pubsub();
  while (!pubsub.is_full()) pubsub.publish("any", std::string(60'000, 'm'));
  carol.send("SUBSCRIBE news");
  const std::string lost = written("0123456789abcdef", "lost");
  world.host(2).message_group().on_bytes(
      0,
      fmt::format(">3\r\n$7\r\nmessage\r\n$14\r\n{}\r\n${}\r\n{}\r\n", kRelayChannel, lost.size(),
                  lost),
      world.nodes().now());
  bob.send("EVAL \"return redis.call('publish','news','script')\" 0");
  world.host(2).act();
  CHECK(world.door(2).relay().figures().too_many == 1);
  CHECK(bob.receive().starts_with("-ERR messages are published faster"));
  bob.send("PUBLISH news patient");
  CHECK(world.door(2).relay().figures().sent == 0);
  CHECK(bob.receive() == "(integer) 1");
  CHECK(world.door(2).relay().figures().sent == 1);
  CHECK(heard_by(world, dave) == R"(["message", "news", "patient"])");
}

TEST_CASE("INFO tells of messages") {
  DoorWorld world(5, 2);
  DoorClient alice = world.connect(1);
  DoorClient bob = world.connect(2);
  bob("HELLO 3");
  bob("SUBSCRIBE news");
  alice("PUBLISH news hello");
  heard_by(world, bob);
  CHECK(alice("INFO messages").find("relayed_out:1") != std::string::npos);
  const std::string told = bob("INFO messages");
  CHECK(told.find("nodes_subscribed:5") != std::string::npos);
  CHECK(told.find("relayed_in:1") != std::string::npos);
  CHECK(told.find("dropped_repeated:4") != std::string::npos);
}
