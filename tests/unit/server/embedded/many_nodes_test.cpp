// What a thousand nodes leave behind in the process that had them.
#include "tests/support/blocking_client.h"
#include "tests/support/sanitized.h"
#include "tests/support/temporary_folder.h"
#include <redlock/embedded_node.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;

namespace {

auto entries(const char* folder) {
  const std::filesystem::directory_iterator files(folder);
  return std::distance(begin(files), end(files));
}

// The kernel tells whoever joins a thread before it takes the thread off its list. One that stays
// is there after any number of looks.
std::ptrdiff_t threads_that_stay() {
  std::ptrdiff_t fewest = entries("/proc/self/task");
  for (int look = 0; look < 100 && fewest > 1; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fewest = std::min(fewest, entries("/proc/self/task"));
  }
  return fewest;
}

// What the process has, as the kernel counts it.
struct Holdings {
  std::ptrdiff_t threads = threads_that_stay();
  std::ptrdiff_t descriptors = entries("/proc/self/fd");
  long resident_kb = read_resident_kb();

  static long read_resident_kb() {
    long total_pages = 0;
    long resident_pages = 0;
    std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
    return resident_pages * (sysconf(_SC_PAGESIZE) / 1024);
  }
};

// One node of its kind: every tenth at a unix socket, every fortieth with a folder. Alternately
// stopped and crashed; true when it served.
bool live_and_die(int number) {
  std::optional<TemporaryFolder> folder;
  EmbeddedNodeOptions options;
  if (number % 10 == 0) {
    folder.emplace();
    options.unix_socket = folder->path() + "/socket";
    if (number % 40 == 0) options.folder = folder->path() + "/node";
    options.bootstrap = true;
  }
  auto node = EmbeddedNode::start(options);
  if (!node) return false;
  std::optional<BlockingClient> client;
  if (options.unix_socket.empty()) {
    client.emplace(node.value().port());
  } else {
    client.emplace(options.unix_socket);
  }
  const bool served =
      client->ask({"SET", "printer", "alice", "NX", "PX", "50000"}) == "+OK" &&
      client->ask({"EVAL", "return redis.call('get', KEYS[1])", "1", "printer"}) == "\"alice\"";
  if (number % 2 == 0) node.value().crash();
  return served;
}

}  // namespace

TEST_CASE("1,000 nodes started and stopped leave nothing behind in the process") {
  constexpr int kNodes = 1000;
  constexpr int kFirst = 80;  // what libc and libuv keep for good, they have after these
  int served = 0;
  for (int number = 0; number < kFirst; ++number) served += live_and_die(number) ? 1 : 0;
  const Holdings before;
  for (int number = kFirst; number < kNodes; ++number) served += live_and_die(number) ? 1 : 0;
  const Holdings after;
  CHECK(served == kNodes);
  CHECK(after.threads == before.threads);
  CHECK(after.descriptors == before.descriptors);
  if (!kSanitized) CHECK(after.resident_kb < before.resident_kb + 4 * 1024);
}

TEST_CASE("nodes that are asked for INFO at the same time answer it") {
  constexpr int kNodes = 8;
  std::vector<EmbeddedNode> nodes;
  nodes.reserve(kNodes);
  for (int number = 0; number < kNodes; ++number) {
    nodes.push_back(std::move(EmbeddedNode::start({})).value());
  }
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<BlockingClient>> clients;
    clients.reserve(kNodes);
    for (const EmbeddedNode& node : nodes) {
      clients.push_back(std::make_unique<BlockingClient>(node.port()));
    }
    for (auto& client : clients) client->send({"INFO"});
    for (auto& client : clients) CHECK(client->receive().find("used_memory") != std::string::npos);
  }
}

TEST_CASE("nodes live and die on several threads at once") {
  constexpr int kThreads = 4;
  constexpr int kNodesOfEach = 25;
  const Holdings before;
  std::vector<int> served(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int& count : served) {
    threads.emplace_back([&count] {
      for (int number = 0; number < kNodesOfEach; ++number) count += live_and_die(number) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(served == std::vector<int>(kThreads, kNodesOfEach));
  const Holdings after;
  CHECK(after.threads == before.threads);
  CHECK(after.descriptors == before.descriptors);
}
