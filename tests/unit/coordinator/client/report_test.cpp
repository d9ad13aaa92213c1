// What a client tells of itself: figures, a log, and why a lock is waited for.
#include "tests/unit/coordinator/client/comes.h"
#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// Lines, from any thread.
class Lines {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  std::size_t count(const std::string& part) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(
        lines_.begin(), lines_.end(),
        [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }
  std::size_t count() const { return count(""); }
  auto log() {
    return [this](Severity severity, std::string_view line) {
      add((severity == Severity::info ? "info " : "warning ") + std::string(line));
    };
  }
  auto on_wait() {
    return [this](const Error& why) { add(why.text); };
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

// As the client calls the nth.
std::string name_of(const FiveNodes& nodes, std::size_t nth) {
  return nodes.options().nodes[nth].substr(std::string("redis://").size());
}

// A node that is still dialled when the others agree is asked no more, and gives no vote.
bool is_connected_to_all(const Client& client) {
  return comes([&] { return client.figures().connected() == 5; });
}

std::uint64_t count_of(const Figures::Times& times) {
  std::uint64_t count = 0;
  for (const Figures::Times::Bucket& bucket : times.buckets) count += bucket.count;
  return count;
}

// In the bucket that a time of this length is in.
std::uint64_t count_at(const Figures::Times& times, std::chrono::nanoseconds took) {
  for (const Figures::Times::Bucket& bucket : times.buckets) {
    if (took <= bucket.up_to) return bucket.count;
  }
  return 0;
}

ClientOptions nobody() {
  return {.nodes = {"127.0.0.1:1"}, .node_timeout = 50ms};
}

}  // namespace

TEST_CASE("the figures count what a client did") {
  const FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(is_connected_to_all(client));
  const Lock lock = client.acquire("printer").value();
  Figures now = client.figures();
  CHECK(now.attempts == 1);
  CHECK(now.acquired == 1);
  CHECK(now.refused == 0);
  CHECK(client.acquire("printer").error().code == ErrorCode::held);
  CHECK(client.acquire("printer", {.ttl = 24h}).error().code == ErrorCode::invalid);
  CHECK(client.extend(lock));
  CHECK(client.release(lock));
  CHECK_FALSE(client.extend(lock));
  now = client.figures();
  CHECK(now.attempts == 3);
  CHECK(now.acquired == 1);
  CHECK(now.refused == 1);
  CHECK(now.failed == 1);
  CHECK(now.extended == 1);
  CHECK(now.not_extended == 1);
  CHECK(now.lost == 0);
  CHECK(now.released == 1);
  CHECK(now.released_late == 0);
  REQUIRE(now.nodes.size() == 5);
  CHECK(now.nodes[0].address == name_of(nodes, 0));
  CHECK(now.nodes[0].round_trip > 0ns);
  CHECK(now.split_votes == 0);
  CHECK(count_of(now.acquisition_times) == 1);
  CHECK(now.acquisition_times.sum > 0ns);
  CHECK(now.acquisition_times.buckets.back().up_to == Figures::Times::kEndless);
  CHECK(comes([&] {  // the last of the five answers, too
    std::uint64_t yes = 0;
    std::uint64_t no = 0;
    for (const Figures::Node& node : client.figures().nodes) {
      yes += node.votes_yes;
      no += node.votes_no;
    }
    return yes == 5 && no == 5;
  }));
}

TEST_CASE("the figures tell of releases for which little of the TTL was left") {
  const FiveNodes nodes;
  Client client = nodes.client();
  const Lock early = client.acquire("early", {.ttl = 10s}).value();
  CHECK(client.release(early));
  CHECK_FALSE(client.release(early));
  Lock late = client.acquire("late", {.ttl = 10s}).value();
  late.valid_until -= 9s;  // as if it had been acquired so long ago
  CHECK(client.release(late));
  CHECK(client.figures().released == 2);
  CHECK(client.figures().released_late == 1);
  Lock over = client.acquire("over", {.ttl = 10s}).value();
  over.valid_until -= 11s;
  CHECK(client.release(over));
  Lock unknown = client.acquire("unknown", {.ttl = 10s}).value();
  unknown.valid_until = std::chrono::nanoseconds::max();
  CHECK(client.release(unknown));
  const Figures::Times left = client.figures().validity_left_at_release;
  CHECK(count_of(left) == 3);
  CHECK(count_at(left, 9s) == 1);
  CHECK(count_at(left, 800ms) == 1);
  CHECK(count_at(left, 0s) == 1);
  CHECK(left.sum > 10s);
  CHECK(left.sum < 11s);
}

TEST_CASE("the figures tell what is under way, what is kept, and which nodes are connected") {
  FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(is_connected_to_all(client));
  REQUIRE(client.acquire("printer"));
  CHECK(client.figures().nodes[0].connections == 1);
  std::optional<Guard> guard = client.guard("scanner", {}).value();
  CHECK(comes([&] { return client.figures().kept == 1; }));
  const auto waits = client.acquire("printer", {.wait = std::nullopt}, {});
  CHECK(comes([&] { return client.figures().under_way == 1; }));
  client.cancel(waits);
  guard.reset();
  CHECK(comes([&] { return client.figures().under_way == 0 && client.figures().kept == 0; }));
  nodes.crash({0});
  CHECK(client.acquire("plotter"));
  // Of more than one, where it had not answered all before: a quorum of the others had agreed.
  CHECK(comes([&] { return client.figures().nodes[0].votes_none >= 1; }));
  CHECK(comes([&] { return client.figures().connected() == 4; }));
  CHECK_FALSE(client.figures().nodes[0].is_connected);
}

TEST_CASE("attempts in vain are counted while the lock is waited for") {
  Client client = Client::start(nobody()).value();
  CHECK_FALSE(client.acquire("printer", {.wait = 500ms}));
  CHECK(client.figures().attempts > 1);
  CHECK(client.figures().failed == 1);
}

TEST_CASE("a lock that was lost is counted, and is a line of the log") {
  const FiveNodes nodes;
  Lines lines;
  ClientOptions options = nodes.options();
  options.log = lines.log();
  Client client = Client::start(options).value();
  std::promise<void> lost;
  const Guard guard =
      client.guard("prin\nter", {.ttl = 300ms, .on_loss = [&](const Error&) { lost.set_value(); }})
          .value();
  CHECK(client.release(guard.lock()));  // as somebody with its value would
  lost.get_future().wait();
  std::this_thread::sleep_for(200ms);  // it is neither extended nor lost again
  CHECK(client.figures().lost == 1);
  CHECK(client.figures().not_extended == 1);
  CHECK(
      comes([&] { return lines.count("warning prin\\x0ater: the lock was lost: a quorum") == 1; }));
}

TEST_CASE("the log tells of nodes that are reached and that are not, once for each reason") {
  FiveNodes nodes;
  Lines lines;
  ClientOptions options = nodes.options();
  options.log = lines.log();
  const std::string first = name_of(nodes, 0);
  options.nodes.push_back("127.0.0.1:1");
  const Client client = Client::start(options).value();
  CHECK(comes([&] { return lines.count("info ") == 5; }));
  CHECK(comes([&] { return lines.count() == 6; }));
  CHECK(lines.count("info " + first + ": reached") == 1);
  CHECK(lines.count("warning 127.0.0.1:1: not reached: connection refused") == 1);
  nodes.crash({0});
  CHECK(comes([&] { return lines.count(first + ": not reached: connection refused") == 1; }));
  std::this_thread::sleep_for(300ms);  // it is dialled again and again meanwhile
  CHECK(lines.count("not reached: connection refused") == 2);
}

TEST_CASE("a lock that is waited for without a quorum is a line of the log, once a second") {
  Lines lines;
  ClientOptions options = nobody();
  options.log = lines.log();
  Client client = Client::start(options).value();
  for (int i = 0; i < 100; ++i) client.acquire("printer", {.wait = std::nullopt}, {});
  CHECK(comes([&] { return lines.count("warning printer: waited for: no quorum") > 0; }));
  std::this_thread::sleep_for(200ms);
  CHECK(lines.count("waited for") == 1);
}

TEST_CASE("a log's reader may end the client") {
  const FiveNodes nodes;
  std::promise<void> ended;
  std::optional<Client> client;
  std::mutex mutex;  // over the client
  ClientOptions options = nodes.options();
  std::atomic<int> lines = 0;
  options.log = [&](Severity, std::string_view) {
    const std::lock_guard lock(mutex);
    if (++lines > 1) return;
    client.reset();
    ended.set_value();
  };
  {
    const std::lock_guard lock(mutex);
    client.emplace(Client::start(options).value());
  }
  REQUIRE(ended.get_future().wait_for(15s) == std::future_status::ready);
  std::this_thread::sleep_for(50ms);
  const std::lock_guard lock(mutex);  // what the client's thread did with it is over
  CHECK(lines == 1);                  // not after the client's end has begun
}

TEST_CASE("whoever waits is told why, once for each reason, and no more when it is over") {
  const FiveNodes nodes;
  Client holder = nodes.client();
  Lines held;
  REQUIRE(holder.acquire("printer"));
  CHECK_FALSE(holder.acquire("printer", {.wait = 300ms, .on_wait = held.on_wait()}));
  CHECK(held.count("held by another") == 1);
  CHECK(held.count() == 1);

  Lines once;
  CHECK_FALSE(holder.acquire("printer", {.on_wait = once.on_wait()}));
  CHECK(once.count() == 0);  // nobody waited

  Lines outage;
  Client client = Client::start(nobody()).value();
  const auto guard = client.guard("printer", {.wait = 500ms, .on_wait = outage.on_wait()});
  CHECK(guard.error().code == ErrorCode::no_quorum);
  const std::size_t told = outage.count();
  CHECK(told == outage.count("no quorum: 0 of 1 nodes voted"));
  CHECK(told == 1);
  const auto several = client.guards({"a", "b"}, {.wait = 300ms, .on_wait = outage.on_wait()});
  CHECK_FALSE(several);
  CHECK(outage.count() == 2);
}

TEST_CASE("one that is cancelled is told of nothing after its callback") {
  const FiveNodes nodes;
  Client client = nodes.client();
  REQUIRE(client.acquire("printer"));
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> over = false;
    std::atomic<bool> came_late = false;
    std::promise<void> told;
    const auto operation = client.acquire(
        "printer",
        {.wait = std::nullopt, .on_wait = [&](const Error&) { came_late = over.load(); }},
        [&](const auto&) {
          over = true;
          told.set_value();
        });
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 20)));
    client.cancel(operation);
    told.get_future().wait();
    CHECK_FALSE(came_late);
    std::promise<void> passed;  // whatever was on its way has come
    client.when_ready([&] { passed.set_value(); });
    passed.get_future().wait();
    CHECK_FALSE(came_late);
  }
}

// Both attempts are answered by the same bytes: the first begins to tell why it waits, and the
// second ends the client.
TEST_CASE("nobody is told why it waits after it was told that the client has ended") {
  const FiveNodes nodes;
  Client holder = nodes.client();
  REQUIRE(holder.acquire("printer"));
  for (int round = 0; round < 20; ++round) {
    auto client = std::make_unique<Client>(nodes.client());
    std::atomic<bool> over = false;
    std::atomic<bool> came_late = false;
    std::promise<void> ended;
    const auto note = [&](const Error&) { came_late = over.load(); };
    client->holder("printer", [&](const auto&) {
      client->acquire("printer", {.wait = std::nullopt, .on_wait = note},
                      [&](const auto& got) { over = got.error().code == ErrorCode::stopped; });
      client->acquire("printer", {}, [&](const auto&) {
        client.reset();
        ended.set_value();
      });
    });
    ended.get_future().wait();
    std::this_thread::sleep_for(5ms);
    CHECK(over);
    CHECK_FALSE(came_late);
  }
}

TEST_CASE("a mutex tells why its lock waits through an outage, and of nothing else") {
  const FiveNodes nodes;
  Lines why;
  {
    Client client = nodes.client();
    Mutex mutex(client, "printer", {.on_wait = why.on_wait()});
    mutex.lock();
    mutex.unlock();
  }
  CHECK(why.count() == 0);
  Client client = Client::start(nobody()).value();
  Mutex mutex(client, "printer", {.on_wait = why.on_wait()});
  std::stop_source source;
  std::jthread locks([&] { CHECK_FALSE(mutex.lock(source.get_token())); });
  CHECK(comes([&] { return why.count("no quorum") == 1; }));
  source.request_stop();
}

TEST_CASE("a mutex tells what its nodes do not grant any more, before it asks again") {
  std::optional<EmbeddedNode> node(EmbeddedNode::start({}).value());
  const std::uint16_t port = node->port();
  Client client = Client::start({.nodes = {node->address()}}).value();
  std::stop_source source;
  std::vector<ErrorCode> told;
  Mutex mutex(client, "printer", {.on_wait = [&](const Error& why) {
                if (why.code != ErrorCode::invalid) return;  // the node is not back yet
                told.push_back(why.code);
                source.request_stop();
              }});
  mutex.lock();
  mutex.unlock();
  node->crash();
  node.reset();
  node.emplace(EmbeddedNode::start({.port = port, .settings = {{"max-ttl", "10s"}}}).value());
  CHECK_FALSE(mutex.lock(source.get_token()));
  CHECK(told == std::vector<ErrorCode>{ErrorCode::invalid});
}
