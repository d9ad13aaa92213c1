// Real sockets: an echo stands for a node, a stream for a client.
#include "coordinator/drill/surroundings/relay.h"

#include "base/net/sockets/stream.h"
#include "base/net/turn/clock.h"
#include "tests/support/temporary_folder.h"

#include <functional>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::drill;

namespace {

constexpr Duration kSoon = 10s;         // what is to come comes long before
constexpr Duration kLongEnough = 50ms;  // for what is not to come

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

// Sends back what it is sent.
class Echo {
 public:
  explicit Echo(net::Loop& loop)
      : listener_(net::Listener::listen(loop, {"127.0.0.1", 0}, 8,
                                        [this](std::unique_ptr<net::Stream> stream) {
                                          guests_.push_back(
                                              std::make_unique<Guest>(std::move(stream)));
                                        })
                      .value()) {}
  net::Address address() const { return listener_->local(); }
  void hang_up() { guests_.clear(); }
  std::string heard() const { return guests_.empty() ? "" : guests_.back()->heard; }

 private:
  struct Guest final : net::Stream::User {
    explicit Guest(std::unique_ptr<net::Stream> its_stream) : stream(std::move(its_stream)) {
      stream->set_user(*this);
      stream->start_reading();
    }
    void on_bytes(std::string_view bytes) override {
      heard += bytes;
      stream->write(bytes);
    }
    void on_end(std::string_view) override {}
    std::unique_ptr<net::Stream> stream;
    std::string heard;
  };
  std::vector<std::unique_ptr<Guest>> guests_;
  std::unique_ptr<net::Listener> listener_;
};

struct Client final : net::Stream::User {
  Client(net::Loop& loop, const std::string& path)
      : stream(net::Stream::connect(loop, {path}, *this)) {}
  void on_connected() override { stream->start_reading(); }
  void on_bytes(std::string_view bytes) override { heard += bytes; }
  void on_end(std::string_view) override { has_ended = true; }

  std::string heard;
  bool has_ended = false;
  std::unique_ptr<net::Stream> stream;
};

class Fixture {
 public:
  Fixture() {
    REQUIRE(relay.listen({folder.path() + "/relay"}));
    client.emplace(loop, folder.path() + "/relay");
  }
  bool until(const std::function<bool()>& condition, Duration limit = kSoon) {
    const Instant deadline = now() + limit;
    net::Timer turn(loop, net::ClockKind::monotonic, [this] { loop.stop(); });
    while (!condition() && now() < deadline) {
      turn.set(now() + 1ms);
      loop.run();
    }
    return condition();
  }
  bool client_hears(const std::string& text, Duration limit = kSoon) {
    return until([&] { return client->heard == text; }, limit);
  }
  void say(std::string_view text) { client->stream->write(text); }

  TemporaryFolder folder;
  net::Loop loop;
  Echo node{loop};
  Relay relay{loop, node.address()};
  std::optional<Client> client;
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a relay passes on what either end says") {
  say("a");
  CHECK(client_hears("a"));
  say("b");
  CHECK(client_hears("ab"));
}

TEST_CASE_METHOD(Fixture, "what is cut off arrives in order when the way is healed") {
  say("a");
  REQUIRE(client_hears("a"));
  relay.cut(Relay::Way::to_node);
  relay.cut(Relay::Way::from_node);
  say("b");
  say("c");
  CHECK_FALSE(until([&] { return node.heard() != "a"; }, kLongEnough));
  relay.heal();
  CHECK(client_hears("abc"));
}

TEST_CASE_METHOD(Fixture, "one direction can be cut alone") {
  say("a");
  REQUIRE(client_hears("a"));
  relay.cut(Relay::Way::from_node);
  say("b");
  CHECK(until([&] { return node.heard() == "ab"; }));
  CHECK_FALSE(until([&] { return client->heard != "a"; }, kLongEnough));
  relay.heal();
  CHECK(client_hears("ab"));
}

TEST_CASE_METHOD(Fixture, "on a slow way each message takes so much longer, in order") {
  relay.slow(100ms);
  const Instant began = now();
  say("a");
  REQUIRE(client_hears("a"));
  CHECK(now() - began >= 200ms);
  say("b");
  relay.unslow();
  say("c");
  CHECK(client_hears("abc"));
}

TEST_CASE_METHOD(Fixture, "an end that closes is passed on, unless the way is cut") {
  say("a");
  REQUIRE(client_hears("a"));
  relay.cut(Relay::Way::from_node);
  node.hang_up();
  CHECK_FALSE(until([&] { return client->has_ended; }, kLongEnough));
  relay.heal();
  CHECK(until([&] { return client->has_ended; }));
}

TEST_CASE("where no node is, the connection ends") {
  const TemporaryFolder folder;
  net::Loop loop;
  Relay relay(loop, {"127.0.0.1", 1});
  REQUIRE(relay.listen({folder.path() + "/relay"}));
  Client client(loop, folder.path() + "/relay");
  net::Timer turn(loop, net::ClockKind::monotonic, [&] { loop.stop(); });
  const Instant deadline = now() + kSoon;
  while (!client.has_ended && now() < deadline) {
    turn.set(now() + 1ms);
    loop.run();
  }
  CHECK(client.has_ended);
}
