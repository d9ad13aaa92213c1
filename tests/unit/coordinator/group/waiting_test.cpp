// Waiting for a lock, with real nodes and real clients (rule Q7): how soon it is got, and what is
// asked of the nodes meanwhile.
#include "tests/support/node_world.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

constexpr Duration kMessage = 1ms;
constexpr Duration kRoundTrip = 2 * kMessage;

using Client = NodeWorld::Client;

// A client's wish for the printer, and what became of it.
struct Wish {
  std::optional<AcquireResult> result;
  Instant got_at{};
  OperationId id = kNobody;

  bool is_over() const { return result.has_value(); }
  bool is_got() const { return is_over() && result->outcome == AcquisitionOutcome::acquired; }
};

struct WaitingWorld : NodeWorld {
  explicit WaitingWorld(std::size_t nodes = 5) : NodeWorld(nodes, kMessage) {}

  Client& connected() {
    Client& client = new_client();
    bool ready = false;
    client.group().when_ready(now(), [&] { ready = true; });
    REQUIRE(run_until([&] { return ready; }));
    return client;
  }
  void want(Client& client, Wish& wish, Duration ttl = 30s,
            Patience patience = {.wait = std::nullopt}) {
    wish.id = client.group().acquire({.name = "printer", .ttl = ttl, .patience = patience}, now(),
                                     [this, &wish](AcquireResult result) {
                                       wish.result = std::move(result);
                                       wish.got_at = now();
                                     });
  }
  HeldLock take(Client& client, Duration ttl = 30s) {
    Wish wish;
    want(client, wish, ttl, {});
    REQUIRE(run_until([&] { return wish.is_over(); }));
    REQUIRE(wish.is_got());
    return wish.result->lock;
  }
  void release(Client& client, const HeldLock& lock) {
    client.group().release(lock, now(), [](const ReleaseResult&) {});
  }
  std::size_t waiters() {
    std::size_t count = 0;
    for (unsigned i = 1; i <= 5; ++i) count += node(i).waiters().count();
    return count;
  }
  std::uint64_t attempts() { return calls("lock.acquire"); }
};

}  // namespace

TEST_CASE("a waiter gets a released lock within two round trips and the window of a wake") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish wish;
  world.want(bob, wish);
  world.pass(5s);
  REQUIRE_FALSE(wish.is_over());
  CHECK(world.waiters() == 5);
  CHECK(world.attempts() == 10);  // Alice's, and Bob's first

  const Instant released_at = world.now();
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return wish.is_over(); }));
  CHECK(wish.is_got());
  CHECK(wish.got_at - released_at <= 2 * kRoundTrip + kWakeWindow);
  CHECK(world.attempts() == 15);
  world.pass(100ms);
  CHECK(world.waiters() == 0);
}

TEST_CASE("a waiter gets a lock that runs out as soon as a quorum's locks have") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  world.take(alice, 3s);
  const Instant at_nodes_until = world.now() - kMessage + 3s;
  Wish wish;
  world.want(bob, wish);
  REQUIRE(world.run_until([&] { return wish.is_over(); }));
  CHECK(wish.is_got());
  CHECK(wish.got_at >= at_nodes_until);
  CHECK(wish.got_at <= at_nodes_until + kMessage + kRoundTrip + kWakeWindow + 1ms);
  CHECK(world.attempts() == 15);
}

TEST_CASE("a long wait arms the nodes anew, and still asks for nothing") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish wish;
  world.want(bob, wish);
  world.pass(3 * kWakeMax + 1s);
  CHECK(world.attempts() == 10);
  CHECK(world.calls("lock.wait") == 20);
  CHECK(world.waiters() == 5);
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return wish.is_got(); }, 10ms));
}

TEST_CASE("a wait that is over makes its last attempt then, and leaves no wake behind") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  world.take(alice, 60s);
  Wish wish;
  const Instant began = world.now();
  world.want(bob, wish, 30s, {.wait = 2s});
  REQUIRE(world.run_until([&] { return wish.is_over(); }));
  CHECK(wish.result->outcome == AcquisitionOutcome::held);
  CHECK(wish.got_at - began >= 2s);
  CHECK(wish.got_at - began <= 2s + kRoundTrip);
  CHECK(world.attempts() == 15);
  world.pass(100ms);
  CHECK(world.waiters() == 0);
}

TEST_CASE("a wait that is cancelled leaves no wake behind") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  world.take(alice);
  Wish wish;
  world.want(bob, wish);
  world.pass(1s);
  bob.group().cancel(wish.id, world.now());
  world.pass(100ms);
  CHECK(world.waiters() == 0);
  CHECK_FALSE(wish.is_over());
}

TEST_CASE("a wait may be cancelled at any moment of a hand-over, by whom the news is told to") {
  for (Duration after{}; after < 5 * kMessage; after += kMessage / 4) {
    WaitingWorld world;
    Client& alice = world.connected();
    Client& bob = world.connected();
    const HeldLock lock = world.take(alice);
    Wish first;
    Wish second;
    world.want(bob, first);
    world.want(bob, second);
    world.pass(1s);
    world.release(alice, lock);
    world.pass(after);
    const auto cancel = [&](const AcquireResult&) { bob.group().cancel(first.id, world.now()); };
    bob.group().acquire({.name = "scanner"}, world.now(), cancel);
    REQUIRE(world.run_until([&] { return second.is_over() || first.is_over(); }));
    CHECK((second.is_got() || first.is_got()));
  }
}

TEST_CASE("who does not wait arms nothing") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  world.take(alice);
  Wish wish;
  world.want(bob, wish, 30s, {});
  REQUIRE(world.run_until([&] { return wish.is_over(); }));
  CHECK(world.calls("lock.wait") == 0);
}

TEST_CASE("of one client's waiters the first gets the lock, then the next, each by one attempt") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  HeldLock lock = world.take(alice, 60s);
  std::array<Wish, 4> wishes;
  for (Wish& wish : wishes) {
    world.want(bob, wish, 60s);
    world.pass(10ms);
  }
  CHECK(world.waiters() == 5);  // one wake at each node, for all four
  std::uint64_t attempts = world.attempts();
  Client* holder = &alice;
  for (Wish& wish : wishes) {
    const Instant released_at = world.now();
    world.release(*holder, lock);
    REQUIRE(world.run_until([&] { return wish.is_got(); }, 100ms));
    CHECK(wish.got_at - released_at <= 2 * kRoundTrip + kWakeWindow);
    lock = wish.result->lock;
    holder = &bob;
    world.pass(100ms);
    CHECK(world.attempts() == attempts + 5);
    attempts = world.attempts();
  }
  CHECK(world.waiters() == 0);
}

// Each came 10 ms after the one before it.
TEST_CASE("many clients get the lock in the order in which they came, one attempt a hand-over") {
  WaitingWorld world;
  constexpr std::size_t kClients = 12;
  Client& alice = world.connected();
  HeldLock lock = world.take(alice, 60s);
  std::vector<Client*> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.push_back(&world.connected());
  std::array<Wish, kClients> wishes;
  for (std::size_t i = 0; i < kClients; ++i) {
    world.want(*clients[i], wishes[i], 60s);
    world.pass(10ms);
  }
  Client* holder = &alice;
  for (std::size_t i = 0; i < kClients; ++i) {
    const std::uint64_t attempts = world.attempts();
    const Instant released_at = world.now();
    world.release(*holder, lock);
    REQUIRE(world.run_until([&] { return wishes[i].is_got(); }, 100ms));
    CHECK(wishes[i].got_at - released_at <= 2 * kRoundTrip);  // at once
    for (std::size_t later = i + 1; later < kClients; ++later) {
      REQUIRE_FALSE(wishes[later].is_over());
    }
    lock = wishes[i].result->lock;
    holder = clients[i];
    world.pass(50ms);
    CHECK(world.attempts() == attempts + 5);
  }
}

TEST_CASE("whoever comes to a client in which others wait stands behind them, and asks nobody") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish first;
  world.want(bob, first, 60s);
  world.pass(10ms);
  const std::uint64_t attempts = world.attempts();
  Wish second;
  Wish hasty;
  world.want(bob, second, 60s);
  world.want(bob, hasty, 60s, {.wait = 50ms});
  world.pass(10ms);
  CHECK(world.attempts() == attempts);
  world.pass(100ms);
  CHECK(hasty.is_over());
  CHECK_FALSE(hasty.is_got());
  CHECK(hasty.result->outcome == AcquisitionOutcome::held);  // its last attempt
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return first.is_got(); }, 100ms));
  CHECK_FALSE(second.is_over());
  bob.group().cancel(second.id, world.now());
  world.release(bob, first.result->lock);
  world.pass(100ms);
  CHECK(world.waiters() == 0);
}

TEST_CASE("the first of a line whose process is gone costs the others nothing") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& gone = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish first;
  world.want(gone, first, 60s);
  world.pass(10ms);
  Wish second;
  world.want(bob, second, 60s);
  world.pass(10ms);
  gone.group().cancel(first.id, world.now());
  const Instant released_at = world.now();
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return second.is_got(); }, 100ms));
  CHECK(second.got_at - released_at <= 2 * kRoundTrip);
}

TEST_CASE("eight clients that wait get a lock one after the other, in spite of split votes") {
  WaitingWorld world;
  std::vector<Client*> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(&world.connected());
  std::array<Wish, 8> wishes;
  for (std::size_t i = 0; i < 8; ++i) world.want(*clients[i], wishes[i], 60s);
  for (int turn = 0; turn < 8; ++turn) {
    std::size_t got = 8;
    REQUIRE(world.run_until(
        [&] {
          for (std::size_t i = 0; i < 8; ++i) {
            if (wishes[i].is_got()) got = i;
          }
          return got < 8;
        },
        5s));
    const HeldLock lock = wishes[got].result->lock;
    wishes[got].result.reset();
    world.release(*clients[got], lock);
  }
}

TEST_CASE("with a minority of the nodes hung the lock is got as soon") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish wish;
  world.want(bob, wish, 60s);
  world.pass(1s);
  world.hang(1);
  world.hang(2);
  const Instant released_at = world.now();
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return wish.is_over(); }, 1s));
  CHECK(wish.is_got());
  CHECK(wish.got_at - released_at <= 2 * kRoundTrip + kWakeWindow);
}

TEST_CASE("nodes whose links break are polled for, and armed when they are back") {
  WaitingWorld world;
  Client& alice = world.connected();
  Client& bob = world.connected();
  const HeldLock lock = world.take(alice, 60s);
  Wish wish;
  world.want(bob, wish, 60s, {.wait = 60s});
  world.pass(1s);
  for (const unsigned number : {1u, 2u, 3u}) world.refuse(number);
  const std::uint64_t before = world.attempts();
  world.pass(1s);
  CHECK(world.attempts() > before);
  for (const unsigned number : {1u, 2u, 3u}) world.refuse(number, false);
  world.pass(3s);
  CHECK(world.waiters() == 5);
  const std::uint64_t armed = world.attempts();
  world.pass(1s);
  CHECK(world.attempts() == armed);
  const Instant released_at = world.now();
  world.release(alice, lock);
  REQUIRE(world.run_until([&] { return wish.is_got(); }, 1s));
  CHECK(wish.got_at - released_at <= 2 * kRoundTrip + kWakeWindow);
}
