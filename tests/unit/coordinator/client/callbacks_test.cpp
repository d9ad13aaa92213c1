// Callbacks that cannot be copied.
#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/guard.h>

#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// A callback of any operation that owns what it tells.
auto owner(std::future<bool>& told) {
  auto promise = std::make_unique<std::promise<bool>>();
  told = promise->get_future();
  return [promise = std::move(promise)](const auto& got) {
    promise->set_value(static_cast<bool>(got));
  };
}

bool comes(std::future<bool>& told) {
  REQUIRE(told.wait_for(15s) == std::future_status::ready);
  return told.get();
}

}  // namespace

TEST_CASE("a callback may own what cannot be copied, of every call") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::future<bool> told;
  client.acquire("printer", {}, owner(told));
  CHECK(comes(told));
  client.acquire("", {}, owner(told));
  CHECK_FALSE(comes(told));
  const Lock lock = client.acquire("scanner").value();
  client.extend(lock, owner(told));
  CHECK(comes(told));
  client.keep(lock, {}, owner(told));
  CHECK(comes(told));
  client.release(lock, owner(told));
  comes(told);
  client.holder("scanner", owner(told));
  CHECK(comes(told));
  client.status(owner(told));
  CHECK(comes(told));
  client.admit({}, owner(told));
  CHECK(comes(told));
  client.guard("plotter", {}, owner(told));
  CHECK(comes(told));
  client.guards({"a", "b"}, {}, owner(told));
  CHECK(comes(told));
  auto done = std::make_unique<std::promise<bool>>();
  told = done->get_future();
  client.when_ready([done = std::move(done)] { done->set_value(true); });
  CHECK(comes(told));
  done = std::make_unique<std::promise<bool>>();
  told = done->get_future();
  client.finish([done = std::move(done)] { done->set_value(true); });
  CHECK(comes(told));
}

TEST_CASE("a guard's release takes a callback that cannot be copied, at the client's end too") {
  const FiveNodes nodes;
  std::future<bool> told;
  Guard outlives;
  {
    Client client = nodes.client();
    Guard guard = client.guard("printer", {}).value();
    outlives = client.guard("scanner", {}).value();
    guard.release(owner(told));
    CHECK(comes(told));
  }
  outlives.release(owner(told));
  CHECK_FALSE(comes(told));  // stopped
  Guard().release(owner(told));
  CHECK_FALSE(comes(told));
}

TEST_CASE("what a callback captured ends once it was called, also by a cancelled operation") {
  const FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(client.acquire("printer"));
  const auto seen = std::make_shared<int>(0);
  std::promise<void> told;
  const auto operation = client.acquire("printer", {.wait = std::nullopt},
                                        [seen, &told, own = std::make_unique<int>(1)](const auto&) {
                                          *seen += *own;
                                          told.set_value();
                                        });
  client.cancel(operation);
  told.get_future().wait();
  for (int i = 0; i < 15'000 && seen.use_count() > 1; ++i) std::this_thread::sleep_for(1ms);
  CHECK(seen.use_count() == 1);
  CHECK(*seen == 1);
}
