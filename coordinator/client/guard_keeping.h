// Guard's inside: one lock that is kept, on the client's loop,
// and what other threads may ask of it.
#pragma once

#include "base/hidden.h"
#include "base/net/turn/alarms.h"
#include "coordinator/client/client_core.h"
#include "coordinator/group/keeper.h"
#include <redlock/guard.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

namespace redlock {

class REDLOCK_HIDDEN Guard::Keeping : public std::enable_shared_from_this<Guard::Keeping> {
 public:
  using OnLoss = std::function<void(const Error&)>;
  using OnExtended = std::function<void(Duration)>;

  Keeping(Client::Core& core, coordinator::HeldLock lock, Duration notice,
          const GuardOptions& options);

  // Any thread, also in a forked child, where nothing is left.
  Duration left();
  Lock lock() const;
  std::stop_token lost() const { return lost_.get_token(); }
  bool is_in_child() const { return mark_.is_in_child(); }
  // The loop's thread would wait for itself.
  bool may_wait() const { return has_ended_ || !is_loop_thread(); }
  // The lock is not relied on from here on. Without blocking; when the client has ended the
  // callback comes at once, with ErrorCode::stopped. The object goes over to the client's thread,
  // and ends there.
  static void let_go(std::shared_ptr<Keeping> keeping, Client::Callback<Done> done);
  // Without a release, so that the lock runs out by itself.
  static void abandon(std::shared_ptr<Keeping> keeping);

  // The loop's thread. Keeps it from here on.
  static Guard begin(Client::Core& core, const coordinator::HeldLock& lock, Duration notice,
                     const GuardOptions& options);
  // The client ends: releases the lock, tells nobody.
  void end();

 private:
  void begin();
  void look();
  void extend();
  void lose();
  void stop_keeping();
  Client::Core& leave();
  void take_over_validity();
  static void let_go(std::shared_ptr<Keeping> keeping, net::Mailbox::Task leave);
  bool is_loop_thread() const {
    return !has_own_thread_ || loop_thread_ == std::this_thread::get_id();
  }

  Client::Core* core_;  // nullptr once the client has ended, or the lock was let go
  const net::ForkMark mark_;
  const bool has_own_thread_;
  const std::thread::id loop_thread_;
  const std::shared_ptr<net::Mailbox> mailbox_;

  // What other threads read, on CLOCK_BOOTTIME: from when on it counts as lost. Once one of them
  // has seen that instant pass it is kLostAlready, and stays so.
  std::atomic<Duration::rep> lost_at_;
  std::atomic<Duration::rep> valid_until_;
  std::atomic<bool> is_let_go_ = false;  // nobody is told of it any more
  std::atomic<bool> has_ended_ = false;  // the client
  coordinator::HeldLock lock_;  // written before other threads know of it; valid_until_ is newer

  coordinator::Keeper keeper_;
  std::stop_source lost_;
  OnLoss on_loss_;
  OnExtended on_extended_;
  std::optional<net::Alarms::Alarm> alarm_;
  coordinator::OperationId extension_ = coordinator::kNobody;
};

}  // namespace redlock
