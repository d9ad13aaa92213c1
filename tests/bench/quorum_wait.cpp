// quorum_wait SECONDS PORT...: the least that a lock on a quorum takes.
//
// It sends LOCK.ACQUIRE to all nodes, waits until more than half have answered, sends LOCK.RELEASE
// to all, waits again, and so on with another key, one at a time. It looks at no token, no validity
// and no late answer: so its time is what nodes, kernel and wires take, and a coordinator's own
// part is what it takes beyond that. The median of both together, as one line of JSON.
#include "base/net/turn/clock.h"
#include "tests/bench/client_socket.h"
#include "tests/bench/reply_counter.h"
#include "tests/bench/request_template.h"

#include <algorithm>
#include <array>
#include <cstdlib>
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

  // False if a node did not say yes. Answers that come after the quorum's are read in later rounds.
  bool ask(std::string_view request) {
    ++asked_;
    for (auto& node : nodes_) {
      if (node->socket.send(request).bytes != request.size()) return false;
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

int run(Duration length, const std::vector<std::uint16_t>& ports) {
  Quorum quorum(ports);
  const RequestTemplate acquire({{"LOCK.ACQUIRE", "{key}", "{value}", "PX", "30000"}});
  const RequestTemplate release({{"LOCK.RELEASE", "{key}", "{value}"}});
  RequestBatch acquiring(acquire, 1);
  RequestBatch releasing(release, 1);
  std::vector<Duration> took;
  const Instant end = now() + length;
  for (std::uint64_t key = 0; now() < end; ++key) {
    acquiring.set(0, {.key = key});
    releasing.set(0, {.key = key});
    const Instant asked = now();
    if (!quorum.ask(acquiring.view(1)) || !quorum.ask(releasing.view(1))) {
      fmt::print(stderr, "quorum_wait: a node did not say yes\n");
      return 1;
    }
    took.push_back(now() - asked);
  }
  std::sort(took.begin(), took.end());
  fmt::print("{{\"pairs\":{},\"p50_us\":{:.3f}}}\n", took.size(),
             std::chrono::duration<double, std::micro>(took[took.size() / 2]).count());
  return 0;
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  std::vector<std::uint16_t> ports;
  for (int i = 2; i < argc; ++i) ports.push_back(static_cast<std::uint16_t>(std::atoi(argv[i])));
  if (ports.empty()) {
    fmt::print(stderr, "usage: quorum_wait SECONDS PORT...\n");
    return 64;
  }
  const auto length = std::chrono::duration<double>(std::atof(argv[1]));
  return redlock::bench::run(std::chrono::duration_cast<redlock::Duration>(length), ports);
}
