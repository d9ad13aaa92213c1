// What hung nodes cost: the time of an acquire and release, with two of the nodes under SIGSTOP,
// against that where nobody listens at their addresses, and against that with all running.
//
//   hung_nodes before|after ADDRESS=PID …     (five nodes; the first two are stopped and continued)
//
// before: each client connects while the nodes are stopped; after: one client, connected before.
// Blocks of 50 pairs alternate, 500 pairs each. Prints the medians, and within what time the
// continued nodes had forgotten every key, at a TTL of 30 s. The nodes are left running.
//
// Nodes that are gone are the measure of hung ones: three have to answer in either case. With five
// at work they share the work behind the deciding answer, and how much that saves is the machine's
// (what it takes to wake a core): that figure is told beside it.
#include "base/net/turn/loop.h"
#include "base/text/number.h"
#include "coordinator/client/holder.h"
#include <redlock/client.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace redlock;
using coordinator::holder_now;

constexpr int kBlocks = 10;
constexpr int kPairsPerBlock = 50;
constexpr std::size_t kStoppedNodes = 2;
constexpr Duration kTtl = 30s;

struct Nodes {
  std::vector<std::string> addresses;
  std::vector<pid_t> pids;

  void signal_first_two(int number) const {
    for (std::size_t i = 0; i < kStoppedNodes; ++i) kill(pids[i], number);
  }
};

// A client and the loop under it, driven one operation at a time.
class User {
 public:
  explicit User(const std::vector<std::string>& nodes)
      : client_(Client::start_on(loop_.raw(), {.nodes = nodes}).value()) {
    client_.when_ready([this] { loop_.stop(); });
    loop_.run();
  }

  // Acquires and releases; the time both took, or nullopt if either failed.
  std::optional<Duration> pair(const std::string& name) {
    std::optional<Duration> took;
    const Instant start = holder_now();
    client_.acquire(name, {.ttl = kTtl}, [&](const Result<Lock, Error>& got) {
      if (!got) return loop_.stop();
      client_.release(got.value(), [&](const Result<Done, Error>& released) {
        if (released) took = holder_now() - start;
        loop_.stop();
      });
    });
    loop_.run();
    return took;
  }

  // Whether a client's only node still has one of these keys, or does not say.
  bool any_is_left(const std::vector<std::string>& names) {
    std::size_t asked = names.size();
    bool left = false;
    for (const std::string& name : names) {
      client_.holder(name, [&](const Result<std::optional<Holder>, Error>& holder) {
        left |= !holder || holder.value();
        if (--asked == 0) loop_.stop();
      });
    }
    loop_.run();
    return left;
  }

 private:
  net::Loop loop_;
  Client client_;
};

struct Measurement {
  std::vector<Duration> running;
  std::vector<Duration> stopped;
  std::vector<Duration> refused;
  Duration gone_max = 0ns;
  bool failed = false;
};

std::vector<std::string> run_block(User& user, int block, std::vector<Duration>& times,
                                   bool& failed) {
  std::vector<std::string> names;
  for (int i = 0; i < kPairsPerBlock; ++i) {
    names.push_back(fmt::format("hung:{}:{}", block, i));
    const auto took = user.pair(names.back());
    failed |= !took.has_value();
    times.push_back(took.value_or(1h));
  }
  return names;
}

// From SIGCONT until both nodes say that they have none of the keys; each asked on a connection of
// its own, so that nothing but the releases themselves can have deleted them.
Duration continue_and_wait(const Nodes& nodes, const std::vector<std::string>& names) {
  const Instant start = holder_now();
  nodes.signal_first_two(SIGCONT);
  for (std::size_t i = 0; i < kStoppedNodes; ++i) {
    User checker({nodes.addresses[i]});
    while (checker.any_is_left(names)) {
      if (holder_now() - start > kTtl) break;
    }
  }
  return holder_now() - start;
}

// The same with the first two where nobody listens: the nodes do on 127.0.0.1 alone.
std::vector<std::string> with_two_gone(std::vector<std::string> addresses) {
  for (std::size_t i = 0; i < kStoppedNodes; ++i) {
    addresses[i].replace(addresses[i].find("127.0.0.1"), 9, "127.0.0.2");
  }
  return addresses;
}

class Measuring {
 public:
  Measuring(const Nodes& nodes, bool connects_before)
      : nodes_(nodes), gone_(with_two_gone(nodes.addresses)), connects_before_(connects_before) {}

  Measurement all() {
    auto client = std::make_unique<User>(nodes_.addresses);
    auto client_of_three = std::make_unique<User>(gone_);
    for (int block = 0; block < kBlocks; ++block) {
      anew(client, nodes_.addresses);
      run_block(*client, 3 * block, result_.running, result_.failed);
      anew(client_of_three, gone_);
      run_block(*client_of_three, 3 * block + 1, result_.refused, result_.failed);
      nodes_.signal_first_two(SIGSTOP);
      anew(client, nodes_.addresses);
      const auto names = run_block(*client, 3 * block + 2, result_.stopped, result_.failed);
      // The client's own loop must run for links that were not made yet to get on: one more pair.
      result_.gone_max = std::max(result_.gone_max, continue_and_wait(nodes_, names));
      result_.failed |= !client->pair("hung:between").has_value();
    }
    return result_;
  }

 private:
  void anew(std::unique_ptr<User>& client, const std::vector<std::string>& addresses) const {
    if (connects_before_) return;
    client.reset();
    client = std::make_unique<User>(addresses);
  }

  const Nodes& nodes_;
  std::vector<std::string> gone_;
  bool connects_before_;
  Measurement result_;
};

Duration median(std::vector<Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

bool read_arguments(int argc, char** argv, Nodes& nodes) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.rfind('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view address = argument.substr(0, equals);
    const auto pid = parse_int64(argument.substr(equals + 1));
    const bool is_here = address.find("127.0.0.1") != std::string_view::npos;
    if (!is_here || !pid || *pid <= 1) return false;
    nodes.addresses.emplace_back(address);
    nodes.pids.push_back(static_cast<pid_t>(*pid));
  }
  return nodes.pids.size() > 2 * kStoppedNodes;
}

double microseconds(Duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}

}  // namespace

int main(int argc, char** argv) {
  Nodes nodes;
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if ((mode != "before" && mode != "after") || !read_arguments(argc, argv, nodes)) {
    fmt::print(stderr, "usage: hung_nodes before|after ADDRESS=PID … (five nodes)\n");
    return 64;
  }
  const Measurement result = Measuring(nodes, mode == "after").all();
  const double running = microseconds(median(result.running));
  const double refused = microseconds(median(result.refused));
  const double stopped = microseconds(median(result.stopped));
  const double gone = microseconds(result.gone_max) / 1000;
  fmt::print(
      "running_us={:.1f} refused_us={:.1f} stopped_us={:.1f} to_refused={:.2f} to_running={:.2f} "
      "gone_ms_max={:.1f}{}\n",
      running, refused, stopped, stopped / refused, stopped / running, gone,
      result.failed ? " some pairs failed" : "");
  return result.failed ? 1 : 0;
}
