#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/client.h>
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <atomic>
#include <functional>
#include <future>
#include <stop_token>
#include <thread>

#include <catch2/catch.hpp>
#include <uv.h>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// The outcome of a call with a callback, waited for.
template <class T, class Begin>
Result<T, Error> outcome_of(Begin begin) {
  std::promise<Result<T, Error>> promise;
  begin([&](Result<T, Error> result) { promise.set_value(std::move(result)); });
  return promise.get_future().get();
}

// An address at which nobody listens any more.
std::string dead_address() {
  auto node = EmbeddedNode::start({});
  return node.value().address();
}

}  // namespace

TEST_CASE("a lock is acquired, refused to others, extended, told of, released") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();

  auto lock = alice.acquire("printer", {.ttl = 10s});
  REQUIRE(lock);
  CHECK(lock.value().name == "printer");
  CHECK(lock.value().value.size() == 24);
  CHECK(lock.value().validity_left() > 5s);
  CHECK(lock.value().validity_left() < 10s);

  const auto refused = bob.acquire("printer");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::held);
  CHECK(refused.error().text == "held by another");
  REQUIRE(refused.error().nodes.size() == 5);
  CHECK(refused.error().nodes[0].node.starts_with("127.0.0.1:"));

  auto extended = alice.extend(lock.value());
  REQUIRE(extended);
  CHECK(extended.value().valid_until >= lock.value().valid_until);

  const auto holder = bob.holder("printer");
  REQUIRE(holder);
  REQUIRE(holder.value());
  CHECK(holder.value()->value == lock.value().value);
  CHECK(holder.value()->left > 5s);

  CHECK(alice.release(lock.value()));
  CHECK_FALSE(bob.holder("printer").value());
  CHECK(alice.release(lock.value()).error().code == ErrorCode::not_held);
  CHECK(alice.extend(lock.value()).error().code == ErrorCode::not_held);
  // What alice's extension made for nothing is being undone (rule Q4).
  CHECK(bob.acquire("printer", {.wait = 15s}));
}

TEST_CASE("tokens rise from holder to holder, and an extension keeps its own (rules F3, F5)") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  std::uint64_t last = 0;
  for (int i = 0; i < 10; ++i) {
    Client& next = i % 2 == 0 ? alice : bob;
    const Lock lock = next.acquire("printer", {.wait = 15s}).value();
    CHECK(lock.token > last);
    CHECK(lock.round_trips >= 1);
    CHECK(lock.round_trips <= 2);
    last = lock.token;
    CHECK(next.extend(lock).value().token == last);
    CHECK(next.release(lock));
  }
}

TEST_CASE("who wants no token gets none, in one round trip (rule F4)") {
  const FiveNodes nodes;
  Client client = nodes.client();
  const Lock lock = client.acquire("printer", {.fence = false}).value();
  CHECK(lock.token == 0);
  CHECK(lock.round_trips == 1);
  const Guard guard = client.guard("other", {.fence = false}).value();
  CHECK(guard.lock().token == 0);
}

TEST_CASE("a lock of which only name and value are known can be extended and released") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  const Lock lock = alice.acquire("printer").value();
  const Lock told{.name = lock.name, .value = lock.value};
  CHECK(told.validity_left() == std::chrono::nanoseconds::max());
  const auto extended = bob.extend(told);
  REQUIRE(extended);
  CHECK(extended.value().validity_left() <= 30s);
  CHECK(bob.release(told));
}

TEST_CASE("an acquisition waits as long as it is told to") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  const Lock lock = alice.acquire("printer").value();
  CHECK(bob.acquire("printer", {.wait = 30ms}).error().code == ErrorCode::held);
  std::promise<Result<Lock, Error>> got;
  bob.acquire("printer", {.wait = 15s},
              [&](Result<Lock, Error> result) { got.set_value(std::move(result)); });
  CHECK(alice.release(lock));
  CHECK(got.get_future().get());
}

TEST_CASE("callbacks come once, on the client's thread, and may call the client") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::promise<std::thread::id> first;
  std::promise<std::thread::id> second;
  client.acquire("printer", {}, [&](const Result<Lock, Error>& lock) {
    first.set_value(std::this_thread::get_id());
    client.release(lock.value(), [&](const Result<Done, Error>&) {
      second.set_value(std::this_thread::get_id());
    });
  });
  const std::thread::id thread = first.get_future().get();
  CHECK(thread != std::this_thread::get_id());
  CHECK(second.get_future().get() == thread);
}

TEST_CASE("a blocking call on the client's own thread is refused, not waited for") {
  const FiveNodes nodes;
  Client client = nodes.client();
  const auto outcome = outcome_of<Lock>([&](auto done) {
    client.acquire("a", {},
                   [&client, done](const Result<Lock, Error>&) { done(client.acquire("b")); });
  });
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code == ErrorCode::wrong_thread);
}

TEST_CASE("any number of threads may use one client") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::atomic<int> pairs = 0;
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 20; ++n) {
        const auto lock = client.acquire("lock:" + std::to_string(i));
        if (lock && client.release(lock.value())) ++pairs;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(pairs == 160);
}

TEST_CASE("two of five nodes down cost nothing, three cost the quorum, and the error says so") {
  FiveNodes nodes;
  nodes.crash({0, 1});
  ClientOptions options = nodes.options();
  options.hear_everyone = true;
  Client client = Client::start(options).value();
  const auto lock = client.acquire("printer");
  REQUIRE(lock);
  nodes.crash({2});
  const auto refused = client.acquire("other");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::no_quorum);
  CHECK(refused.error().text == "no quorum: 2 of 5 nodes voted, 3 are needed");
  CHECK(client.release(lock.value()).error().code == ErrorCode::no_quorum);
  CHECK(client.holder("printer").error().code == ErrorCode::no_quorum);
  const auto states = client.status();
  REQUIRE(states);
  CHECK_FALSE(states.value()[0].grants);
  CHECK(states.value()[3].state == "serving");
  CHECK(states.value()[3].clock == "CLOCK_MONOTONIC");
}

TEST_CASE("an admission tells of each node; a new group takes none that knows its tokens") {
  FiveNodes nodes;
  Client client = nodes.client();
  const auto told = client.admit();
  REQUIRE(told);
  CHECK(told.value().nodes.size() == 5);
  CHECK(told.value().nodes[4].fenced);
  CHECK_FALSE(told.value().nodes[4].admitted);
  const auto refused = outcome_of<Admitted>(
      [&](auto done) { client.admit({.new_group = true, .floor = 1000}, done); });
  CHECK(refused.error().code == ErrorCode::not_admitted);
  CHECK(refused.error().nodes[0].text == "fenced already, its counter is at 0");
  CHECK(client.admit({.new_group = true, .floor = 1ull << 53}).error().code == ErrorCode::invalid);
  nodes.crash({0, 1, 2});
  CHECK(client.admit().error().code == ErrorCode::no_quorum);
}

TEST_CASE("an operation that is cancelled tells so, and leaves no lock behind") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  const Lock lock = alice.acquire("printer").value();
  const auto cancelled = outcome_of<Lock>([&](auto done) {
    const Client::Operation operation = bob.acquire("printer", {.wait = std::nullopt}, done);
    bob.cancel(operation);
  });
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == ErrorCode::stopped);
  CHECK(alice.release(lock));
  CHECK_FALSE(alice.holder("printer").value());
}

TEST_CASE("a client that ends tells whoever waits, and undoes what it began") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  const Lock lock = alice.acquire("printer").value();
  std::promise<ErrorCode> told;
  {
    Client bob = nodes.client();
    bob.acquire("printer", {.wait = std::nullopt},
                [&](const Result<Lock, Error>& result) { told.set_value(result.error().code); });
  }
  CHECK(told.get_future().get() == ErrorCode::stopped);
  CHECK(alice.release(lock));
  CHECK(alice.acquire("printer"));
}

TEST_CASE("a callback that tries again for ever does not keep a client from ending") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  const Lock lock = alice.acquire("printer").value();
  std::atomic<bool> told = false;
  Client* trying = nullptr;
  std::function<void(const Result<Lock, Error>&)> again = [&](const Result<Lock, Error>&) {
    told = true;
    trying->acquire("printer", {.wait = std::nullopt}, again);
  };
  {
    Client bob = nodes.client();
    trying = &bob;
    bob.acquire("printer", {.wait = std::nullopt}, again);
  }
  CHECK(told);
}

TEST_CASE("arguments out of their bounds are refused with what is accepted") {
  const auto text = [](ClientOptions options) {
    return Client::start(std::move(options)).error().text;
  };
  CHECK_THAT(text({}), Catch::Contains("no node is named"));
  CHECK_THAT(text({.nodes = {"redis://a:1", "redis://a:1"}}), Catch::Contains("named twice"));
  CHECK_THAT(text({.nodes = {"redis://a"}, .node_timeout = 0ns}), Catch::Contains("node timeout"));
  CHECK_THAT(text({.nodes = {"redis://a"}, .clock_drift = 0.6}), Catch::Contains("clock drift"));
  CHECK(Client::start_on(nullptr, {.nodes = {"redis://a"}}).error().code == ErrorCode::invalid);

  auto client = Client::start({.nodes = {dead_address()}});
  REQUIRE(client);
  CHECK_THAT(client.value().acquire("").error().text, Catch::Contains("name is empty"));
  CHECK_THAT(client.value().acquire("a", {.ttl = 1ms}).error().text, Catch::Contains("10 ms"));
  CHECK_THAT(client.value().acquire("a", {.wait = -1ms}).error().text, Catch::Contains("negative"));
  CHECK_THAT(client.value().release({.name = "a"}).error().text, Catch::Contains("no value"));
  CHECK_THAT(client.value().extend({.value = "a"}).error().text, Catch::Contains("name is empty"));
}

TEST_CASE("a client on its caller's loop needs no thread, and blocks nowhere") {
  const FiveNodes nodes;
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  bool done = false;
  {
    auto started = Client::start_on(&loop, nodes.options());
    REQUIRE(started);
    Client client = std::move(started).value();
    CHECK(client.acquire("printer").error().code == ErrorCode::wrong_thread);
    bool inside = true;
    client.acquire("printer", {}, [&](const Result<Lock, Error>& lock) {
      CHECK_FALSE(inside);
      REQUIRE(lock);
      client.release(lock.value(), [&](const Result<Done, Error>& released) {
        CHECK(released);
        done = true;
        client.finish([&] { uv_stop(&loop); });
      });
    });
    inside = false;
    uv_run(&loop, UV_RUN_DEFAULT);
  }
  CHECK(done);
  uv_run(&loop, UV_RUN_DEFAULT);  // what the client left to close
  CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("a stop that is requested ends the wait for a lock, whoever waits") {
  const FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(client.acquire("printer"));
  std::stop_source source;
  const auto stopped_while = [&](auto wait) {
    std::jthread stopper([&] {
      std::this_thread::sleep_for(50ms);
      source.request_stop();
    });
    return wait();
  };
  SECTION("for a lock") {
    const auto got = stopped_while([&] {
      return client.acquire("printer", {.wait = std::nullopt, .stop = source.get_token()});
    });
    CHECK(got.error().code == ErrorCode::stopped);
  }
  SECTION("for a guard") {
    const auto got = stopped_while([&] {
      return client.guard("printer", {.wait = std::nullopt, .stop = source.get_token()});
    });
    CHECK(got.error().code == ErrorCode::stopped);
  }
  SECTION("by a mutex") {
    Mutex mutex(client, "printer");
    CHECK_FALSE(stopped_while([&] { return mutex.lock(source.get_token()); }));
    CHECK_FALSE(mutex.try_lock_for(1h, source.get_token()));
  }
  SECTION("for the turn of a thread") {
    Mutex mutex(client, "plotter");
    mutex.lock();
    std::jthread([&] {
      CHECK_FALSE(stopped_while([&] { return mutex.lock(source.get_token()); }));
    }).join();
    mutex.unlock();
  }
  SECTION("that was requested before") {
    source.request_stop();
    CHECK(client.acquire("scanner", {.stop = source.get_token()}).error().code ==
          ErrorCode::stopped);
    CHECK_FALSE(client.holder("scanner").value());
  }
  SECTION("and nothing that is over") {
    const auto got = client.acquire("scanner", {.stop = source.get_token()});
    source.request_stop();
    CHECK(client.release(got.value()));
  }
}
