// What a front door's link carries of the messages between doors (rule D11).
#include "coordinator/link/link.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

const std::string kChannelWord = fmt::format("$14\r\n{}\r\n", kRelayChannel);
const std::string kConfirmation = ">3\r\n$9\r\nsubscribe\r\n" + kChannelWord + ":1\r\n";

std::string message_of(std::string_view text) {
  return fmt::format(">3\r\n$7\r\nmessage\r\n{}${}\r\n{}\r\n", kChannelWord, text.size(), text);
}

// A link to a node that is ready.
struct RelayWire {
  Random random{1};
  Link link;
  Instant now = Instant(1h);

  explicit RelayWire(bool is_doors = true, std::string_view hello = "%0\r\n")
      : link({}, random, is_doors) {
    link.start(now);
    greet(hello);
  }
  void greet(std::string_view hello = "%0\r\n") {
    link.take_wish();
    link.on_connected(now);
    link.outgoing_written();
    receive(hello);
    receive("-ERR unknown command 'LOCK.STATUS'\r\n$13\r\nrun_id:abc1\r\n\r\n");
    link.accept(now);
  }
  void receive(std::string_view bytes) { link.on_bytes(bytes, now); }
  std::string taken() {
    std::string bytes(link.outgoing());
    link.outgoing_written();
    return bytes;
  }
  void ask() { link.send({.operation = {1}, .kind = RequestKind::info}, now); }
  // What the request was told; empty while it waits.
  std::string told() {
    std::vector<Completion> done;
    link.take_completions(done);
    return done.empty() ? "" : std::string(answer_name(done[0].answer.kind));
  }
};

}  // namespace

TEST_CASE("a door's link subscribes whenever it is connected; any other never does") {
  RelayWire wire;
  CHECK(wire.taken() == "*2\r\n$9\r\nSUBSCRIBE\r\n" + kChannelWord);
  CHECK_FALSE(wire.link.relay().is_subscribed());
  wire.receive(kConfirmation);
  CHECK(wire.link.relay().is_subscribed());
  wire.link.on_end("", wire.now);
  CHECK_FALSE(wire.link.relay().is_subscribed());
  wire.now += Link::kBackoffMax;
  wire.link.on_time(wire.now);
  wire.greet();
  CHECK(wire.taken().starts_with("*2\r\n$9\r\nSUBSCRIBE"));
  CHECK(RelayWire(false).taken().empty());
  CHECK(RelayWire(true, "-ERR unknown command 'HELLO'\r\n").taken().empty());  // RESP2
}

TEST_CASE("the confirmation stands among the answers, and so does a refusal") {
  for (const std::string& answer :
       {kConfirmation, std::string("-NOPERM no permissions to access a channel\r\n")}) {
    RelayWire wire;
    wire.ask();
    wire.receive(message_of("early"));
    wire.receive(answer);
    CHECK(wire.told().empty());
    wire.receive("$2\r\nhi\r\n");
    CHECK(wire.told() == "yes");
    CHECK(wire.link.is_ready());
    CHECK(wire.link.relay().is_subscribed() == (answer == kConfirmation));
  }
}

TEST_CASE("messages are no pushes of LOCK.WAIT, and crowd none of them out") {
  RelayWire wire;
  wire.receive(kConfirmation);
  for (std::size_t i = 0; i < 2 * Link::kPushesMax; ++i) wire.receive(message_of("m"));
  wire.receive(">3\r\n$9\r\nlock.free\r\n$1\r\nk\r\n:1\r\n");
  wire.receive(">3\r\n$7\r\nmessage\r\n$5\r\nother\r\n$1\r\nm\r\n");  // of another channel
  wire.receive(kConfirmation);                                        // that nobody asked for
  const auto pushes = wire.link.take_pushes();
  REQUIRE(pushes.size() == 3);
  CHECK(pushes[0].items()[0].text() == "lock.free");
  CHECK(wire.link.relay().take_received() == "m");
}

TEST_CASE("while messages wait to be taken nothing more is to be read") {
  RelayWire wire;
  wire.receive(kConfirmation);
  CHECK_FALSE(wire.link.is_full());
  const std::string message = message_of("m");
  wire.receive(message.substr(0, 10));
  CHECK_FALSE(wire.link.is_full());
  wire.receive(message.substr(10) + message);
  CHECK(wire.link.is_full());
  wire.link.relay().take_received();
  CHECK(wire.link.is_full());
  wire.link.relay().take_received();
  CHECK_FALSE(wire.link.is_full());
}

TEST_CASE("few messages are in flight, and a burst waits behind them; a lock does not") {
  RelayWire wire;
  wire.receive(kConfirmation);
  const std::size_t burst = 3 * RelayLine::kInFlightMax;
  for (std::size_t i = 0; i < burst; ++i) {
    wire.link.publish(relay_publication(fmt::format("<{}>", i)), wire.now);
  }
  wire.ask();
  std::string sent = wire.taken();
  CHECK(sent.find("<1023>") != std::string::npos);
  CHECK(sent.find("<1024>") == std::string::npos);
  CHECK(sent.find("INFO") != std::string::npos);
  for (std::size_t i = 0; i < RelayLine::kInFlightMax; ++i) wire.receive(":5\r\n");
  wire.receive("$2\r\nhi\r\n");
  CHECK(wire.told() == "yes");
  for (std::size_t i = RelayLine::kInFlightMax; i < burst; ++i) wire.receive(":5\r\n");
  sent = wire.taken();
  for (std::size_t i = RelayLine::kInFlightMax, at = 0; i < burst; ++i) {
    at = sent.find(fmt::format("<{}>", i), at);
    REQUIRE(at != std::string::npos);
  }
  CHECK(wire.link.relay().unsent() == 0);
}

TEST_CASE("of a node that hangs, or is not there, the latest messages are not sent to it") {
  RelayWire wire;
  wire.receive(kConfirmation);
  const SharedWords large = relay_publication(std::string(1 << 20, 'm'));
  for (std::size_t i = 0; i < 30; ++i) wire.link.publish(large, wire.now);
  constexpr std::size_t kKept = (RelayLine::kInFlightBytesMax + RelayLine::kWaitingBytesMax) >> 20;
  const std::uint64_t unsent = wire.link.relay().unsent();
  CHECK(unsent == 30 - kKept + 1);  // each of those that wait takes a little more
  CHECK(wire.taken().size() < RelayLine::kInFlightBytesMax + 1000);
  wire.receive("-ERR a message of 1048576 bytes is too large\r\n");
  CHECK(wire.link.relay().unsent() == unsent + 1);
  CHECK(wire.taken().size() > 1 << 20);
  wire.link.on_end("", wire.now);
  CHECK(wire.link.relay().unsent() == unsent + 1 + 14);
  wire.link.publish(large, wire.now);
  CHECK(wire.link.relay().unsent() == unsent + 16);
  wire.now += Link::kBackoffMax;
  wire.link.on_time(wire.now);
  wire.greet();
  CHECK(wire.taken().size() < 100);  // none is for later
  // One alone may be of any length.
  wire.link.publish(relay_publication(std::string(RelayLine::kInFlightBytesMax + 1, 'm')),
                    wire.now);
  CHECK(wire.taken().size() > RelayLine::kInFlightBytesMax);
}
