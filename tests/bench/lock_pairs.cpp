// lock_pairs SECONDS CLIENTS PORT SHA: what the users of one address get, be it a Redis, a lock
// node or a front door.
//
// Each client has a connection: it sends SET NX PX of a key of its own, waits for the OK, releases
// by the usual script, which is loaded there under this SHA-1, waits for that, and takes the next.
// All of them sleep while they wait. Pairs a second and how long one took, as one line of JSON.
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

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

const RequestTemplate& lock_of_key() {
  static const RequestTemplate request({{"SET", "{key}", "{value}", "NX", "PX", "30000"}});
  return request;
}

// if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end
const RequestTemplate& release_of_key(const std::string& sha) {
  static const RequestTemplate request({{"EVALSHA", sha, "1", "{key}", "{value}"}});
  return request;
}

class Client {
 public:
  Client(std::uint16_t port, const std::string& sha)
      : socket_(port, Blocking::no), lock_(lock_of_key(), 1), release_(release_of_key(sha), 1) {}

  bool is_open() const { return socket_.is_open(); }
  int descriptor() const { return socket_.descriptor(); }

  bool begin(std::uint64_t key) {
    lock_.set(0, {.key = key});
    release_.set(0, {.key = key});
    asked_ = now();
    return send(lock_);
  }

  enum class Came { nothing, pair, failure };
  Came receive() {
    std::array<char, 512> buffer;
    const auto got = socket_.receive(buffer.data(), buffer.size());
    pending_.append(buffer.data(), got.bytes);
    pending_.erase(0, replies_.take(pending_));
    const std::uint64_t misses = replies_.counts(0).misses + replies_.counts(1).misses;
    if (got.state == ClientSocket::State::closed || !replies_.problem().empty() || misses > 0) {
      return Came::failure;
    }
    if (replies_.replies() == answered_) return Came::nothing;
    answered_ = replies_.replies();
    if (answered_ % 2 == 0) return Came::pair;
    return send(release_) ? Came::nothing : Came::failure;
  }
  const std::string& problem() const { return replies_.problem(); }
  Duration took() const { return now() - asked_; }

 private:
  bool send(const RequestBatch& request) {
    const std::string_view bytes = request.view(1);
    return socket_.send(bytes).bytes == bytes.size();
  }

  ClientSocket socket_;
  RequestBatch lock_;
  RequestBatch release_;
  ReplyCounter replies_{2};
  std::string pending_;
  std::uint64_t answered_ = 0;
  Instant asked_;
};

int failed(std::string_view why) {
  fmt::print(stderr, "lock_pairs: {}\n", why);
  return 1;
}

void print(std::vector<Duration>& took, Duration passed) {
  std::sort(took.begin(), took.end());
  const auto at = [&took](double share) {
    const auto index = static_cast<std::size_t>(static_cast<double>(took.size() - 1) * share);
    return std::chrono::duration<double, std::micro>(took[index]).count();
  };
  fmt::print("{{\"pairs\":{},\"pairs_per_second\":{:.1f},\"p50_us\":{:.3f},\"p99_us\":{:.3f}}}\n",
             took.size(),
             static_cast<double>(took.size()) / std::chrono::duration<double>(passed).count(),
             at(0.5), at(0.99));
}

int run(Duration length, std::size_t count, std::uint16_t port, const std::string& sha) {
  const int poll = epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Client>> clients;
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(port, sha));
    if (!clients.back()->is_open()) return failed("nobody listens there");
    epoll_event event{.events = EPOLLIN, .data = {.ptr = clients.back().get()}};
    epoll_ctl(poll, EPOLL_CTL_ADD, clients.back()->descriptor(), &event);
  }
  const Instant began = now();
  std::size_t busy = 0;
  for (auto& client : clients) {
    if (client->begin(key++)) ++busy;
  }
  if (busy < count) return failed("it takes no request");
  std::vector<Duration> took;
  while (busy > 0) {
    constexpr int kSilenceMsMax = 10'000;
    std::array<epoll_event, 64> events;
    const int ready = epoll_wait(poll, events.data(), events.size(), kSilenceMsMax);
    if (ready <= 0) return failed("no answer for 10 s");
    for (int i = 0; i < ready; ++i) {
      auto& client = *static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr);
      const Client::Came came = client.receive();
      if (came == Client::Came::failure) return failed("not granted: " + client.problem());
      if (came == Client::Came::nothing) continue;
      took.push_back(client.took());
      if (now() - began < length && client.begin(key++)) continue;
      --busy;
    }
  }
  print(took, now() - began);
  close(poll);
  return 0;
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: lock_pairs SECONDS CLIENTS PORT SHA\n");
    return 64;
  }
  const auto length = std::chrono::duration<double>(std::atof(argv[1]));
  return redlock::bench::run(std::chrono::duration_cast<redlock::Duration>(length),
                             static_cast<std::size_t>(std::atoi(argv[2])),
                             static_cast<std::uint16_t>(std::atoi(argv[3])), argv[4]);
}
