#include "server/notify/pubsub.h"

#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr Duration kWheelLag = 1ms;  // a tick of it, and spare

// All that has come for a client, one a line.
std::string heard_by(TestClient& client) {
  std::string heard;
  for (std::string next = client.receive(); next != "(none)"; next = client.receive()) {
    heard += heard.empty() ? next : "\n" + next;
  }
  return heard;
}

std::string ask(NodeFixture& node, TestClient& client, std::string_view line) {
  client.send(line, node.now());
  return heard_by(client);
}

}  // namespace

TEST_CASE("a message reaches those who listen at that moment") {
  NodeFixture node;
  auto bob = node.connect();
  CHECK(node("PUBLISH news early") == "(integer) 0");
  CHECK(ask(node, bob, "SUBSCRIBE news") == R"(["subscribe", "news", (integer) 1])");
  CHECK(node("PUBLISH news hello") == "(integer) 1");
  CHECK(heard_by(bob) == R"(["message", "news", "hello"])");
  CHECK(ask(node, bob, "UNSUBSCRIBE news") == R"(["unsubscribe", "news", (integer) 0])");
  CHECK(node("PUBLISH news late") == "(integer) 0");
  CHECK(heard_by(bob).empty());
}

TEST_CASE("a client that is gone listens to nothing any more") {
  NodeFixture node;
  auto bob = node.connect();
  ask(node, bob, "SUBSCRIBE a b");
  ask(node, bob, "PSUBSCRIBE *");
  ask(node, bob, "SSUBSCRIBE a");
  CHECK(node.node().pubsub().bytes() > 0);
  node.node().close_session(bob.session().id());
  CHECK(node("PUBSUB CHANNELS") == "[]");
  CHECK(node("PUBSUB NUMPAT") == "(integer) 0");
  CHECK(node("PUBSUB SHARDCHANNELS") == "[]");
  CHECK(node("PUBLISH a hello") == "(integer) 0");
  CHECK(node.node().pubsub().bytes() == 0);
}

TEST_CASE("CLIENT LIST tells what a client listens to") {
  NodeFixture node;
  auto bob = node.connect();
  ask(node, bob, "SUBSCRIBE a b");
  ask(node, bob, "PSUBSCRIBE *");
  ask(node, bob, "SSUBSCRIBE a b c");
  CHECK(node("CLIENT LIST").find(" flags=P db=0 sub=2 psub=1 ssub=3 ") != std::string::npos);
  ask(node, bob, "RESET");
  CHECK(node("CLIENT LIST").find(" sub=2 ") == std::string::npos);
  CHECK(node("CLIENT LIST").find(" flags=P ") == std::string::npos);
}

TEST_CASE("a listener that says nothing for long stays, whatever timeout says") {
  Settings settings;
  settings.timeout = 10s;
  NodeFixture node(settings);
  auto listener = node.connect();
  auto idler = node.connect();
  ask(node, listener, "SUBSCRIBE news");
  ask(node, idler, "PING");
  node.advance(20s);
  node("PING");
  node.do_due_work();
  CHECK(idler.session().is_closing());
  CHECK_FALSE(listener.session().is_closing());
}

TEST_CASE("a listener that leaves more unread than its limit is closed, and the others are not") {
  NodeFixture node;
  CHECK(node("CONFIG SET client-output-buffer-limit \"pubsub 1000 0 0\"") == "+OK");
  auto slow = node.connect();
  auto quick = node.connect();
  ask(node, slow, "SUBSCRIBE news");
  ask(node, quick, "SUBSCRIBE news");
  const std::string text(400, 'x');
  for (int i = 0; i < 3; ++i) {
    CHECK(node("PUBLISH news " + text) == "(integer) 2");
    CHECK_FALSE(heard_by(quick).empty());
  }
  CHECK(slow.session().is_closing());
  CHECK_FALSE(quick.session().is_closing());
  const std::size_t unread = slow.session().output().size();
  CHECK(node("PUBLISH news " + text) == "(integer) 2");  // until its connection has ended
  CHECK(slow.session().output().size() == unread);
}

TEST_CASE("a listener is told what it listens to, also one that wants no answers") {
  NodeFixture node;
  auto bob = node.connect();
  bob.send(GENERATE("CLIENT REPLY OFF", "CLIENT REPLY SKIP"), node.now());
  CHECK(ask(node, bob, "SUBSCRIBE news") == "[\"subscribe\", \"news\", (integer) 1]");
  CHECK(node("PUBLISH news hello") == "(integer) 1");
  CHECK(heard_by(bob) == "[\"message\", \"news\", \"hello\"]");
}

TEST_CASE("one connection's subscriptions take so much memory and no more") {
  NodeFixture node;
  auto bob = node.connect();
  const std::size_t length = 1024 * 1024 - 1000;
  for (char c = 'a'; c < 'e'; ++c) {
    bob.send({"SUBSCRIBE", std::string(length, c)}, node.now());
    CHECK_FALSE(heard_by(bob).starts_with("-ERR"));
  }
  bob.send({"SUBSCRIBE", std::string(3000, 'x'), std::string(3000, 'y')}, node.now());
  CHECK(heard_by(bob) ==
        fmt::format("-ERR this connection listens to too much already: the names of its channels "
                    "and patterns may take {} bytes together",
                    kSubscriptionBytesMax));
  CHECK(node("PUBSUB NUMSUB x").find("(integer) 0") != std::string::npos);
  CHECK(node.node().used_memory() > 4 * length);
  ask(node, bob, "UNSUBSCRIBE");
  CHECK_FALSE(ask(node, bob, "SUBSCRIBE x").starts_with("-ERR"));
}

TEST_CASE("a recovering node carries messages") {
  NodeStart start;
  start.grant_from = Instant(24h) + 10s;
  NodeFixture node({}, start);
  auto bob = node.connect();
  CHECK(node("SET lock alice NX PX 1000").starts_with("-ERR recovering"));
  ask(node, bob, "SUBSCRIBE news");
  CHECK(node("PUBLISH news hello") == "(integer) 1");
  CHECK(heard_by(bob) == R"(["message", "news", "hello"])");
}

TEST_CASE("the wheel tells of a lock that ran out, and only while that is asked for") {
  NodeFixture node;
  auto bob = node.connect();
  ask(node, bob, "PSUBSCRIBE __keyevent@0__:*");
  CHECK(node("SET lock alice NX PX 1000") == "+OK");
  node.advance(1s + kWheelLag);
  node.do_due_work();
  CHECK(heard_by(bob).empty());

  CHECK(node("CONFIG SET notify-keyspace-events Ex") == "+OK");
  CHECK(node("SET lock alice NX PX 1000") == "+OK");
  CHECK(node("SET other alice NX PX 2000") == "+OK");
  CHECK(heard_by(bob).empty());
  node.advance(1s + kWheelLag);
  node.do_due_work();
  CHECK(heard_by(bob) == R"(["pmessage", "__keyevent@0__:*", "__keyevent@0__:expired", "lock"])");
  CHECK(node("CONFIG SET notify-keyspace-events \"\"") == "+OK");
  node.advance(1s + kWheelLag);
  node.do_due_work();
  CHECK(heard_by(bob).empty());
}

TEST_CASE("a key that is new and already over is told of as new") {
  NodeFixture node;
  auto bob = node.connect();
  ask(node, bob, "PSUBSCRIBE __keyevent@0__:new");
  CHECK(node("CONFIG SET notify-keyspace-events En") == "+OK");
  CHECK(node("SET lock alice PXAT 1") == "+OK");
  CHECK(heard_by(bob) == R"(["pmessage", "__keyevent@0__:new", "__keyevent@0__:new", "lock"])");
}

TEST_CASE("a lock that ran out unseen is told of before what its key gets next") {
  NodeFixture node;
  auto bob = node.connect();
  CHECK(node("CONFIG SET notify-keyspace-events KA") == "+OK");
  ask(node, bob, "PSUBSCRIBE *");
  CHECK(node("SET lock alice NX PX 1000") == "+OK");
  heard_by(bob);
  node.advance(1s);
  CHECK(node("SET lock bob NX PX 1000") == "+OK");
  CHECK(heard_by(bob) == R"(["pmessage", "*", "__keyspace@0__:lock", "expired"])"
                         "\n"
                         R"(["pmessage", "*", "__keyspace@0__:lock", "set"])"
                         "\n"
                         R"(["pmessage", "*", "__keyspace@0__:lock", "expire"])");
  node.advance(1s);
  CHECK(node("EVAL \"redis.call('get', 'lock') return redis.call('publish', 'a', 'b')\" 0") ==
        "(integer) 1");
  CHECK(heard_by(bob) == R"(["pmessage", "*", "__keyspace@0__:lock", "expired"])"
                         "\n"
                         R"(["pmessage", "*", "a", "b"])");
}

TEST_CASE("LOCK.* tell of locks as SET, PEXPIRE and DEL do") {
  NodeFixture node;
  auto bob = node.connect();
  CHECK(node("CONFIG SET notify-keyspace-events KAn") == "+OK");
  ask(node, bob, "SUBSCRIBE __keyspace@0__:lock");
  const auto events = [&] {
    std::string names;
    for (std::string next = bob.receive(); next != "(none)"; next = bob.receive()) {
      const std::string_view name(next.data() + next.rfind(", \"") + 3);
      names += fmt::format("{} ", name.substr(0, name.find('"')));
    }
    return names;
  };
  node("LOCK.ACQUIRE lock alice PX 1000");
  CHECK(events() == "new set expire ");
  node("LOCK.ACQUIRE lock bob PX 1000");
  CHECK(events().empty());
  node("LOCK.EXTEND lock alice PX 2000");
  CHECK(events() == "expire ");
  node("LOCK.RELEASE lock bob");
  CHECK(events().empty());
  node("LOCK.RELEASE lock alice");
  CHECK(events() == "del ");
  node("LOCK.EXTEND lock alice PX 1000 TOKEN 7");
  CHECK(events() == "new set expire ");
}

TEST_CASE("how many a message would reach is told without one") {
  NodeFixture node;
  auto bob = node.connect();
  auto carol = node.connect();
  ask(node, bob, "SUBSCRIBE news other");
  ask(node, carol, "SUBSCRIBE news");
  ask(node, carol, "PSUBSCRIBE n* *s x*");
  ask(node, bob, "SSUBSCRIBE news");
  PubSub& pubsub = node.node().pubsub();
  CHECK(pubsub.receivers("news") == 4);
  CHECK(pubsub.receivers("other") == 1);
  CHECK(pubsub.receivers("news", PubSub::Kind::shard_channel) == 1);
  CHECK(pubsub.receivers("none", PubSub::Kind::shard_channel) == 0);
  CHECK(pubsub.publish("news", "hello").receivers == pubsub.receivers("news"));
}

}  // namespace redlock::server
