#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/guard.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

TEST_CASE("a guard keeps its lock beyond the TTL, and lets it go at its end") {
  const FiveNodes nodes;
  Client client = nodes.client();
  {
    auto guard = client.guard("printer", {.ttl = 1s});
    REQUIRE(guard);
    const auto first_end = guard.value().lock().valid_until;
    while (guard.value().lock().valid_until < first_end + 300ms) {
      REQUIRE(guard.value().valid());
      std::this_thread::sleep_for(10ms);
    }
    CHECK(client.acquire("printer").error().code == ErrorCode::held);
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
  CHECK(guard.release().error().code == ErrorCode::not_held);
  CHECK_FALSE(client.holder("printer").value());
}

TEST_CASE("a guard that is abandoned is neither extended nor released: its lock runs out") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {.ttl = 600ms}).value();
  const Lock lock = guard.lock();
  guard.abandon();
  CHECK_FALSE(guard.valid());
  CHECK(guard.release().error().code == ErrorCode::not_held);
  CHECK(client.acquire("printer").error().code == ErrorCode::held);
  const Lock next = client.acquire("printer", {.ttl = 600ms, .wait = 15s}).value();
  CHECK(next.valid_until > lock.valid_until + 500ms);
}

TEST_CASE("a client that ends does not release what was abandoned") {
  const FiveNodes nodes;
  {
    Client client = nodes.client();
    client.guard("printer", {}).value().abandon();
  }
  CHECK(nodes.client().acquire("printer").error().code == ErrorCode::held);
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

TEST_CASE("an extension that failed is not told as one") {
  FiveNodes nodes;
  Client client = nodes.client();
  std::promise<void> extended;
  std::promise<void> lost;
  std::vector<std::chrono::nanoseconds> told;  // on the client's thread, until it was lost
  const Guard guard = client
                          .guard("printer", {.ttl = 600ms,
                                             .on_loss = [&](const Error&) { lost.set_value(); },
                                             .on_extended =
                                                 [&](std::chrono::nanoseconds valid_until) {
                                                   told.push_back(valid_until);
                                                   if (told.size() == 1) extended.set_value();
                                                 }})
                          .value();
  extended.get_future().wait();
  nodes.crash({0, 1, 2});
  lost.get_future().wait();
  CHECK(std::adjacent_find(told.begin(), told.end(), std::greater_equal<>()) == told.end());
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
  CHECK(guard.release().error().code == ErrorCode::stopped);
  CHECK_FALSE(told);
  CHECK(nodes.client().acquire("printer"));
}

TEST_CASE("in the last callbacks a guard's release does not wait for the thread that it is on") {
  const FiveNodes nodes;
  std::optional<ErrorCode> told;
  Guard guard;
  {
    Client client = nodes.client();
    guard = client.guard("printer", {}).value();
    REQUIRE(client.acquire("scanner"));
    client.acquire("scanner", {.wait = std::nullopt}, [&](const Result<Lock, Error>&) {
      if (!told) told = guard.release().error().code;
    });
  }
  CHECK(told == ErrorCode::stopped);
}

TEST_CASE("a guard's options are checked") {
  const FiveNodes nodes;
  Client client = nodes.client();
  CHECK(client.guard("a", {.ttl = 1s, .notice = 700ms}).error().code == ErrorCode::invalid);
  CHECK(client.guard("", {}).error().code == ErrorCode::invalid);
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

struct GuardedLoss {
  bool told_in_time = false;  // before the validity ended
  bool was_valid = true;      // what valid() said then
};

// Holds a lock, loses the quorum, and waits for on_loss.
GuardedLoss lose_quorum() {
  FiveNodes nodes;
  Client client = nodes.client();
  std::promise<GuardedLoss> promise;
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
        const GuardedLoss loss = lose_quorum();
        in_time += loss.told_in_time ? 1 : 0;
        not_valid += loss.was_valid ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_time == kRuns);
  CHECK(not_valid == kRuns);
}

TEST_CASE("a loss requests a stop of what works under the lock, before on_loss is called") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::promise<bool> told;
  std::stop_token lost;
  Guard guard =
      client
          .guard("printer",
                 {.ttl = 600ms,
                  .on_loss = [&](const Error&) { told.set_value(lost.stop_requested()); }})
          .value();
  lost = guard.lost();
  CHECK(lost.stop_possible());
  CHECK_FALSE(lost.stop_requested());
  CHECK(client.release(guard.lock()));  // as somebody with its value would
  CHECK(told.get_future().get());
}

TEST_CASE("a release requests no stop") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {}).value();
  const std::stop_token lost = guard.lost();
  CHECK(guard.release());
  CHECK_FALSE(lost.stop_requested());
}

TEST_CASE("a guard that is detached gives its lock, which another guard keeps on") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {.ttl = 3s}).value();
  const Lock lock = guard.detach();
  CHECK_FALSE(guard.valid());
  CHECK(lock.name == "printer");
  CHECK(client.acquire("printer").error().code == ErrorCode::held);

  const auto kept = client.keep(lock, {.ttl = 2s});
  REQUIRE(kept);
  CHECK(kept->lock().token == lock.token);
  CHECK(kept->lock().ttl == 2s);
  const auto first_end = kept->lock().valid_until;
  while (kept->lock().valid_until < first_end + 300ms) {
    REQUIRE(kept->valid());
    std::this_thread::sleep_for(10ms);
  }
}

TEST_CASE("a lock of which only name and value are known is kept, one that is gone is not") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  const Lock lock = alice.acquire("printer", {.ttl = 10s}).value();
  Guard guard = bob.keep({.name = lock.name, .value = lock.value}, {.ttl = 5s}).value();
  CHECK(guard.valid());
  CHECK(guard.release());
  CHECK(bob.keep(lock, {}).error().code == ErrorCode::not_held);
  CHECK(bob.keep({.name = "printer"}, {}).error().code == ErrorCode::invalid);
  CHECK(bob.keep(lock, {.ttl = 1ms}).error().code == ErrorCode::invalid);
}

TEST_CASE("several locks are got together, a token each, whatever the order of their names") {
  const FiveNodes nodes;
  Client client = nodes.client();
  auto guards = client.guards({"c", "a", "b"}, {}).value();
  REQUIRE(guards.size() == 3);
  CHECK(guards[0].lock().name == "c");
  CHECK(guards[1].lock().name == "a");
  CHECK(guards[2].lock().name == "b");
  for (const Guard& guard : guards) {
    CHECK(guard.valid());
    CHECK(guard.lock().token > 0);
    CHECK(client.acquire(guard.lock().name).error().code == ErrorCode::held);
  }
  guards.clear();
  CHECK(client.guards({"a", "b", "c"}, {.wait = 5s}));
}

TEST_CASE("of several locks none stays if one is not got") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  REQUIRE(alice.acquire("b"));
  const auto got = bob.guards({"a", "b", "c"}, {.wait = 100ms});
  REQUIRE_FALSE(got);
  CHECK(got.error().code == ErrorCode::held);
  CHECK(got.error().text == "b: held by another");
  CHECK(alice.acquire("a", {.wait = 5s}));
  CHECK(alice.acquire("c"));
  CHECK(bob.guards({}, {}).error().code == ErrorCode::invalid);
  CHECK(bob.guards({"d", "d"}, {}).error().code == ErrorCode::invalid);
  CHECK(bob.guards({"d", ""}, {}).error().code == ErrorCode::invalid);
}

TEST_CASE("a wait for several locks that is cancelled leaves none of them") {
  const FiveNodes nodes;
  Client alice = nodes.client();
  Client bob = nodes.client();
  REQUIRE(alice.acquire("b"));
  std::promise<ErrorCode> told;
  const auto operation = bob.guards(
      {"a", "b"}, {},
      [&](const Result<std::vector<Guard>, Error>& got) { told.set_value(got.error().code); });
  while (!alice.holder("a").value()) std::this_thread::sleep_for(1ms);
  bob.cancel(operation);
  CHECK(told.get_future().get() == ErrorCode::stopped);
  CHECK(alice.acquire("a", {.wait = 5s}));
}

TEST_CASE("two who want the same locks, named in other orders, never wait in a circle") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::atomic<int> both = 0;
  {
    std::vector<std::jthread> threads;
    for (const auto& names : {std::vector<std::string>{"a", "b"}, {"b", "a"}}) {
      threads.emplace_back([&client, &both, names] {
        for (int i = 0; i < 50; ++i) both += client.guards(names, {.wait = 15s}) ? 1 : 0;
      });
    }
  }
  CHECK(both == 100);
}
