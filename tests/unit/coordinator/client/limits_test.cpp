// What an argument may be, to the last unit, and how much there may be of a thing.
#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/guard.h>

#include <atomic>
#include <functional>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

ErrorCode code_of(const ClientOptions& options) {
  return Client::start(options).error().code;
}

// Nobody is there: an argument that is taken ends without a quorum.
class Nowhere {
 public:
  bool takes(const AcquireOptions& options) {
    return client_.acquire("printer", options).error().code == ErrorCode::no_quorum;
  }
  bool takes(const GuardOptions& options) {
    return client_.guard("printer", options).error().code == ErrorCode::no_quorum;
  }

 private:
  Client client_ = Client::start({.nodes = {"127.0.0.1:1"}, .node_timeout = 1ms}).value();
};

}  // namespace

TEST_CASE("a TTL has at least 10 ms") {
  Nowhere client;
  CHECK(client.takes(AcquireOptions{.ttl = 10ms}));
  CHECK_FALSE(client.takes(AcquireOptions{.ttl = 10ms - 1ns}));
}

TEST_CASE("a notice is at most six tenths of the TTL, and may be none") {
  Nowhere client;
  CHECK(client.takes(GuardOptions{.ttl = 1s, .wait = 0ns, .notice = 600ms}));
  CHECK_FALSE(client.takes(GuardOptions{.ttl = 1s, .wait = 0ns, .notice = 600ms + 1ns}));
  CHECK(client.takes(GuardOptions{.ttl = 1s, .wait = 0ns, .notice = 0ns}));
  CHECK_FALSE(client.takes(GuardOptions{.ttl = 1s, .wait = 0ns, .notice = -1ns}));
}

TEST_CASE("a wait is not negative") {
  Nowhere client;
  CHECK(client.takes(AcquireOptions{.wait = 0ns}));
  CHECK_FALSE(client.takes(AcquireOptions{.wait = -1ns}));
}

TEST_CASE("a node timeout has 1 ms to 1 h, a clock drift is 0 to 0.5") {
  const auto refuses = [](std::chrono::nanoseconds timeout, double drift) {
    return code_of({.nodes = {"127.0.0.1:1"}, .node_timeout = timeout, .clock_drift = drift}) ==
           ErrorCode::invalid;
  };
  CHECK_FALSE(refuses(1ms, 0));
  CHECK_FALSE(refuses(1h, 0.5));
  CHECK(refuses(1ms - 1ns, 0));
  CHECK(refuses(1h + 1ns, 0));
  CHECK(refuses(1ms, -0.001));
  CHECK(refuses(1ms, 0.501));
}

TEST_CASE("a token's floor is below 2^53") {
  const FiveNodes nodes;
  Client client = nodes.client();
  constexpr std::uint64_t kMost = (std::uint64_t(1) << 53) - 1;
  CHECK(client.admit({.floor = kMost}).error().code != ErrorCode::invalid);
  CHECK(client.admit({.floor = kMost + 1}).error().code == ErrorCode::invalid);
}

TEST_CASE("an admission and a lock's keeping end at a stop that was requested") {
  const FiveNodes nodes;
  Client client = nodes.client();
  std::stop_source source;
  const Lock lock = client.acquire("printer").value();
  CHECK(client.admit({.stop = source.get_token()}));
  Guard kept = client.keep(lock, {.stop = source.get_token()}).value();
  source.request_stop();
  CHECK(kept.valid());  // it ends the wait, and nothing else
  CHECK(client.admit({.stop = source.get_token()}).error().code == ErrorCode::stopped);
  CHECK(client.keep(lock, {.stop = source.get_token()}).error().code == ErrorCode::stopped);
}

// What comes at the client's end is told so, and begins another operation each time.
TEST_CASE("a callback that tries again at the client's end is told some thousand times") {
  std::atomic<int> told = 0;
  Client* trying = nullptr;
  std::function<void(const Result<Lock, Error>&)> again = [&](const Result<Lock, Error>& got) {
    if (got.error().code == ErrorCode::stopped) ++told;
    trying->acquire("printer", {.wait = std::nullopt}, again);
  };
  {
    Client client = Client::start({.nodes = {"127.0.0.1:1"}}).value();
    trying = &client;
    client.acquire("printer", {.wait = std::nullopt}, again);
  }
  CHECK(told >= 1000);
  CHECK(told < 5000);
}

TEST_CASE("callbacks that each begin two more at the client's end are told no more at some time") {
  std::atomic<int> told = 0;
  Client* trying = nullptr;
  std::function<void(const Result<Lock, Error>&)> again = [&](const Result<Lock, Error>& got) {
    if (got.error().code == ErrorCode::stopped) ++told;
    for (int i = 0; i < 2; ++i) trying->acquire("printer", {.wait = std::nullopt}, again);
  };
  {
    Client client = Client::start({.nodes = {"127.0.0.1:1"}}).value();
    trying = &client;
    client.acquire("printer", {.wait = std::nullopt}, again);
  }
  CHECK(told >= 200'000);
  CHECK(told < 300'000);
}
