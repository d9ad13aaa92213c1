#include "coordinator/drill/world/client_process.h"

#include "base/net/turn/clock.h"
#include "base/random.h"
#include "coordinator/drill/world/history_file.h"
#include "coordinator/drill/world/store_link.h"
#include <redlock/client.h>
#include <redlock/guard.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// A busy machine may keep a process from running for so long.
constexpr Duration kNotice = 200ms;

volatile std::sig_atomic_t told_to_end = 0;

// What one holding is known by, and whether the client still believes in it. The guard tells of
// extensions and of a loss on the client's thread, so all that changes a belief takes turns.
//
// Thread safety: all of it.
class Belief {
 public:
  Belief(HistoryWriter& history, std::string client, std::string lock, std::string hold)
      : history_(history),
        client_(std::move(client)),
        lock_(std::move(lock)),
        hold_(std::move(hold)) {}

  void begin(Instant asked, const Lock& lock) {
    const std::lock_guard guard(mutex_);
    // Its guard may have extended it since the caller looked.
    valid_until_ = std::max(valid_until_, Instant(lock.valid_until));
    Event event = its(What::acquired);
    event.asked = asked;
    event.token = lock.token;
    event.ttl_ms = ceil_ms(lock.ttl);
    event.valid_until = valid_until_;
    began_ = true;
    tell(event);
    if (over_) tell_end();
  }
  // The guard tells of each extension, on the client's thread and before anybody relies on it: so
  // the history has it right behind the reply that decided it.
  void extend(Instant valid_until) {
    const std::lock_guard guard(mutex_);
    if (over_ || valid_until <= valid_until_) return;
    valid_until_ = valid_until;
    if (!began_) return;
    Event event = its(What::extended);
    event.valid_until = valid_until;
    tell(event);
  }
  void lose(std::string why) { end(What::lost, std::move(why)); }
  void release() { end(What::releases, {}); }

  bool is_over() const {
    const std::lock_guard guard(mutex_);
    return over_;
  }
  StoreWrite write(std::uint64_t token) const { return {client_, hold_, lock_, token}; }

 private:
  Event its(What what) const {
    return {.at = net::holder_now(), .who = client_, .what = what, .lock = lock_, .hold = hold_};
  }
  void end(What what, std::string why) {
    const std::lock_guard guard(mutex_);
    if (over_) return;
    over_ = true;
    end_ = what;
    why_ = std::move(why);
    // A guard may tell of a loss before its caller has it in hands (after a pause, say).
    if (began_) tell_end();
  }
  void tell_end() {
    Event event = its(end_);
    event.why = why_;
    tell(event);
  }
  // A history that cannot be written proves nothing: the drill sees this process end, and says so.
  void tell(const Event& event) {
    if (!history_.write(event)) _exit(1);
  }

  HistoryWriter& history_;
  const std::string client_;
  const std::string lock_;
  const std::string hold_;
  mutable std::mutex mutex_;
  Instant valid_until_{};
  bool began_ = false;
  bool over_ = false;
  What end_ = What::releases;  // once it is over
  std::string why_;
};

class ClientProcess {
 public:
  ClientProcess(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store,
                Client client)
      : settings_(settings),
        random_(settings.seed),
        history_(std::move(history)),
        store_(std::move(store)),
        client_(std::move(client)),
        notice_(std::max(settings.ttl / 10, std::min(kNotice, settings.ttl / 4))) {}

  Status run() {
    while (told_to_end == 0 && problem_) {
      next_lock();
      if (chance(kWithoutExtension)) {
        hold_without_extension();
      } else {
        // The first one is long, so that the locks are held when the first faults come.
        const bool is_long = holds_ == 1 || chance(kLong);
        hold_under_guard(is_long ? ttls(0.6, 1.6) : between(1ms, 40ms));
      }
      sleep(between(0ms, 20ms));
    }
    return problem_;
  }

 private:
  // Of a hundred holdings. Few are long, and yet the locks are under a long one most of the time.
  static constexpr std::uint64_t kLong = 3;
  static constexpr std::uint64_t kWithoutExtension = 1;

  void next_lock();
  void hold_under_guard(Duration length);
  void hold_without_extension();
  template <class IsValid>
  void work(std::uint64_t token, Instant until, const IsValid& is_valid);
  void refused(const Error& why);

  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  Duration between(Duration least, Duration most) {
    return least + Duration(random_.below(static_cast<std::uint64_t>((most - least).count()) + 1));
  }
  Duration ttls(double least, double most) {
    const auto share = [this](double of) {
      return Duration(static_cast<std::int64_t>(static_cast<double>(settings_.ttl.count()) * of));
    };
    return between(share(least), share(most));
  }
  static void sleep(Duration length) { std::this_thread::sleep_for(length); }

  const ClientProcessSettings& settings_;
  Random random_;
  HistoryWriter history_;
  StoreLink store_;
  Client client_;
  const Duration notice_;  // before the end of its validity a lock counts as lost
  Status problem_ = Done{};
  std::uint64_t holds_ = 0;

  // Of the attempt under way.
  std::string lock_;
  Instant asked_{};
  std::shared_ptr<Belief> belief_;  // the guard's callback has it, too
};

void ClientProcess::next_lock() {
  lock_ = fmt::format("lock {}", random_.below(static_cast<std::uint64_t>(settings_.locks)) + 1);
  // Another process of this client's name may have held before: the number of the process tells
  // their holdings apart.
  const std::string hold = fmt::format("{}/{}.{}", settings_.name, getpid(), ++holds_);
  belief_ = std::make_shared<Belief>(history_, settings_.name, lock_, hold);
  asked_ = net::holder_now();
  const Event asks{.at = asked_, .who = settings_.name, .what = What::asks, .lock = lock_};
  if (auto written = history_.write(asks); !written) problem_ = written;
}

void ClientProcess::refused(const Error& why) {
  std::string name(error_name(why.code));
  std::replace(name.begin(), name.end(), ' ', '_');
  const Event event{.at = net::holder_now(),
                    .who = settings_.name,
                    .what = What::refused,
                    .lock = lock_,
                    .why = std::move(name)};
  if (auto written = history_.write(event); !written) problem_ = written;
}

void ClientProcess::hold_under_guard(Duration length) {
  auto got = client_.guard(
      lock_,
      {.ttl = settings_.ttl,
       .wait = settings_.wait,
       .fence = settings_.fence,
       .notice = notice_,
       .on_loss = [belief = belief_](const Error& why) { belief->lose(why.text); },
       .on_extended = [belief = belief_](Duration until) { belief->extend(Instant(until)); }});
  if (!got) return refused(got.error());
  Guard& guard = got.value();
  const Lock lock = guard.lock();
  belief_->begin(asked_, lock);
  work(lock.token, later(net::holder_now(), length), [&] { return guard.valid(); });
  belief_->release();
  static_cast<void>(guard.release());  // of a lost one, too: some nodes may still have it
}

// To the end, and not beyond: it stops in good time and lets the lock run out, as a careful program
// without a guard would.
void ClientProcess::hold_without_extension() {
  const auto got = client_.acquire(
      lock_, {.ttl = settings_.ttl, .wait = settings_.wait, .fence = settings_.fence});
  if (!got) return refused(got.error());
  const Lock& lock = got.value();
  belief_->begin(asked_, lock);
  work(lock.token, Instant(lock.valid_until) - notice_,
       [&] { return lock.validity_left() > Duration::zero(); });
  belief_->release();
  if (told_to_end != 0) static_cast<void>(client_.release(lock));
}

template <class IsValid>
void ClientProcess::work(std::uint64_t token, Instant until, const IsValid& is_valid) {
  while (told_to_end == 0 && net::holder_now() < until) {
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

}  // namespace

Status run_client_process(const ClientProcessSettings& settings) {
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
  auto history = HistoryWriter::open(settings.history_file);
  if (!history) return history.error();
  auto store = StoreLink::connect(settings.store);
  if (!store) return store.error();
  auto client = Client::start(settings.client);
  if (!client) return Failure{client.error().text};
  return ClientProcess(settings, std::move(history).value(), std::move(store).value(),
                       std::move(client).value())
      .run();
}

}  // namespace redlock::drill
