#include "tests/unit/client/five_nodes.h"
#include <redlock/guard.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

TEST_CASE("a guard keeps its lock beyond the TTL, and lets it go at its end") {
  const FiveNodes nodes;
  Client client = nodes.client();
  {
    auto guard = client.guard("printer", {.ttl = 300ms});
    REQUIRE(guard);
    const auto first_end = guard.value().lock().valid_until;
    while (guard.value().lock().valid_until < first_end + 300ms) {
      REQUIRE(guard.value().valid());
      std::this_thread::sleep_for(10ms);
    }
    CHECK(client.acquire("printer").failure().code == ErrorCode::held);
  }
  CHECK(client.acquire("printer", {.wait = 15s}));
}

TEST_CASE("a guard that is released says whether it worked, and holds nothing afterwards") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {}).value();
  CHECK(guard.valid());
  CHECK(guard.validity_left() > 10s);
  CHECK(guard.release());
  CHECK_FALSE(guard.valid());
  CHECK(guard.validity_left() == 0ns);
  CHECK(guard.release().failure().code == ErrorCode::not_held);
  CHECK_FALSE(client.holder("printer").value());
}

TEST_CASE("a guard that is abandoned is neither extended nor released: its lock runs out") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {.ttl = 600ms}).value();
  const Lock lock = guard.lock();
  guard.abandon();
  CHECK_FALSE(guard.valid());
  CHECK(guard.release().failure().code == ErrorCode::not_held);
  CHECK(client.acquire("printer").failure().code == ErrorCode::held);
  const Lock next = client.acquire("printer", {.ttl = 600ms, .wait = 15s}).value();
  CHECK(next.valid_until > lock.valid_until + 500ms);
}

TEST_CASE("a client that ends does not release what was abandoned") {
  const FiveNodes nodes;
  {
    Client client = nodes.client();
    client.guard("printer", {}).value().abandon();
  }
  CHECK(nodes.client().acquire("printer").failure().code == ErrorCode::held);
}

TEST_CASE("each extension is told with the instant until which the lock is valid now") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::promise<std::chrono::nanoseconds> told;
  std::atomic<int> times = 0;
  Guard guard = client
                    .guard("printer", {.ttl = 300ms,
                                       .on_extended =
                                           [&](std::chrono::nanoseconds valid_until) {
                                             if (++times == 1) told.set_value(valid_until);
                                           }})
                    .value();
  const auto first = guard.lock().valid_until;
  const auto second = told.get_future().get();
  CHECK(second > first);
  CHECK(guard.lock().valid_until >= second);
}

TEST_CASE("a guard can be moved; an empty one is not valid") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard;
  CHECK_FALSE(guard.valid());
  guard = client.guard("a", {}).value();
  Guard other = std::move(guard);
  CHECK(other.valid());
  other = client.guard("b", {}).value();  // lets "a" go
  CHECK(client.acquire("a", {.wait = 15s}));
  CHECK(other.lock().name == "b");
}

TEST_CASE("a guard keeps its token for as long as it keeps the lock (rule F5)") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {.ttl = 300ms}).value();
  const Lock first = guard.lock();
  CHECK(first.token > 0);
  while (guard.lock().valid_until == first.valid_until) std::this_thread::sleep_for(1ms);
  CHECK(guard.lock().token == first.token);
  CHECK(guard.release());
  CHECK(client.acquire("printer").value().token > first.token);
}

TEST_CASE("a lock that another has taken away is lost at the next extension") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::promise<Error> lost;
  Guard guard = client
                    .guard("printer", {.ttl = 600ms,
                                       .on_loss = [&](const Error& why) { lost.set_value(why); }})
                    .value();
  CHECK(client.release(guard.lock()));  // as somebody with its value would
  const Error why = lost.get_future().get();
  CHECK(why.code == ErrorCode::lost);
  CHECK_THAT(why.text, Catch::Contains("a quorum of nodes does not have it any more"));
  CHECK(why.nodes.size() == 5);
  CHECK_FALSE(guard.valid());
}

TEST_CASE("a client that ends releases its guards; on_loss is not called") {
  const FiveNodes nodes;
  std::atomic<bool> told = false;
  Guard guard;
  {
    Client client = nodes.client();
    guard = client.guard("printer", {.on_loss = [&](const Error&) { told = true; }}).value();
  }
  CHECK_FALSE(guard.valid());
  CHECK(guard.release().failure().code == ErrorCode::stopped);
  CHECK_FALSE(told);
  CHECK(nodes.client().acquire("printer"));
}

TEST_CASE("a guard's options are checked") {
  const FiveNodes nodes;
  Client client = nodes.client();
  CHECK(client.guard("a", {.ttl = 1s, .notice = 700ms}).failure().code == ErrorCode::invalid);
  CHECK(client.guard("", {}).failure().code == ErrorCode::invalid);
}

TEST_CASE("on_loss may let the guard go") {
  FiveNodes nodes;
  Client client = nodes.client();
  std::promise<void> done;
  Guard guard;
  std::mutex mutex;
  const auto on_loss = [&](const Error&) {
    const std::lock_guard lock(mutex);
    guard = Guard();
    done.set_value();
  };
  {
    const std::lock_guard lock(mutex);
    guard = client.guard("printer", {.ttl = 300ms, .on_loss = on_loss}).value();
  }
  nodes.crash({0, 1, 2});
  done.get_future().get();
}

namespace {

struct Loss {
  bool told_in_time = false;  // before the validity ended
  bool was_valid = true;      // what valid() said then
};

// Holds a lock, loses the quorum, and waits for on_loss.
Loss lose_quorum() {
  FiveNodes nodes;
  Client client = nodes.client();
  std::promise<Loss> promise;
  Guard guard;
  std::mutex mutex;
  const auto on_loss = [&](const Error&) {
    const std::lock_guard lock(mutex);
    promise.set_value({guard.lock().validity_left() > 0ns, guard.valid()});
  };
  {
    const std::lock_guard lock(mutex);
    guard = client.guard("printer", {.ttl = 1s, .on_loss = on_loss}).value();
  }
  nodes.crash({0, 1, 2});
  return promise.get_future().get();
}

}  // namespace

TEST_CASE("a lost quorum is told before the validity ends, in 100 of 100 runs", "[timing]") {
  constexpr int kRuns = 100;
  constexpr int kAtOnce = 10;
  std::atomic<int> begun = 0;
  std::atomic<int> in_time = 0;
  std::atomic<int> not_valid = 0;
  std::vector<std::thread> threads;
  threads.reserve(kAtOnce);
  for (int i = 0; i < kAtOnce; ++i) {
    threads.emplace_back([&] {
      while (begun++ < kRuns) {
        const Loss loss = lose_quorum();
        in_time += loss.told_in_time ? 1 : 0;
        not_valid += loss.was_valid ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_time == kRuns);
  CHECK(not_valid == kRuns);
}
