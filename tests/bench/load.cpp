#include "tests/bench/load.h"

#include "base/net/turn/clock.h"
#include "tests/bench/client_socket.h"
#include "tests/bench/process_cpu.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <sys/epoll.h>
#include <thread>
#include <unistd.h>

namespace redlock::bench {
namespace {

// A server that is silent for longer is stuck.
constexpr auto kSilenceMax = std::chrono::seconds(20);

// Until the server has accepted all connections, and then until it sleeps: its account is exact.
constexpr auto kSettleTime = std::chrono::milliseconds(20);

// The rounds that no connection has taken yet.
class Rounds {
 public:
  Rounds(const LoadPlan& plan, const std::vector<std::uint32_t>& keys)
      : plan_(plan), keys_(keys), span_ms_(std::max<std::uint64_t>(plan.deadline_span_ms, 1)) {}

  // Fills at most `room` rounds of the batch; how many.
  std::size_t take(RequestBatch& batch, std::size_t room) {
    const std::size_t rounds = std::min(room, keys_.size() - next_);
    for (std::size_t i = 0; i < rounds; ++i, ++next_) {
      batch.set(i, {.key = keys_[next_],
                    .deadline_ms = plan_.first_deadline_ms + keys_[next_] % span_ms_});
    }
    return rounds;
  }

 private:
  const LoadPlan& plan_;
  const std::vector<std::uint32_t>& keys_;
  std::uint64_t span_ms_;
  std::size_t next_ = 0;
};

class Connection {
 public:
  Connection(const LoadPlan& plan, const RequestTemplate& round, Rounds& rounds)
      : socket_(plan.port, Blocking::no),
        rounds_(rounds),
        rounds_per_batch_(plan.pipeline / round.commands()),
        batch_(round, rounds_per_batch_),
        replies_(round.commands()) {}

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.descriptor(); }
  bool is_done() const { return done_; }
  const ReplyCounter& replies() const { return replies_; }
  const std::string& problem() const { return problem_; }

  void send_next() {
    const std::size_t rounds = rounds_.take(batch_, rounds_per_batch_);
    awaited_ = replies_.replies() + rounds * replies_.commands();
    unsent_ = batch_.view(rounds);
    done_ = rounds == 0;
    send_rest();
  }

  // A socket that is full for a moment is tried again at the next event: its replies are one.
  void send_rest() {
    while (!unsent_.empty()) {
      const ClientSocket::Moved sent = socket_.send(unsent_);
      if (sent.state == ClientSocket::State::closed) fail("the server closed the connection");
      if (sent.state != ClientSocket::State::ok) return;
      unsent_.remove_prefix(sent.bytes);
    }
  }

  void receive() {
    const auto got = socket_.receive(buffer_.data() + kept_, buffer_.size() - kept_);
    if (got.state == ClientSocket::State::closed) return fail("the server closed the connection");
    kept_ += got.bytes;
    const std::size_t taken = replies_.take({buffer_.data(), kept_});
    std::copy(buffer_.data() + taken, buffer_.data() + kept_, buffer_.data());
    kept_ -= taken;
    if (!replies_.problem().empty()) return fail(replies_.problem());
    if (kept_ == buffer_.size()) return fail("a reply is longer than any that is expected here");
    if (replies_.replies() > awaited_) return fail("more replies than requests");
    if (!unsent_.empty()) return send_rest();
    if (replies_.replies() == awaited_) send_next();
  }

 private:
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    done_ = true;
    unsent_ = {};
  }

  ClientSocket socket_;
  Rounds& rounds_;
  std::size_t rounds_per_batch_;
  RequestBatch batch_;
  std::string_view unsent_;
  ReplyCounter replies_;
  std::uint64_t awaited_ = 0;
  std::array<char, 64 * 1024> buffer_;
  std::size_t kept_ = 0;  // bytes of a reply that is not whole
  bool done_ = false;
  std::string problem_;
};

using Connections = std::vector<std::unique_ptr<Connection>>;

// Asks again and again, and never sleeps. To wake a client that sleeps costs the server an
// interrupt across the cores, some microseconds; whether it sleeps depends on its own speed beside
// the server's: a server that is faster than its client would not pay what another pays.
int wait_awake(int poll, std::span<epoll_event> events) {
  const auto now = [] { return net::read_clock(net::ClockKind::monotonic); };
  for (const Instant began = now(); now() - began < kSilenceMax;) {
    const int ready = epoll_wait(poll, events.data(), static_cast<int>(events.size()), 0);
    if (ready != 0) return ready;
  }
  return 0;
}

// The first problem of any, or why they cannot go on.
std::string drive(Connections& connections) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  for (auto& connection : connections) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    epoll_ctl(poll, EPOLL_CTL_ADD, connection->descriptor(), &event);
    connection->send_next();
  }
  std::string problem;
  const auto is_done = [](const auto& connection) { return connection->is_done(); };
  while (problem.empty() && !std::all_of(connections.begin(), connections.end(), is_done)) {
    std::array<epoll_event, 64> events;
    const int ready = wait_awake(poll, events);
    if (ready <= 0) problem = "the server does not answer";
    for (int i = 0; i < ready; ++i) {
      auto& connection = *static_cast<Connection*>(events[static_cast<std::size_t>(i)].data.ptr);
      connection.receive();
      if (problem.empty()) problem = connection.problem();
    }
  }
  close(poll);
  return problem;
}

void settle() {
  std::this_thread::sleep_for(kSettleTime);
}

}  // namespace

LoadResult run_load(const LoadPlan& plan, const RequestTemplate& round,
                    const std::vector<std::uint32_t>& keys) {
  LoadResult result;
  result.replies = ReplyCounter(round.commands());
  Rounds rounds(plan, keys);
  Connections connections;
  for (std::size_t i = 0; i < plan.connections; ++i) {
    connections.push_back(std::make_unique<Connection>(plan, round, rounds));
    if (!connections.back()->is_open()) {
      result.problem = "nobody listens there";
      return result;
    }
  }
  settle();
  const std::uint64_t cpu_before = process_cpu_ns(plan.server_pid);
  const Instant began = net::read_clock(net::ClockKind::monotonic);
  result.problem = drive(connections);
  result.seconds =
      std::chrono::duration<double>(net::read_clock(net::ClockKind::monotonic) - began).count();
  settle();
  result.server_cpu_ns = process_cpu_ns(plan.server_pid) - cpu_before;
  for (const auto& connection : connections) result.replies.add(connection->replies());
  if (result.problem.empty() && result.replies.replies() != keys.size() * round.commands()) {
    result.problem = "some replies are missing";
  }
  return result;
}

}  // namespace redlock::bench
