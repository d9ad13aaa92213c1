#include "coordinator/drill/clients/working_process.h"

#include "base/net/turn/clock.h"

#include <algorithm>
#include <csignal>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// A busy machine may keep a process from running for so long.
constexpr Duration kNotice = 200ms;
// Of the watch. A machine that has more to do than it can lets processes wait for so long.
constexpr Duration kBeat = 20ms;
constexpr Duration kStalled = 40ms;

volatile std::sig_atomic_t told_to_end = 0;

}  // namespace

void heed_end() {
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
}

bool is_told_to_end() {
  return told_to_end != 0;
}

WorkingProcess::WorkingProcess(const ClientProcessSettings& settings, HistoryWriter history,
                               StoreLink store)
    : settings_(settings),
      notice_(std::max(settings.ttl / 10, std::min(kNotice, settings.ttl / 4))),
      random_(settings.seed),
      history_(std::move(history)),
      store_(std::move(store)) {}

Status WorkingProcess::run() {
  std::thread watching([this] { watch(); });
  while (!is_told_to_end() && problem_) {
    next_lock();
    hold();
    sleep(between(0ms, 20ms));
  }
  is_over_ = true;
  watching.join();
  return problem_;
}

// On a thread of its own, that has nothing else to do: it is let run before those that have.
void WorkingProcess::watch() {
  while (!is_over_) {
    const Instant expected = later(net::holder_now(), kBeat);
    sleep(kBeat);
    const Instant now = net::holder_now();
    if (now - expected < kStalled) continue;
    const Event event{
        .at = now, .who = settings_.name, .what = What::stalled, .ms = floor_ms(now - expected)};
    if (!history_.write(event)) _exit(1);  // as Belief does
  }
}

void WorkingProcess::next_lock() {
  const auto locks = static_cast<std::uint64_t>(settings_.in_line ? 1 : settings_.locks);
  lock_ = fmt::format("lock {}", random_.below(locks) + 1);
  // Another process of this client's name may have held before: the number of the process tells
  // their holdings apart.
  hold_ = fmt::format("{}/{}.{}", settings_.name, getpid(), ++holds_);
  belief_ = std::make_shared<Belief>(history_, settings_.name, lock_, hold_);
  asked_ = net::holder_now();
  const Event asks{.at = asked_, .who = settings_.name, .what = What::asks, .lock = lock_};
  if (auto written = history_.write(asks); !written) problem_ = written;
}

void WorkingProcess::refused(std::string why) {
  const Event event{.at = net::holder_now(),
                    .who = settings_.name,
                    .what = What::refused,
                    .lock = lock_,
                    .why = std::move(why)};
  if (auto written = history_.write(event); !written) problem_ = written;
}

void WorkingProcess::waits() {
  const Event event{.at = net::holder_now(),
                    .who = settings_.name,
                    .what = What::waits,
                    .lock = lock_,
                    .until = later(asked_, settings_.wait)};
  if (!history_.write(event)) _exit(1);  // as Belief does
}

void WorkingProcess::work(std::uint64_t token, Instant until,
                          const std::function<bool()>& is_valid) {
  while (!is_told_to_end() && net::holder_now() < until) {
    if (!is_valid() || belief_->is_over()) return belief_->lose("its time is up");
    sleep(between(1ms, 25ms));
    const auto accepted = store_.write(belief_->write(token));
    if (!accepted) {
      problem_ = accepted.error();
      return;
    }
    if (!accepted.value()) return belief_->lose("the store has seen a larger token");
    sleep(between(1ms, 15ms));
  }
}

Duration WorkingProcess::between(Duration least, Duration most) {
  return least + Duration(random_.below(static_cast<std::uint64_t>((most - least).count()) + 1));
}

Duration WorkingProcess::ttls(double least, double most) {
  const auto share = [this](double of) {
    return Duration(static_cast<std::int64_t>(static_cast<double>(settings_.ttl.count()) * of));
  };
  return between(share(least), share(most));
}

void WorkingProcess::sleep(Duration length) {
  std::this_thread::sleep_for(length);
}

}  // namespace redlock::drill
