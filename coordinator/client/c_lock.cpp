#include "coordinator/client/c_client.h"
#include <redlock/guard.h>

#include <algorithm>

using namespace redlock;
using coordinator::CHome;
using coordinator::from_milliseconds;
using coordinator::invalid_argument;
using coordinator::look_for_c;
using coordinator::run_for_c;
using coordinator::tell;
using coordinator::tell_success;

// What a redlock_lock* points to. Name, value and token do not change. The nodes are asked without
// the mutex: whether the lock is valid can be asked meanwhile.
struct redlock_lock {
  enum class Hold { plain, kept, nothing };

  explicit redlock_lock(std::shared_ptr<CHome> of) : home(std::move(of)) {}

  Error holds_nothing() const {
    return {ErrorCode::not_held, "the lock was released or abandoned", {}};
  }

  const std::shared_ptr<CHome> home;
  mutable std::mutex mutex;  // over what follows
  Lock lock = {};            // its end of validity while it is not kept
  Guard guard = {};          // while it is kept
  Hold hold = Hold::plain;
};

using Hold = redlock_lock::Hold;

namespace {

AcquireOptions acquire_options(const redlock_acquire_options& from) {
  AcquireOptions options{.fence = !from.without_token};
  if (from.ttl_ms != 0) options.ttl = from_milliseconds(from.ttl_ms);
  options.wait = from_milliseconds(from.wait_ms);
  if (from.wait_ms == REDLOCK_FOREVER) options.wait = std::nullopt;
  return options;
}

// A callback of a loss may free the lock: so it waits until redlock_keep() has done with it, which
// holds `keeping` and asks the client's thread for nothing more once there is a guard to be lost.
GuardOptions guard_options(const redlock_lock& lock, const redlock_keep_options& from,
                           const std::shared_ptr<std::mutex>& keeping) {
  GuardOptions options{.ttl = lock.lock.ttl};
  if (from.ttl_ms != 0) options.ttl = from_milliseconds(from.ttl_ms);
  if (from.notice_ms != 0) options.notice = from_milliseconds(from.notice_ms);
  if (from.on_loss == nullptr) return options;
  options.on_loss = [home = lock.home.get(), from, keeping](const Error& why) {
    { const std::lock_guard kept(*keeping); }
    const CHome::CallingBack now(home);  // looked at no more when the call returns: it may be gone
    redlock_error error;
    run_for_c(&error, [&] { return tell(&error, why); });
    error.code = REDLOCK_LOST;
    from.on_loss(from.context, &error);
  };
  return options;
}

// The lock for an extension, or why there can be none.
Result<Lock, Error> extendable(const redlock_lock& lock) {
  const std::lock_guard locked(lock.mutex);
  if (lock.hold == Hold::nothing) return lock.holds_nothing();
  if (lock.hold == Hold::kept) return invalid_argument("the lock is kept: it is extended already");
  return lock.lock;
}

Duration validity_left(const redlock_lock& lock) {
  if (lock.home->is_in_child()) return Duration::zero();
  const std::lock_guard locked(lock.mutex);
  if (lock.hold == Hold::kept) return lock.guard.validity_left();
  const bool is_known = lock.hold == Hold::plain && lock.lock.valid_until != Duration::max();
  return is_known ? lock.lock.validity_left() : Duration::zero();
}

// A guard in another thread's hands could not be asked whether it is valid: it is taken out.
Result<Done, Error> release(redlock_lock& lock) {
  if (auto refusal = lock.home->why_not_now()) return *std::move(refusal);
  std::unique_lock locked(lock.mutex);
  if (lock.hold == Hold::nothing) return lock.holds_nothing();
  const bool was_kept = std::exchange(lock.hold, Hold::plain) == Hold::kept;
  lock.lock.valid_until = Duration::zero();
  Guard guard = std::move(lock.guard);
  const Lock known = lock.lock;
  locked.unlock();
  const auto released =
      was_kept ? guard.release() : lock.home->ask<Done>([&](Client& of, auto done) {
        of.release(known, std::move(done));
      });
  if (released || released.error().code == ErrorCode::not_held) {
    locked.lock();
    lock.hold = Hold::nothing;
  }
  return released;
}

}  // namespace

redlock_code redlock_acquire(redlock_client* client, const char* name,
                             const redlock_acquire_options* options, redlock_lock** lock,
                             redlock_error* error) {
  return run_for_c(error, [&] {
    if (lock == nullptr) return tell(error, invalid_argument("there is no place for the lock"));
    *lock = nullptr;
    if (client == nullptr) return tell(error, invalid_argument("there is no client"));
    if (name == nullptr) return tell(error, invalid_argument("the lock has no name"));
    auto made = std::make_unique<redlock_lock>(client->home);  // before there is a lock to be lost
    const redlock_acquire_options defaults{};
    const AcquireOptions wanted = acquire_options(options != nullptr ? *options : defaults);
    auto got = made->home->ask<Lock>([&](Client& of, Client::Callback<Lock> done) {
      of.acquire(name, wanted, std::move(done));
    });
    if (!got) return tell(error, got.error());
    made->lock = std::move(got).value();
    *lock = made.release();
    return tell_success(error);
  });
}

redlock_code redlock_of(redlock_client* client, const char* name, const char* value, int64_t ttl_ms,
                        redlock_lock** lock, redlock_error* error) {
  return run_for_c(error, [&] {
    if (lock == nullptr) return tell(error, invalid_argument("there is no place for the lock"));
    *lock = nullptr;
    if (client == nullptr) return tell(error, invalid_argument("there is no client"));
    if (name == nullptr || *name == '\0') {
      return tell(error, invalid_argument("the lock has no name"));
    }
    if (value == nullptr || *value == '\0') {
      return tell(error, invalid_argument("the lock has no value"));
    }
    auto made = std::make_unique<redlock_lock>(client->home);
    made->lock.name = name;
    made->lock.value = value;
    if (ttl_ms != 0) made->lock.ttl = from_milliseconds(ttl_ms);
    *lock = made.release();
    return tell_success(error);
  });
}

const char* redlock_name(const redlock_lock* lock) {
  return lock != nullptr ? lock->lock.name.c_str() : "";
}

const char* redlock_value(const redlock_lock* lock) {
  return lock != nullptr ? lock->lock.value.c_str() : "";
}

uint64_t redlock_token(const redlock_lock* lock) {
  return lock != nullptr ? lock->lock.token : 0;
}

bool redlock_valid(const redlock_lock* lock) {
  return lock != nullptr &&
         look_for_c(false, [&] { return validity_left(*lock) > Duration::zero(); });
}

int64_t redlock_validity_left_ms(const redlock_lock* lock) {
  if (lock == nullptr) return 0;
  return look_for_c(std::int64_t(0), [&] { return floor_ms(validity_left(*lock)); });
}

redlock_code redlock_extend(redlock_lock* lock, redlock_error* error) {
  return run_for_c(error, [&] {
    if (lock == nullptr) return tell(error, invalid_argument("there is no lock"));
    const auto known = extendable(*lock);
    if (!known) return tell(error, known.error());
    const auto extended = lock->home->ask<Lock>(
        [&](Client& of, Client::Callback<Lock> done) { of.extend(*known, std::move(done)); });
    if (!extended) return tell(error, extended.error());
    const std::lock_guard locked(lock->mutex);
    lock->lock.valid_until = extended->valid_until;
    return tell_success(error);
  });
}

redlock_code redlock_keep(redlock_lock* lock, const redlock_keep_options* options,
                          redlock_error* error) {
  return run_for_c(error, [&] {
    if (lock == nullptr) return tell(error, invalid_argument("there is no lock"));
    const auto known = extendable(*lock);
    if (!known) return tell(error, known.error());
    const redlock_keep_options defaults{};
    const auto keeping = std::make_shared<std::mutex>();
    const std::lock_guard until_kept(*keeping);
    const GuardOptions wanted =
        guard_options(*lock, options != nullptr ? *options : defaults, keeping);
    auto kept = lock->home->ask<Guard>([&](Client& of, Client::Callback<Guard> done) {
      of.keep(*known, wanted, std::move(done));
    });
    if (!kept) return tell(error, kept.error());
    const std::lock_guard locked(lock->mutex);
    lock->guard = std::move(kept).value();
    lock->lock.ttl = wanted.ttl;
    lock->hold = Hold::kept;
    return tell_success(error);
  });
}

redlock_code redlock_release(redlock_lock* lock, redlock_error* error) {
  return run_for_c(error, [&] {
    if (lock == nullptr) return tell(error, invalid_argument("there is no lock"));
    const auto released = release(*lock);
    return released ? tell_success(error) : tell(error, released.error());
  });
}

void redlock_abandon(redlock_lock* lock) {
  if (lock == nullptr || lock->home->is_in_child()) return;
  run_for_c(nullptr, [&] {
    Guard guard;
    const std::lock_guard locked(lock->mutex);
    guard = std::move(lock->guard);
    lock->hold = Hold::nothing;
    guard.abandon();
    return REDLOCK_OK;
  });
}

// In a forked child its memory stays, as that of its client does.
void redlock_free(redlock_lock* lock) {
  if (lock != nullptr && !lock->home->is_in_child()) delete lock;
}
