// Mutex: a lock of the group that looks like std::timed_mutex.
//
//   redlock::Mutex printer(client, "printer", {.ttl = 10s});
//   std::unique_lock held(printer, 5s);
//   if (held && printer.valid()) …
//
// Meets Lockable and TimedLockable, so std::lock_guard, std::unique_lock and std::scoped_lock work.
// One object may be shared by the threads of a process, which then take turns, or each thread may
// have its own; other processes and machines contend by the name.
//
// Unlike a std::mutex a distributed lock can be lost while it is held (the nodes or the network
// fail). Then valid() is false and on_loss was called, before another can get it; whoever must know
// asks. As a standard mutex: the thread that locked it unlocks it, and locking it twice is a
// deadlock. Must not outlive its client. No call may come from the client's callbacks: they block.
// Why a lock() waits, the options' on_wait tells, and the client's log;
// why a try failed, Client::guard.
#pragma once

#include <redlock/client.h>
#include <redlock/guard.h>
#include <redlock/visibility.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>

namespace redlock {

class REDLOCK_PUBLIC Mutex {
 public:
  // The options' `wait` is not used. REQUIRES: a client of Client::start, and a name and options
  // that Client::guard accepts; any other ends the process at the first use, with the reason. So
  // does a group of which no quorum gives fencing tokens, unless the options say fence = false;
  // after the first use that is an outage like others, and waited through.
  Mutex(Client& client, std::string name, GuardOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Blocks until it is held, also through times without a quorum, of which the options' on_wait
  // tells. To give up: try_lock_for.
  void lock() { static_cast<void>(lock(std::stop_token())); }
  // The same, but false once a stop is requested.
  bool lock(const std::stop_token& stop);
  // One attempt, or none if another thread has it: as long as the nodes take to answer.
  bool try_lock();
  // False once the time is over, or a stop is requested.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& wait,
                    const std::stop_token& stop = {}) {
    return try_lock_within(saturated(wait), stop);
  }
  template <class Clock, class Length>
  bool try_lock_until(const std::chrono::time_point<Clock, Length>& when,
                      const std::stop_token& stop = {}) {
    return try_lock_for(Wide(when.time_since_epoch()) - Wide(Clock::now().time_since_epoch()),
                        stop);
  }
  // Released in the background, without waiting. REQUIRES: locked by this thread.
  void unlock();

  // Whether it may be relied on at this moment: Guard::valid. Does not block. REQUIRES: locked by
  // this thread.
  bool valid() const { return guard_.valid(); }
  // The fencing token of the lock; 0 with fence = false. REQUIRES: locked by this thread.
  std::uint64_t token() const { return guard_.lock().token; }

 private:
  // Has room for the differences of all instants and durations, to the nanosecond.
  using Wide = std::chrono::duration<long double, std::nano>;
  // min() is no wait, max() one for ever.
  static std::chrono::nanoseconds saturated(Wide wait) {
    if (!(wait > Wide(0))) return std::chrono::nanoseconds(0);
    if (wait >= Wide(std::chrono::nanoseconds::max())) return std::chrono::nanoseconds::max();
    return std::chrono::ceil<std::chrono::nanoseconds>(wait);
  }
  bool try_lock_within(std::chrono::nanoseconds wait, const std::stop_token& stop);
  void take_over(Guard guard);
  void require_valid_use(const Error& error) const;
  bool take_turn(std::chrono::steady_clock::time_point until, const std::stop_token& stop);
  void end_turn();

  Client& client_;
  const std::string name_;
  const GuardOptions options_;
  // One thread at a time has the lock, or tries to get it.
  std::mutex mutex_;
  std::condition_variable_any turn_ended_;
  bool taken_ = false;
  bool was_locked_ = false;  // once at least; read and set by whose turn it is
  Guard guard_;
};

}  // namespace redlock
