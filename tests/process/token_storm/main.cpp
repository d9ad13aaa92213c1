// The token storm: eight coordinators acquire 100 keys, while nodes are killed, at most two at a
// time, and restarted, and one at a time loses its ledger and is admitted again by whoever of the
// coordinators meets it (rule F6).
//
//   token_storm NODE-PROGRAM [--acquisitions N] [--rate N] [--seed N] [--must-see]
//
// --rate: acquisitions in a second, about; as fast as it goes without. Exits 0 if no token was
// given twice, each was larger than all that were given before its acquisition began, no lock had
// two valid holders, and every node came back. --must-see: the nodes are broken ones; exits 0 only
// if tokens were seen to be wrong.
//
// Most keys are taken all the time, but some only every few seconds: for those every node may have
// been restarted in between, so nothing but the durable bounds knows of their last token.
#include "base/net/turn/clock.h"
#include "base/random.h"
#include "base/text/number.h"
#include "tests/process/token_storm/node_group.h"
#include "tests/process/token_storm/token_record.h"
#include "tests/support/temporary_folder.h"
#include <redlock/client.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace redlock::token_storm {
namespace {

constexpr std::size_t kCoordinators = 8;
constexpr std::size_t kKeys = 100;
constexpr std::size_t kRareKeys = 10;  // the last ones
constexpr Duration kRareKeyPause = 3s;
constexpr Duration kTtl = 500ms;
constexpr std::size_t kDefectsShown = 20;
// All nodes were killed several times, and three lost their ledger.
constexpr int kRoundsMin = 12;
constexpr int kRoundsPerLoss = 4;
constexpr int kRoundsToSee = 60;  // far more than it takes

struct Arguments {
  std::string node_program;
  std::uint64_t acquisitions = 20'000;
  std::uint64_t rate = 0;
  std::uint64_t seed = 0;
  bool must_see = false;
};

Instant now() {
  return net::read_clock(net::ClockKind::boottime);
}

// What all threads share.
class Storm {
 public:
  void stop() { stopped_ = true; }
  bool is_stopped() const { return stopped_; }

  std::size_t pick_key(Random& random) {
    for (std::size_t i = 0; i < kRareKeys; ++i) {
      std::int64_t due = rare_due_[i];
      const std::int64_t at = now().time_since_epoch().count();
      if (at < due) continue;
      if (rare_due_[i].compare_exchange_strong(due, at + kRareKeyPause.count())) {
        return kKeys - kRareKeys + i;
      }
    }
    return random.below(kKeys - kRareKeys);
  }
  TokenRecord& key(std::size_t number) { return keys_[number]; }

  void note_defect(const std::string& text) {
    const std::lock_guard lock(mutex_);
    defects_.push_back(text);
  }
  void note_failure(std::string_view error) {
    const std::lock_guard lock(mutex_);
    ++failures_[std::string(error)];
  }
  std::vector<std::string> defects() const {
    const std::lock_guard lock(mutex_);
    return defects_;
  }
  std::map<std::string, std::uint64_t> failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  std::atomic<std::uint64_t> acquired = 0;
  std::atomic<std::uint64_t> one_round_trip = 0;

 private:
  std::array<TokenRecord, kKeys> keys_;
  std::array<std::atomic<std::int64_t>, kRareKeys> rare_due_{};
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> defects_;
  std::map<std::string, std::uint64_t> failures_;
};

// One coordinator, on a thread of its own.
class Coordinator {
 public:
  Coordinator(Storm& storm, Client client, std::uint64_t seed, Duration pause)
      : storm_(storm), client_(std::move(client)), random_(seed), pause_(pause) {}

  void run() {
    while (!storm_.is_stopped()) {
      acquire(storm_.pick_key(random_));
      if (pause_ > 0ns) std::this_thread::sleep_for(pause_);
    }
  }

 private:
  void acquire(std::size_t number) {
    TokenRecord& key = storm_.key(number);
    const std::uint64_t floor = key.floor();
    auto got = client_.acquire(fmt::format("key:{}", number), {.ttl = kTtl});
    if (!got) return fail(got.error());
    const Lock lock = got.value();
    const std::string wrong = key.give(floor, lock.token, Instant(lock.valid_until));
    if (!wrong.empty()) storm_.note_defect(fmt::format("key {}: {}", number, wrong));
    ++storm_.acquired;
    if (lock.round_trips == 1) ++storm_.one_round_trip;
    let_go(number, lock);
  }

  void let_go(std::size_t number, Lock lock) {
    constexpr std::uint64_t kOneInIsKept = 100;
    constexpr std::uint64_t kOneInIsExtended = 10;
    if (random_.below(kOneInIsKept) == 0) return;  // until it runs out
    if (random_.below(kOneInIsExtended) == 0) {
      auto extended = client_.extend(lock);
      if (extended && extended.value().token != lock.token) {
        storm_.note_defect(fmt::format("key {}: token {} became {} by an extension", number,
                                       lock.token, extended.value().token));
      }
      if (extended) lock = extended.value();
    }
    storm_.key(number).end(lock.token);
    (void)client_.release(lock);  // a failure is healed by the TTL
  }

  void fail(const Error& error) {
    storm_.note_failure(error_name(error.code));
    if (error.code != ErrorCode::held) std::this_thread::sleep_for(2ms);
  }

  Storm& storm_;
  Client client_;
  Random random_;
  const Duration pause_;  // between two acquisitions
};

// Kills, restarts and losses, on the main thread.
class Chaos {
 public:
  Chaos(Storm& storm, NodeGroup& nodes, std::uint64_t seed)
      : storm_(storm), nodes_(nodes), random_(seed) {}

  int rounds() const { return rounds_; }
  int kills() const { return kills_; }
  int losses() const { return losses_; }

  // Two neighbours, or one of them, go and come back; each round takes the next two.
  void round() {
    const std::size_t first = 2 * static_cast<std::size_t>(rounds_) % NodeGroup::kNodes;
    const std::size_t second = (first + 1) % NodeGroup::kNodes;
    const bool both = random_.below(4) != 0;
    const bool loses = ++rounds_ % kRoundsPerLoss == 0;
    pause(100);
    kill(first);
    if (loses) {
      nodes_[first].lose_folder();
      ++losses_;
    }
    if (both) kill(second);
    nodes_[first].start();
    pause(200);
    if (both) nodes_[second].start();
    if (both && random_.below(3) == 0) {  // within its delay, or even within its start
      pause(100);
      kill(second);
      nodes_[second].start();
    }
    wait_for(first);
    if (both) wait_for(second);
  }

 private:
  void kill(std::size_t node) {
    nodes_[node].kill();
    ++kills_;
  }

  void pause(std::uint64_t longest_ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(longest_ms)));
  }

  void wait_for(std::size_t node) {
    if (nodes_.wait_until_in(node)) return;
    storm_.note_defect(fmt::format("node {} does not come back, or is not admitted", node));
    storm_.stop();
  }

  Storm& storm_;
  NodeGroup& nodes_;
  Random random_;
  int rounds_ = 0;
  int kills_ = 0;
  int losses_ = 0;
};

bool is_done(const Storm& storm, const Chaos& chaos, const Arguments& arguments) {
  if (storm.is_stopped()) return true;
  if (arguments.must_see) return !storm.defects().empty() || chaos.rounds() >= kRoundsToSee;
  return storm.acquired >= arguments.acquisitions && chaos.rounds() >= kRoundsMin;
}

int tell(const Storm& storm, const Chaos& chaos, const Arguments& arguments) {
  const auto acquired = static_cast<double>(storm.acquired);
  fmt::print("{} acquisitions, {:.1f} % in one round trip; {} kills, {} lost ledgers;",
             storm.acquired.load(), 100 * static_cast<double>(storm.one_round_trip) / acquired,
             chaos.kills(), chaos.losses());
  for (const auto& [error, count] : storm.failures()) fmt::print(" {} {}", count, error);
  const auto defects = storm.defects();
  fmt::print("; {} defects\n", defects.size());
  for (std::size_t i = 0; i < std::min(defects.size(), kDefectsShown); ++i) {
    fmt::print("{}\n", defects[i]);
  }
  if (arguments.must_see) {
    const bool seen = std::any_of(defects.begin(), defects.end(), [](const std::string& text) {
      return text.find("was given before") != std::string::npos;
    });
    return seen ? 0 : 1;
  }
  if (!defects.empty()) fmt::print("seed {}\n", arguments.seed);
  return defects.empty() ? 0 : 1;
}

std::vector<std::unique_ptr<Coordinator>> make_coordinators(Storm& storm, const NodeGroup& nodes,
                                                            Random& random, std::uint64_t rate) {
  const Duration pause =
      rate > 0 ? Duration(1s) * std::int64_t{kCoordinators} / static_cast<std::int64_t>(rate)
               : Duration(0);
  std::vector<std::unique_ptr<Coordinator>> made;
  for (std::size_t i = 0; i < kCoordinators; ++i) {
    ClientOptions options;
    options.nodes = nodes.addresses();
    auto client = Client::start(options);
    if (!client) return {};
    made.push_back(
        std::make_unique<Coordinator>(storm, std::move(client).value(), random(), pause));
  }
  return made;
}

int run(const Arguments& arguments) {
  Random random(arguments.seed);
  const TemporaryFolder folder;
  NodeGroup nodes(arguments.node_program, folder.path(), {"--max-ttl", "500ms"});
  if (!nodes.start()) {
    fmt::print("the nodes do not start\n");
    return 1;
  }
  Storm storm;
  Chaos chaos(storm, nodes, random());
  auto coordinators = make_coordinators(storm, nodes, random, arguments.rate);
  std::vector<std::thread> threads;
  threads.reserve(coordinators.size());
  for (auto& coordinator : coordinators) {
    threads.emplace_back([&coordinator] { coordinator->run(); });
  }
  while (!is_done(storm, chaos, arguments)) chaos.round();
  storm.stop();
  for (std::thread& thread : threads) thread.join();
  return tell(storm, chaos, arguments);
}

bool read_arguments(int argc, char** argv, Arguments& to) {
  if (argc < 2) return false;
  to.node_program = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--must-see") {
      to.must_see = true;
      continue;
    }
    const auto number = i + 1 < argc ? parse_int64(argv[++i]) : std::nullopt;
    if (!number || *number <= 0) return false;
    if (word == "--acquisitions") {
      to.acquisitions = static_cast<std::uint64_t>(*number);
    } else if (word == "--rate") {
      to.rate = static_cast<std::uint64_t>(*number);
    } else if (word == "--seed") {
      to.seed = static_cast<std::uint64_t>(*number);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace redlock::token_storm

int main(int argc, char** argv) {
  using namespace redlock;
  token_storm::Arguments arguments;
  arguments.seed = static_cast<std::uint64_t>(token_storm::now().time_since_epoch().count());
  if (!token_storm::read_arguments(argc, argv, arguments)) {
    fmt::print(stderr,
               "usage: token_storm NODE-PROGRAM [--acquisitions N] [--rate N] [--seed N] "
               "[--must-see]\n");
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  return token_storm::run(arguments);
}
