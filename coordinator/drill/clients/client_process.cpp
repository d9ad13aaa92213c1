#include "coordinator/drill/clients/client_process.h"

#include "base/net/turn/clock.h"
#include "coordinator/drill/clients/door_user.h"
#include "coordinator/drill/clients/working_process.h"
#include <redlock/guard.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace redlock::drill {
namespace {

ToldLock told_of(const Lock& lock) {
  return {.token = lock.token, .ttl = lock.ttl, .valid_until = Instant(lock.valid_until)};
}

class ClientProcess final : public WorkingProcess {
 public:
  ClientProcess(const ClientProcessSettings& settings, HistoryWriter history, StoreLink store,
                Client client)
      : WorkingProcess(settings, std::move(history), std::move(store)),
        client_(std::move(client)) {}

 private:
  // Of a hundred holdings. Few are long, and yet the locks are under a long one most of the time.
  static constexpr std::uint64_t kLong = 3;
  static constexpr std::uint64_t kWithoutExtension = 1;

  void hold() override;
  void hold_under_guard(Duration length);
  void hold_without_extension();
  void refused_by(const Error& why);
  // Tells once that the lock is another's: the library has taken its place in the line by then, and
  // keeps it across attempts.
  std::function<void(const Error&)> on_wait();

  Client client_;
};

void ClientProcess::hold() {
  if (settings_.in_line) return hold_under_guard(between(1ms, 40ms));
  if (chance(kWithoutExtension)) return hold_without_extension();
  // The first one is long, so that the locks are held when the first faults come.
  const bool is_long = is_first() || chance(kLong);
  hold_under_guard(is_long ? ttls(0.6, 1.6) : between(1ms, 40ms));
}

std::function<void(const Error&)> ClientProcess::on_wait() {
  return [this, is_told = false](const Error& why) mutable {
    if (why.code == ErrorCode::held && !std::exchange(is_told, true)) waits();
  };
}

void ClientProcess::refused_by(const Error& why) {
  std::string name(error_name(why.code));
  std::replace(name.begin(), name.end(), ' ', '_');
  refused(std::move(name));
}

void ClientProcess::hold_under_guard(Duration length) {
  auto got = client_.guard(
      lock_,
      {.ttl = settings_.ttl,
       .wait = settings_.wait,
       .fence = settings_.fence,
       .on_wait = on_wait(),
       .notice = notice_,
       .on_loss = [belief = belief_](const Error& why) { belief->lose(why.text); },
       .on_extended = [belief = belief_](Duration until) { belief->extend(Instant(until)); }});
  if (!got) return refused_by(got.error());
  Guard& guard = got.value();
  const Lock lock = guard.lock();
  belief_->begin(asked_, told_of(lock));
  work(lock.token, later(net::holder_now(), length), [&] { return guard.valid(); });
  belief_->release();
  static_cast<void>(guard.release());  // of a lost one, too: some nodes may still have it
}

// To the end, and not beyond: it stops in good time and lets the lock run out, as a careful program
// without a guard would.
void ClientProcess::hold_without_extension() {
  const auto got = client_.acquire(lock_, {.ttl = settings_.ttl,
                                           .wait = settings_.wait,
                                           .fence = settings_.fence,
                                           .on_wait = on_wait()});
  if (!got) return refused_by(got.error());
  const Lock& lock = got.value();
  belief_->begin(asked_, told_of(lock));
  work(lock.token, Instant(lock.valid_until) - notice_,
       [&] { return lock.validity_left() > Duration::zero(); });
  belief_->release();
  if (is_told_to_end()) static_cast<void>(client_.release(lock));
}

}  // namespace

Status run_client_process(const ClientProcessSettings& settings) {
  heed_end();
  auto history = HistoryWriter::open(settings.history_file);
  if (!history) return history.error();
  auto store = StoreLink::connect(settings.store);
  if (!store) return store.error();
  if (settings.reply_time > 0s) {
    return use_doors(settings, std::move(history).value(), std::move(store).value());
  }
  auto client = Client::start(settings.client);
  if (!client) return Failure{client.error().text};
  return ClientProcess(settings, std::move(history).value(), std::move(store).value(),
                       std::move(client).value())
      .run();
}

}  // namespace redlock::drill
