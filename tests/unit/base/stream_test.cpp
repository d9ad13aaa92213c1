// Two ends of a connection on one loop, over TCP and over a unix socket.
#include "base/net/sockets/stream.h"

#include "base/net/sockets/listener.h"
#include "tests/support/loop_until.h"
#include "tests/support/temporary_folder.h"

#include <functional>
#include <optional>
#include <string>
#include <sys/socket.h>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

namespace {

constexpr Duration kSoon = 10s;         // what is to come comes long before
constexpr Duration kLongEnough = 50ms;  // for what is not to come

struct End final : Stream::User {
  void on_connected() override { stream->start_reading(); }
  void on_bytes(std::string_view bytes) override {
    heard += bytes;
    if (then) then();
  }
  void on_end(std::string_view reason) override { ended = std::string(reason); }

  std::unique_ptr<Stream> stream;
  std::string heard;
  std::optional<std::string> ended;
  std::function<void()> then;  // after each piece
};

class Pair {
 public:
  explicit Pair(Address address)
      : listener_(Listener::listen(loop_, address, 8, [this](std::unique_ptr<Stream> stream) {
                    server.stream = std::move(stream);
                    server.stream->set_user(server);
                    server.stream->start_reading();
                  }).value()) {
    client.stream = Stream::connect(loop_, listener_->local(), client);
    REQUIRE(run_until([this] { return server.stream != nullptr; }));
  }

  template <class Condition>
  bool run_until(const Condition& is_met, Duration within = kSoon) {
    return run_loop_until(loop_, is_met, within);
  }

 private:
  Loop loop_;
  std::unique_ptr<Listener> listener_;

 public:
  End client;
  End server;
};

// Several times what the loop's buffer and the sockets hold, and no piece of it like another.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 8 * 1024 * 1024; ++i) text += std::to_string(i) + ' ';
  return text;
}

void check_both_ways(const Address& address) {
  Pair pair(address);
  const std::string text = long_text();
  pair.client.stream->write(text);
  pair.server.stream->write(text);
  CHECK(pair.run_until([&] { return pair.client.heard == text; }));
  pair.client.stream->end_after_writes();
  CHECK(pair.run_until([&] { return pair.server.ended.has_value(); }));
  CHECK((pair.server.heard == text));  // not to be printed
  CHECK(pair.server.ended == "");
}

}  // namespace

TEST_CASE("what is sent arrives whole, in order, and before the end") {
  SECTION("tcp") {
    check_both_ways({"127.0.0.1", 0});
  }
  SECTION("unix socket") {
    const TemporaryFolder folder;
    check_both_ways({folder.path() + "/s", 0});
  }
}

TEST_CASE("a peer that resets the connection ends the stream with the reason") {
  Pair pair({"127.0.0.1", 0});
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(pair.client.stream->descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  pair.client.stream.reset();
  CHECK(pair.run_until([&] { return pair.server.ended.has_value(); }));
  CHECK(pair.server.ended == "connection reset by peer");
}

TEST_CASE("a stream that does not read is told nothing, and all of it when it reads again") {
  Pair pair({"127.0.0.1", 0});
  pair.server.stream->stop_reading();
  pair.client.stream->write("later");
  CHECK_FALSE(pair.run_until([&] { return !pair.server.heard.empty(); }, kLongEnough));
  pair.server.stream->start_reading();
  CHECK(pair.run_until([&] { return pair.server.heard == "later"; }));
}

TEST_CASE("a stream may stop reading, or go, while it is told") {
  Pair pair({"127.0.0.1", 0});
  SECTION("stop") {
    pair.server.then = [&] { pair.server.stream->stop_reading(); };
    pair.client.stream->write("first");
    CHECK(pair.run_until([&] { return pair.server.heard == "first"; }));
    pair.client.stream->write("second");
    CHECK_FALSE(pair.run_until([&] { return pair.server.heard != "first"; }, kLongEnough));
  }
  SECTION("go") {
    pair.server.then = [&] { pair.server.stream.reset(); };
    pair.client.stream->write("first");
    CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
    CHECK(pair.server.heard == "first");
    CHECK_FALSE(pair.server.ended.has_value());
  }
}

TEST_CASE("what is handed over arrives as what is written does, and its pieces are counted") {
  Pair pair({"127.0.0.1", 0});
  const std::string text = long_text();
  pair.server.stream->stop_reading();
  pair.client.stream->hand_over("at once ");
  CHECK(pair.client.stream->queued_pieces() == 0);
  pair.client.stream->hand_over(text);
  pair.client.stream->write("behind ");
  pair.client.stream->hand_over(text);
  CHECK(pair.client.stream->queued_pieces() == 3);
  CHECK(pair.client.stream->queued_bytes() > text.size());
  pair.server.stream->start_reading();
  const std::string all = "at once " + text + "behind " + text;
  CHECK(pair.run_until([&] { return pair.server.heard.size() >= all.size(); }));
  CHECK((pair.server.heard == all));  // not to be printed
  CHECK(pair.run_until([&] { return pair.client.stream->queued_pieces() == 0; }));
}

TEST_CASE("a dial that the system refuses at once is told of later, never from inside the call") {
  Loop loop;
  End end;
  end.stream = Stream::connect(loop, {"224.0.0.1", 1}, end);
  CHECK_FALSE(end.ended.has_value());
  loop.run();
  CHECK(end.ended == "network is unreachable");
  End dropped;
  dropped.stream = Stream::connect(loop, {"224.0.0.1", 1}, dropped);
  dropped.stream.reset();
  loop.run();
  CHECK_FALSE(dropped.ended.has_value());
}
