// A client is a guest in somebody else's program: it never ends, hangs or misleads it.
#include "tests/unit/coordinator/client/comes.h"
#include "tests/unit/coordinator/client/five_nodes.h"
#include "tests/unit/coordinator/client/system_faults.h"
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <atomic>
#include <csignal>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <uv.h>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

template <class T>
struct Told {
  std::promise<T> promise;
  std::atomic<int> times = 0;
  void operator()(T value) {
    if (++times == 1) promise.set_value(std::move(value));
  }
  T wait() {
    auto future = promise.get_future();
    REQUIRE(future.wait_for(kSoon) == std::future_status::ready);
    return future.get();
  }
};

bool has(const Error& error, AnswerKind kind, const std::string& text) {
  for (const NodeAnswer& node : error.nodes) {
    if (node.kind == kind && node.text.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string port_of(const std::string& address) {
  return address.substr(address.rfind(':'));
}

}  // namespace

TEST_CASE("an address that no route leads to is an answer, again and again") {
  Client client =
      Client::start({.nodes = {"224.0.0.1:1", "224.0.0.1:2", "224.0.0.1:3"}, .node_timeout = 200ms})
          .value();
  for (int i = 0; i < 5; ++i) {
    const auto got = client.acquire("printer", {.wait = 100ms});
    REQUIRE_FALSE(got);
    CHECK(got.error().code == ErrorCode::no_quorum);
    CHECK(has(got.error(), AnswerKind::refused, "network is unreachable"));
  }
}

TEST_CASE("names that cannot be are refused when they are read") {
  const auto text = [](std::string node) {
    return Client::start({.nodes = {std::move(node)}}).error().text;
  };
  CHECK_THAT(text(std::string(300, 'a')), Catch::Contains("is no host name"));
  CHECK_THAT(text("redis://" + std::string(64, 'a') + ".com"), Catch::Contains("is no host name"));
  CHECK_THAT(text("redis://n\xc3\xb6"
                  "de:1"),
             Catch::Contains("is no host name"));
  CHECK_THAT(text("redis://a b:1"), Catch::Contains("separate them by commas"));
  CHECK_THAT(text("redis://\x1b[31m"), !Catch::Contains("\x1b"));
  CHECK(Client::start({.nodes = {"redis://node_1.redlock.svc.cluster.local:6379"}}));
  CHECK(Client::start({.nodes = {"redis://[fe80::1%lo]:6379"}}));
}

TEST_CASE("all addresses of a name are tried in turn") {
  const FiveNodes nodes;
  ClientOptions options = nodes.options();
  for (std::size_t i = 0; i < options.nodes.size(); ++i) {
    const std::string name = "several-" + std::to_string(i);
    give_name(name, {"224.0.0.1", "127.0.0.9", "127.0.0.1"});  // no route, nobody, the node
    options.nodes[i] = name + port_of(options.nodes[i]);
  }
  Client client = Client::start(options).value();
  CHECK(client.acquire("printer", {.wait = 5s}));
}

TEST_CASE("names that hang cost the others nothing, and do not hold up the client's end") {
  const FiveNodes nodes;
  ClientOptions options = nodes.options();
  options.nodes = {options.nodes[0], options.nodes[1], "hung-1", options.nodes[2], "hung-2"};
  options.node_timeout = 300ms;
  const HungNames hung;
  auto began = std::chrono::steady_clock::now();
  {
    Client client = Client::start(options).value();
    CHECK(client.acquire("printer"));
    CHECK(std::chrono::steady_clock::now() - began < 250ms);
    began = std::chrono::steady_clock::now();
  }
  CHECK(std::chrono::steady_clock::now() - began < 400ms);
}

TEST_CASE("a client all of whose names hang ends within the node timeout") {
  const HungNames hung;
  std::chrono::steady_clock::time_point began;
  {
    Client client =
        Client::start({.nodes = {"hung-1", "hung-2", "hung-3"}, .node_timeout = 300ms}).value();
    CHECK(client.acquire("printer").error().code == ErrorCode::no_quorum);
    client.acquire("printer", {.wait = std::nullopt}, {});
    began = std::chrono::steady_clock::now();
  }
  CHECK(std::chrono::steady_clock::now() - began < 400ms);
}

TEST_CASE("without a thread no client starts, and the caller's signals are as they were") {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const NoThreads none;
    const auto client = Client::start({.nodes = {"127.0.0.1:1"}});
    REQUIRE_FALSE(client);
    CHECK(client.error().code == ErrorCode::system);
    CHECK_THAT(client.error().text, Catch::Contains("no thread"));
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) {
    CHECK(sigismember(&before, signal) == sigismember(&after, signal));
  }
}

TEST_CASE("a name that no thread can be had for is an answer") {
  Client client = Client::start({.nodes = {"nobody"}, .node_timeout = 200ms}).value();
  const auto first = client.acquire("printer");
  CHECK(has(first.error(), AnswerKind::refused, "Name or service not known"));
  const NoThreads none;
  const auto got = client.acquire("printer", {.wait = 1200ms});  // longer than it backs off
  CHECK(has(got.error(), AnswerKind::refused, "no thread"));
}

TEST_CASE("without descriptors no client starts") {
  const FewFiles few(8);
  const auto client = Client::start({.nodes = {"127.0.0.1:1"}});
  REQUIRE_FALSE(client);
  CHECK(client.error().code == ErrorCode::system);
  CHECK_THAT(client.error().text, Catch::Contains("ulimit -n"));
}

TEST_CASE("a descriptor that cannot be had for a dial is an answer, and had later it is dialled") {
  const FiveNodes nodes;
  Client client = Client::start({.nodes = {"127.0.0.1:1"}, .node_timeout = 200ms}).value();
  CHECK(client.acquire("printer").error().code == ErrorCode::no_quorum);
  {
    const FewFiles none(0);
    const auto got = client.acquire("printer", {.wait = 1200ms});  // longer than it backs off
    REQUIRE_FALSE(got);
    CHECK(has(got.error(), AnswerKind::refused, "too many open files"));
  }
  const auto got = client.acquire("printer", {.wait = 1200ms});
  CHECK(has(got.error(), AnswerKind::refused, "connection refused"));
}

TEST_CASE("guards cost no descriptors: ten thousand of them") {
  const FiveNodes nodes;
  const FewFiles few(100);
  ClientOptions options = nodes.options();
  options.node_timeout = 20s;  // all of them at once
  Client client = Client::start(options).value();
  constexpr int kGuards = 10'000;
  std::vector<Guard> guards(kGuards);
  std::atomic<int> held = 0;
  std::promise<void> all;
  for (int i = 0; i < kGuards; ++i) {
    client.guard("lock-" + std::to_string(i), {}, [&, i](Result<Guard, Error> got) {
      if (got) guards[static_cast<std::size_t>(i)] = std::move(got).value();
      if (++held == kGuards) all.set_value();
    });
  }
  REQUIRE(all.get_future().wait_for(60s) == std::future_status::ready);
  for (const Guard& guard : guards) REQUIRE(guard.valid());
}

TEST_CASE("an empty callback means that nobody is told") {
  const FiveNodes nodes;
  Client client = nodes.client();
  client.acquire("printer", {}, {});
  client.acquire("", {}, {});
  client.cancel(client.acquire("scanner", {.wait = std::nullopt}, {}));
  client.holder("printer", {});
  client.when_ready({});
  Guard guard = client.guard("plotter", {}).value();
  guard.release({});
  CHECK(client.acquire("plotter", {.wait = 5s}));
}

TEST_CASE("a client may be destroyed in its own callback") {
  const FiveNodes nodes;
  auto client = std::make_unique<Client>(nodes.client());
  Told<bool> told;
  client->acquire("printer", {}, [&](const Result<Lock, Error>& got) {
    client->acquire("scanner", {.wait = std::nullopt}, {});
    client.reset();
    told(static_cast<bool>(got));
  });
  CHECK(told.wait());
  CHECK(client == nullptr);
  CHECK(nodes.client().acquire("scanner", {.wait = 5s}));
}

TEST_CASE("a client may be destroyed in the callback of a guard's loss, and of its extension") {
  const FiveNodes nodes;
  const bool by_loss = GENERATE(true, false);
  auto client = std::make_unique<Client>(nodes.client());
  Told<bool> told;
  std::mutex mutex;  // over the guard
  Guard guard;
  const auto destroy = [&] {
    {
      const std::lock_guard lock(mutex);
      guard = Guard();
      client.reset();
    }
    told(true);
  };
  GuardOptions options{.ttl = 300ms};
  if (by_loss) options.on_loss = [&](const Error&) { destroy(); };
  if (!by_loss) options.on_extended = [&](std::chrono::nanoseconds) { destroy(); };
  {
    const std::lock_guard lock(mutex);
    guard = client->guard("printer", options).value();
    if (by_loss) CHECK(nodes.client().release(guard.lock()));
  }
  CHECK(told.wait());
}

TEST_CASE("what is begun in the last callbacks is told that the client has ended") {
  const FiveNodes nodes;
  std::atomic<int> stopped = 0;
  std::atomic<bool> ready = false;
  std::atomic<bool> finished = false;
  {
    Client client = Client::start({.nodes = {"127.0.0.1:1"}, .node_timeout = 10s}).value();
    client.when_ready([&] { ready = true; });
    client.acquire("printer", {.wait = std::nullopt}, [&](const Result<Lock, Error>& first) {
      stopped += first.error().code == ErrorCode::stopped;
      client.acquire("printer", {}, [&](const Result<Lock, Error>& second) {
        stopped += second.error().code == ErrorCode::stopped;
        client.release({.name = "a"}, [&](const Result<Done, Error>& third) {
          stopped += third.error().code == ErrorCode::invalid;
          client.finish([&] { finished = true; });
        });
      });
    });
  }
  CHECK(stopped == 3);
  CHECK(ready);
  CHECK(finished);
}

TEST_CASE("cancel in a callback ends what another thread has begun before") {
  const FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(client.acquire("printer"));
  std::promise<void> inside;
  std::promise<Client::Operation> begun;
  Told<ErrorCode> told;
  client.holder("printer", [&](const auto&) {
    inside.set_value();
    client.cancel(begun.get_future().get());  // what was begun waits for this thread
  });
  inside.get_future().wait();
  begun.set_value(client.acquire("printer", {.wait = std::nullopt},
                                 [&](const auto& got) { told(got.error().code); }));
  CHECK(told.wait() == ErrorCode::stopped);
}

TEST_CASE("a guard that is released where it would wait for itself keeps its lock") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Guard guard = client.guard("printer", {}).value();
  Told<ErrorCode> told;
  client.holder("printer", [&](const auto&) { told(guard.release().error().code); });
  CHECK(told.wait() == ErrorCode::wrong_thread);
  CHECK(guard.valid());
  CHECK(guard.release());
  CHECK_FALSE(client.holder("printer").value());
}

TEST_CASE("a guard that was not valid once never is again, and its loss is told once") {
  const FiveNodes nodes;
  Client client = nodes.client();
  for (int round = 0; round < 5; ++round) {
    Told<ErrorCode> lost;
    Guard guard =
        client
            .guard("printer",
                   {.ttl = 300ms, .wait = 5s, .on_loss = [&](const Error& why) { lost(why.code); }})
            .value();
    // The client's thread is late just then.
    client.holder("printer", [](const auto&) { std::this_thread::sleep_for(350ms); });
    while (guard.valid()) std::this_thread::sleep_for(1ms);
    const auto end = std::chrono::steady_clock::now() + 400ms;
    while (std::chrono::steady_clock::now() < end) {
      REQUIRE_FALSE(guard.valid());
      std::this_thread::sleep_for(100us);
    }
    CHECK(lost.wait() == ErrorCode::lost);
    static_cast<void>(guard.release());
    CHECK(lost.times == 1);
  }
}

TEST_CASE("what the nodes will never grant is invalid at once, in their words") {
  const FiveNodes nodes;
  Client client = nodes.client();
  const auto began = std::chrono::steady_clock::now();
  const auto long_ttl = client.guard("printer", {.ttl = 24h, .wait = std::nullopt});
  REQUIRE_FALSE(long_ttl);
  CHECK(long_ttl.error().code == ErrorCode::invalid);
  CHECK_THAT(long_ttl.error().text, Catch::Contains("max-ttl"));
  const auto long_name = client.acquire(std::string(70'000, 'a'), {.wait = std::nullopt});
  REQUIRE_FALSE(long_name);
  CHECK(long_name.error().code == ErrorCode::invalid);
  CHECK_THAT(long_name.error().text, Catch::Contains("bytes is too long: at most 65535 are taken"));
  CHECK(std::chrono::steady_clock::now() - began < 2s);
}

TEST_CASE("too many operations at once are an error of their own") {
  Client client = Client::start({.nodes = {"127.0.0.1:1"}, .node_timeout = 10s}).value();
  std::atomic<int> overloaded = 0;
  constexpr int kMany = (1 << 17) + 1000;
  std::promise<void> refused;
  for (int i = 0; i < kMany; ++i) {
    client.acquire("printer", {.wait = 10s}, [&](const Result<Lock, Error>& got) {
      if (got.error().code == ErrorCode::overloaded && ++overloaded == 1000) refused.set_value();
    });
  }
  CHECK(refused.get_future().wait_for(60s) == std::future_status::ready);
  // What lets a lock go is taken all the same.
  CHECK(client.release({.name = "a", .value = "b"}).error().code == ErrorCode::no_quorum);
}

TEST_CASE("a mutex waits for as long as an instant or a duration says, whatever it is") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Mutex mutex(client, "printer", {.ttl = 1s});
  const Lock other = client.acquire("printer", {.ttl = 10s}).value();
  using Clock = std::chrono::system_clock;
  CHECK_FALSE(mutex.try_lock_until(Clock::time_point::min()));
  CHECK_FALSE(mutex.try_lock_for(std::chrono::nanoseconds::min()));
  CHECK_FALSE(mutex.try_lock_for(std::chrono::duration<double>(-1e300)));
  CHECK(client.release(other));
  CHECK(mutex.try_lock_until(Clock::time_point::max()));
  mutex.unlock();
  CHECK(mutex.try_lock_for(std::chrono::hours::max()));
  mutex.unlock();
  CHECK(mutex.try_lock_for(std::chrono::duration<double>(1e300)));
  mutex.unlock();
}

TEST_CASE("a client on its caller's loop may be destroyed in its own callbacks") {
  const FiveNodes nodes;
  uv_loop_t loop;
  REQUIRE(uv_loop_init(&loop) == 0);
  auto client = std::make_unique<Client>(Client::start_on(&loop, nodes.options()).value());
  int told = 0;
  const bool by_finish = GENERATE(true, false);
  const auto destroy = [&] {
    client->holder("scanner", [&](const auto&) { ++told; });
    client.reset();
    ++told;
  };
  client->holder("printer", [&](const auto&) { by_finish ? client->finish(destroy) : destroy(); });
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(told == 2);
  CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("what stands behind a callback that ends its client is told, blocking calls too") {
  const FiveNodes nodes;
  auto client = std::make_unique<Client>(nodes.client());
  Client& there = *client;
  std::promise<void> inside;
  std::promise<void> waits;
  client->holder("printer", [&](const auto&) {
    inside.set_value();
    waits.get_future().wait();
    std::this_thread::sleep_for(50ms);
    client.reset();
  });
  inside.get_future().wait();
  Told<ErrorCode> told;
  there.holder("scanner", [&](const auto& got) { told(got.error().code); });
  waits.set_value();
  CHECK(told.wait() == ErrorCode::stopped);
}

TEST_CASE("a guard that was let go is heard of no more, and outlives its client") {
  const FiveNodes nodes;
  std::atomic<bool> lost = false;
  Guard outlives;
  {
    Client client = nodes.client();
    outlives = client.guard("scanner", {}).value();
    Guard guard =
        client.guard("printer", {.ttl = 300ms, .on_loss = [&](const Error&) { lost = true; }})
            .value();
    client.holder("printer", [](const auto&) { std::this_thread::sleep_for(400ms); });
    while (guard.valid()) std::this_thread::sleep_for(1ms);  // its loss is on the way
    guard = Guard();
  }
  CHECK_FALSE(lost);
  std::jthread([&] { CHECK(outlives.release().error().code == ErrorCode::stopped); }).join();
  Guard().abandon();
  Told<ErrorCode> told;
  Guard().release([&](const auto& got) { told(got.error().code); });
  CHECK(told.wait() == ErrorCode::not_held);
}

TEST_CASE("a client is finished with nobody to be told") {
  const FiveNodes nodes;
  Client client = nodes.client();
  client.finish({});
  CHECK(client.acquire("printer"));
  CHECK(Client::start({.nodes = {"a"}, .node_timeout = std::chrono::nanoseconds::max()})
            .error()
            .code == ErrorCode::invalid);
}
