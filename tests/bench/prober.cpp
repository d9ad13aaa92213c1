// prober --port P -- COMMAND: one client that asks, waits, asks again, until its standard
// input is closed; then it tells how long the answers took, as one line of JSON.
//
// A server that stands still for a moment is seen in the largest times. The prober runs before all
// others on its core if it may (SCHED_FIFO, for root), so that it tells of the server and not of
// its neighbours; "alone" in its answer says whether it did. Its own longest pause beside the
// server's, between an answer and the next question, is told too: a machine that stops the prober
// stops the server as well.
#include "base/net/turn/clock.h"
#include "tests/bench/client_socket.h"
#include "tests/bench/command_words.h"
#include "tests/bench/reply_counter.h"
#include "tests/bench/request_template.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <poll.h>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace redlock::bench {
namespace {

struct Times {
  std::vector<std::uint32_t> answers_ns;
  std::uint64_t pause_ns_max = 0;
};

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      net::read_clock(net::ClockKind::monotonic).time_since_epoch().count());
}

bool run_before_others() {
  const sched_param first{.sched_priority = 1};
  return sched_setscheduler(0, SCHED_FIFO, &first) == 0;
}

bool input_is_open() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) == 0;
}

// One question and its answer; false if there was none.
bool ask(ClientSocket& socket, std::string_view request, ReplyCounter& replies) {
  std::array<char, 4096> buffer;
  std::size_t kept = 0;
  if (socket.send(request).bytes != request.size()) return false;
  for (const std::uint64_t wanted = replies.replies() + 1; replies.replies() < wanted;) {
    const auto got = socket.receive(buffer.data() + kept, buffer.size() - kept);
    if (got.state == ClientSocket::State::closed) return false;
    kept += got.bytes;
    kept -= replies.take({buffer.data(), kept});
  }
  return replies.problem().empty();
}

std::uint64_t share(const std::vector<std::uint32_t>& sorted, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void print(Times times, bool alone) {
  std::sort(times.answers_ns.begin(), times.answers_ns.end());
  fmt::print(R"({{"answers":{},"p50_ns":{},"p99_ns":{},"p999_ns":{},"max_ns":{},)"
             R"("pause_ns_max":{},"alone":{}}})"
             "\n",
             times.answers_ns.size(), share(times.answers_ns, 0.5), share(times.answers_ns, 0.99),
             share(times.answers_ns, 0.999), times.answers_ns.back(), times.pause_ns_max, alone);
}

int run(std::uint16_t port, const std::vector<std::string>& words) {
  ClientSocket socket(port, Blocking::yes);
  const RequestTemplate request(split_commands(words));
  ReplyCounter replies(request.commands());
  const std::string bytes = std::string(RequestBatch(request, 1).view(1));
  const bool alone = run_before_others();
  Times times;
  times.answers_ns.reserve(4'000'000);
  std::uint64_t answered = now_ns();
  do {
    const std::uint64_t asked = now_ns();
    times.pause_ns_max = std::max(times.pause_ns_max, asked - answered);
    if (!socket.is_open() || !ask(socket, bytes, replies)) {
      fmt::print(stderr, "prober: no answer, or an error: {}\n", replies.problem());
      return 1;
    }
    answered = now_ns();
    times.answers_ns.push_back(
        static_cast<std::uint32_t>(std::min<std::uint64_t>(answered - asked, UINT32_MAX)));
  } while (input_is_open());
  print(std::move(times), alone);
  return 0;
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  CLI::App app("asks, waits, asks again, and tells how long the answers took");
  std::uint16_t port = 0;
  std::vector<std::string> words;
  app.add_option("--port", port)->required();
  app.add_option("words", words, "the command")->required();
  CLI11_PARSE(app, argc, argv);
  return redlock::bench::run(port, words);
}
