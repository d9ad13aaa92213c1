// How often a token takes one round trip: eight clients on different ones
// of 1,000 keys, five nodes.
//
//   round_trips NODE-PROGRAM
//
// Nodes that saw the same grants propose the same number, so a quorum's proposals agree at once.
// After a kill a node begins above the others, and the first acquisition in each slot brings them
// up to it (rules F1, F3). Exits 0 if at least 95 % of the acquisitions took one round trip, both
// before a kill and after it, when each slot in use has been used ten times.
#include "tests/process/token_storm/node_group.h"
#include "tests/support/temporary_folder.h"
#include <redlock/client.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace redlock::token_storm {
namespace {

constexpr std::size_t kClients = 8;
constexpr std::size_t kKeysEach = 125;
constexpr int kTimes = 10;  // each key
constexpr double kShareMin = 0.95;
// Longer than any of it takes: a lock that runs out would be an acquisition that another one meets.
constexpr Duration kTtl = 10s;

struct Count {
  int one = 0;
  int all = 0;
  int failed = 0;
};

// One client takes and releases each of its keys ten times.
Count use_keys(Client& client, std::size_t number) {
  Count count;
  for (int time = 0; time < kTimes; ++time) {
    for (std::size_t i = 0; i < kKeysEach; ++i) {
      auto got = client.acquire(fmt::format("key:{}:{}", number, i), {.ttl = kTtl});
      if (!got || got.value().token == 0 || got.value().round_trips == 0) {
        ++count.failed;
        continue;
      }
      ++count.all;
      count.one += got.value().round_trips == 1 ? 1 : 0;
      if (!client.release(got.value())) ++count.failed;
    }
  }
  return count;
}

Count use_all_keys(std::vector<Client>& clients) {
  std::array<Count, kClients> counts;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    threads.emplace_back([&, i] { counts[i] = use_keys(clients[i], i); });
  }
  for (std::thread& thread : threads) thread.join();
  Count sum;
  for (const Count& count : counts) {
    sum.one += count.one;
    sum.all += count.all;
    sum.failed += count.failed;
  }
  return sum;
}

bool is_good(std::string_view when, const Count& count) {
  const double share = count.all > 0 ? static_cast<double>(count.one) / count.all : 0;
  fmt::print("{}: {} acquisitions, {:.1f} % of them in one round trip, {} failed\n", when,
             count.all, 100 * share, count.failed);
  return share >= kShareMin && count.failed == 0;
}

bool connect(const NodeGroup& nodes, std::vector<Client>& clients) {
  for (std::size_t i = 0; i < kClients; ++i) {
    ClientOptions options;
    options.nodes = nodes.addresses();
    auto client = Client::start(options);
    if (!client) return false;
    clients.push_back(std::move(client).value());
  }
  return true;
}

int run(const std::string& node_program) {
  const TemporaryFolder folder;
  NodeGroup nodes(node_program, folder.path(), {"--max-ttl", "10s"});
  std::vector<Client> clients;
  if (!nodes.start() || !connect(nodes, clients)) {
    fmt::print("the nodes do not start\n");
    return 1;
  }
  bool good = is_good("five nodes", use_all_keys(clients));
  // With no lock left its ledger is lowered within 20 ms (rule R5), and its delay is short.
  std::this_thread::sleep_for(100ms);
  nodes[0].kill();
  nodes[0].start();
  if (!nodes.wait_until_in(0)) {
    fmt::print("a killed node does not come back\n");
    return 1;
  }
  use_all_keys(clients);
  good &= is_good("after a kill, and ten uses of each slot", use_all_keys(clients));
  return good ? 0 : 1;
}

}  // namespace
}  // namespace redlock::token_storm

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: round_trips NODE-PROGRAM\n");
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return redlock::token_storm::run(argv[1]);
}
