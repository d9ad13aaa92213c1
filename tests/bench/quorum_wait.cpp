// quorum_wait SECONDS IN_FLIGHT PORT...: the least that locks on a quorum take.
//
// It sends LOCK.ACQUIRE to all nodes, waits until more than half have answered, sends LOCK.RELEASE
// to all, waits again, and so on with another key. With more than one in flight so many keys go
// together, in one write to each node. It looks at no token, no validity and no late answer, and
// its requests were encoded before: so its time is what nodes, kernel and wires take, and a
// coordinator's own part is what it takes beyond that. Pairs a second, its own CPU for each, and
// the median of a round, as one line of JSON.
#include "base/net/turn/clock.h"
#include "tests/bench/client_socket.h"
#include "tests/bench/reply_counter.h"
#include "tests/bench/request_template.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <sys/epoll.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace redlock::bench {
namespace {

struct Node {
  explicit Node(std::uint16_t port) : socket(port, Blocking::no) {}
  ClientSocket socket;
  ReplyCounter replies{1};
  std::string pending;
};

class Quorum {
 public:
  explicit Quorum(const std::vector<std::uint16_t>& ports) : poll_(epoll_create1(EPOLL_CLOEXEC)) {
    for (const std::uint16_t port : ports) {
      nodes_.push_back(std::make_unique<Node>(port));
      epoll_event event{.events = EPOLLIN, .data = {.ptr = nodes_.back().get()}};
      epoll_ctl(poll_, EPOLL_CTL_ADD, nodes_.back()->socket.descriptor(), &event);
    }
  }
  ~Quorum() { close(poll_); }
  Quorum(const Quorum&) = delete;
  Quorum& operator=(const Quorum&) = delete;

  // So many requests. False if a node did not say yes. Answers that come after the quorum's are
  // read in later rounds.
  bool ask(std::string_view requests, std::size_t count) {
    asked_ += count;
    for (auto& node : nodes_) {
      if (node->socket.send(requests).bytes != requests.size()) return false;
    }
    while (answered() < nodes_.size() / 2 + 1) {
      if (!receive()) return false;
    }
    return true;
  }

 private:
  std::size_t answered() const {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(),
                      [this](const auto& node) { return node->replies.replies() >= asked_; }));
  }

  bool receive() {
    constexpr int kSilenceMsMax = 5'000;
    std::array<epoll_event, 64> events;
    const int ready = epoll_wait(poll_, events.data(), events.size(), kSilenceMsMax);
    for (int i = 0; i < ready; ++i) {
      if (!receive(*static_cast<Node*>(events[static_cast<std::size_t>(i)].data.ptr))) return false;
    }
    return ready > 0;
  }

  static bool receive(Node& node) {
    std::array<char, 4096> buffer;
    const auto got = node.socket.receive(buffer.data(), buffer.size());
    node.pending.append(buffer.data(), got.bytes);
    node.pending.erase(0, node.replies.take(node.pending));
    const ReplyCounts& counts = node.replies.counts(0);
    return got.state != ClientSocket::State::closed && counts.misses + counts.errors == 0;
  }

  int poll_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::uint64_t asked_ = 0;
};

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

double cpu_us() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

int run(Duration length, std::size_t in_flight, const std::vector<std::uint16_t>& ports) {
  Quorum quorum(ports);
  const RequestTemplate acquire({{"LOCK.ACQUIRE", "{key}", "{value}", "PX", "30000"}});
  const RequestTemplate release({{"LOCK.RELEASE", "{key}", "{value}"}});
  RequestBatch acquiring(acquire, in_flight);
  RequestBatch releasing(release, in_flight);
  std::vector<Duration> took;
  const Instant began = now();
  const double cpu_before = cpu_us();
  std::uint64_t key = 0;
  while (now() - began < length) {
    for (std::size_t i = 0; i < in_flight; ++i, ++key) {
      acquiring.set(i, {.key = key});
      releasing.set(i, {.key = key});
    }
    const Instant asked = now();
    if (!quorum.ask(acquiring.view(in_flight), in_flight) ||
        !quorum.ask(releasing.view(in_flight), in_flight)) {
      fmt::print(stderr, "quorum_wait: a node did not say yes\n");
      return 1;
    }
    took.push_back(now() - asked);
  }
  const double seconds = std::chrono::duration<double>(now() - began).count();
  const auto pairs = static_cast<double>(key);
  std::sort(took.begin(), took.end());
  fmt::print(
      "{{\"pairs\":{},\"pairs_per_second\":{:.1f},\"cpu_us_per_pair\":{:.3f},"
      "\"p50_us\":{:.3f}}}\n",
      key, pairs / seconds, (cpu_us() - cpu_before) / pairs,
      std::chrono::duration<double, std::micro>(took[took.size() / 2]).count());
  return 0;
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  std::vector<std::uint16_t> ports;
  for (int i = 3; i < argc; ++i) ports.push_back(static_cast<std::uint16_t>(std::atoi(argv[i])));
  const int in_flight = argc > 2 ? std::atoi(argv[2]) : 0;
  if (ports.empty() || in_flight < 1) {
    fmt::print(stderr, "usage: quorum_wait SECONDS IN_FLIGHT PORT...\n");
    return 64;
  }
  const auto length = std::chrono::duration<double>(std::atof(argv[1]));
  return redlock::bench::run(std::chrono::duration_cast<redlock::Duration>(length),
                             static_cast<std::size_t>(in_flight), ports);
}
