// How long a link waits for a connection, and for a node to say who it is.
#include "coordinator/link/link.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

struct LimitedWire {
  Random random{1};
  Link link{{}, random};
  Instant now = Instant(1h);

  LimitedWire() {
    link.start(now);
    link.send({.operation = {1}, .kind = RequestKind::info}, now);
  }
  // What the request was told; empty while it waits.
  std::string told() {
    std::vector<Completion> done;
    link.take_completions(done);
    if (done.empty()) return "";
    return std::string(answer_name(done[0].answer.kind)) + ": " + done[0].answer.text;
  }
  void pass(Duration length) {
    now += length;
    link.on_time(now);
  }
};

}  // namespace

TEST_CASE("a dial that nothing comes of is given up after its time, and made again") {
  LimitedWire wire;
  CHECK(wire.link.take_wish() == Link::Wish::dial);
  CHECK(wire.link.next_deadline() == later(wire.now, Link::kDialTimeMax));
  wire.pass(Link::kDialTimeMax - 1ns);
  CHECK(wire.told().empty());
  wire.pass(1ns);
  CHECK(wire.told() == "refused: no answer to a connection within 5.0 s");
  CHECK(wire.link.problem().kind == AnswerKind::refused);
  CHECK(wire.link.take_wish() == Link::Wish::hang_up);
  wire.pass(Link::kBackoffMax);
  CHECK(wire.link.take_wish() == Link::Wish::dial);
}

TEST_CASE("a node that is away for long is owed so many releases and no more (rule Q3)") {
  LimitedWire wire;
  wire.pass(Link::kDialTimeMax);
  REQUIRE(wire.link.state() == Link::State::backing_off);
  const auto claim = std::make_shared<const Claim>(Claim{"k", "v"});
  for (std::size_t i = 0; i < 3 * Link::kOwedMax; ++i) {
    wire.link.send({.kind = RequestKind::release, .claim = claim}, wire.now);
    REQUIRE(wire.link.releases_pending() <= Link::kOwedMax);
  }
  CHECK(wire.link.releases_pending() > Link::kOwedMax / 2);
}

TEST_CASE("what a node is owed, and what waits for it, has so many bytes and no more") {
  const auto claim =
      std::make_shared<const Claim>(Claim{std::string(60'000, 'k'), std::string(60'000, 'v')});
  constexpr std::size_t kBytes = 120'000;
  LimitedWire wire;
  const auto ask = [&](RequestKind kind) {
    const NodeRequest request{.operation = {2}, .kind = kind, .claim = claim};
    return wire.link.send(NodeRequest(request), wire.now);
  };
  constexpr std::size_t kTaken = Link::kInFlightBytesMax / kBytes + 1;
  for (std::size_t i = 0; i < kTaken; ++i) REQUIRE(ask(RequestKind::acquire) != Link::kRefused);
  CHECK(ask(RequestKind::acquire) == Link::kRefused);
  wire.pass(Link::kDialTimeMax);
  REQUIRE(wire.link.state() == Link::State::backing_off);
  for (std::size_t i = 0; i < 3 * Link::kOwedBytesMax / kBytes; ++i) {
    ask(RequestKind::release);
    REQUIRE(wire.link.releases_pending() <= Link::kOwedBytesMax / kBytes);
  }
  CHECK(wire.link.releases_pending() > Link::kOwedBytesMax / kBytes / 2 - 1);
  wire.pass(Link::kBackoffMax);
  REQUIRE(wire.link.take_wish() == Link::Wish::dial);
  CHECK(ask(RequestKind::acquire) != Link::kRefused);
}

TEST_CASE("a node that does not say who it is within its time is given up") {
  LimitedWire wire;
  wire.link.on_connected(wire.now);
  CHECK(wire.link.connection() == 1);
  wire.pass(Link::kGreetingTimeMax - 1ns);
  CHECK(wire.told().empty());
  wire.pass(1ns);
  CHECK(wire.told() == "broken: no answer to a connection within 10.0 s");
  CHECK(wire.link.problem().kind == AnswerKind::broken);
}
