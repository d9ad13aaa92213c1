// Guard's inside: one lock that is kept, on the client's loop, and what other threads may ask of
// it.
#pragma once

#include "base/net/timer.h"
#include "coordinator/client_core.h"
#include "coordinator/keeper.h"
#include <redlock/guard.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace redlock {

class Guard::Keeping : public std::enable_shared_from_this<Guard::Keeping> {
 public:
  using OnLoss = std::function<void(const Error&)>;
  using OnExtended = std::function<void(Duration)>;

  Keeping(Client::Core& core, coordinator::HeldLock lock, Duration notice,
          const GuardOptions& options);

  // Any thread.
  Duration left() const;
  Lock lock() const;
  // The lock is not relied on from here on. Without blocking; when the client has ended the
  // callback comes at once, with ErrorCode::stopped.
  void let_go(const Client::Callback<Done>& done);
  // The same, blocking.
  Result<Done, Error> let_go();
  // Without a release, so that the lock runs out by itself.
  void abandon();

  // The loop's thread.
  void begin();
  // The client ends: releases the lock, tells nobody.
  void end();

 private:
  void look();
  void extend();
  void lose();
  void stop_keeping();
  Client::Core& leave();
  void take_over_validity();
  bool is_loop_thread() const {
    return !has_own_thread_ || loop_thread_ == std::this_thread::get_id();
  }

  Client::Core* core_;  // nullptr once the client has ended, or the lock was let go
  const bool has_own_thread_;
  const std::thread::id loop_thread_;
  const std::shared_ptr<net::Mailbox> mailbox_;

  // What other threads read: the instant from which on it counts as lost, on CLOCK_BOOTTIME.
  std::atomic<Duration::rep> lost_at_;
  mutable std::mutex mutex_;  // over lock_
  coordinator::HeldLock lock_;

  coordinator::Keeper keeper_;
  OnLoss on_loss_;
  OnExtended on_extended_;
  std::optional<net::Timer> timer_;
  coordinator::OperationId extension_ = coordinator::kNobody;
};

}  // namespace redlock
