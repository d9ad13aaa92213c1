// What it costs to hand a lock over among many of one client that wait for it, and how fair that is
// (rule Q7).
//
//   hand_over WAITERS HAND_OVERS ADDRESS …
//
// So many wait for one lock; each has it for a moment, and waits again behind the others. Prints,
// of the hand-overs once everybody stands:
//
//   us=412 cpu_us=95 overtaken=0     a hand-over's time, this process's CPU for it, and how many
//                                    who came later had the lock before anyone, at most
#include "base/net/turn/loop.h"
#include "base/text/number.h"
#include "coordinator/client/holder.h"
#include <redlock/client.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace redlock;
using coordinator::holder_now;

std::int64_t cpu_ns() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return spent.tv_sec * 1'000'000'000 + spent.tv_nsec;
}

class HandOver {
 public:
  HandOver(const ClientOptions& options, std::size_t waiters, std::size_t hand_overs)
      : client_(Client::start_on(loop_.raw(), options).value()),
        waiters_(waiters),
        left_(hand_overs + 2 * waiters),
        counted_(hand_overs) {
    client_.when_ready([this] { loop_.stop(); });
    loop_.run();
  }

  // The first round, in which they come, does not count, and after the last nobody waits again.
  bool run() {
    for (std::size_t i = 0; i < waiters_; ++i) wait();
    loop_.run();
    return !has_failed_;
  }
  void print() const {
    const auto each = [this](std::int64_t ns) {
      return ns / 1000 / static_cast<std::int64_t>(counted_);
    };
    fmt::print("us={} cpu_us={} overtaken={}\n", each((ended_at_ - began_at_).count()),
               each(ended_cpu_ - began_cpu_), overtaken_);
  }

 private:
  void wait() {
    const std::uint64_t place = ++last_place_;
    waiting_[place] = 0;
    AcquireOptions options{.ttl = 30s};
    options.wait = std::nullopt;
    client_.acquire("printer", options, [this, place](const Result<Lock, Error>& got) {
      if (!got) return fail();
      note(place);
      client_.release(got.value(), [](const Result<Done, Error>&) {});
    });
  }

  void fail() {
    has_failed_ = true;
    loop_.stop();
  }

  // Whoever came earlier and waits on was overtaken once more.
  void note(std::uint64_t place) {
    for (auto& [earlier, times] : waiting_) {
      if (earlier >= place) break;
      overtaken_ = std::max(overtaken_, ++times);
    }
    waiting_.erase(place);
    --left_;
    if (left_ == counted_ + waiters_) began_at_ = holder_now(), began_cpu_ = cpu_ns();
    if (left_ == waiters_) ended_at_ = holder_now(), ended_cpu_ = cpu_ns();
    if (left_ >= waiters_) wait();
    if (left_ == 0) loop_.stop();
  }

  net::Loop loop_;
  Client client_;
  std::size_t waiters_;
  std::size_t left_;
  std::size_t counted_;
  std::uint64_t last_place_ = 0;
  std::map<std::uint64_t, std::uint64_t> waiting_;  // by place: how often overtaken
  std::uint64_t overtaken_ = 0;
  Instant began_at_{};
  Instant ended_at_{};
  std::int64_t began_cpu_ = 0;
  std::int64_t ended_cpu_ = 0;
  bool has_failed_ = false;
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string_view> given(words + 1, words + count);
  if (given.size() < 3) return 2;
  const auto waiters = parse_int64(given[0]);
  const auto hand_overs = parse_int64(given[1]);
  if (!waiters || !hand_overs || *waiters < 1 || *hand_overs < 1) return 2;
  ClientOptions options;
  for (const std::string_view address : std::span(given).subspan(2)) {
    options.nodes.emplace_back(address);
  }
  HandOver run(options, static_cast<std::size_t>(*waiters), static_cast<std::size_t>(*hand_overs));
  if (!run.run()) return 1;
  run.print();
}
