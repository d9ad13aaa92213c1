#include "base/invariant.h"
#include "base/text/printable.h"
#include "coordinator/client/guard_keeping.h"
#include "coordinator/results/errors.h"
#include <redlock/guard.h>

#include <limits>

#include <fmt/format.h>

namespace redlock {

using coordinator::holder_now;

namespace {

constexpr Duration::rep kLostAlready = std::numeric_limits<Duration::rep>::min();

}  // namespace

Guard::Keeping::Keeping(Client::Core& core, coordinator::HeldLock lock, Duration notice,
                        const GuardOptions& options)
    : core_(&core),
      has_own_thread_(core.has_own_thread()),
      loop_thread_(std::this_thread::get_id()),
      mailbox_(core.mailbox()),
      lock_(std::move(lock)),
      keeper_({.ttl = lock_.ttl, .notice = notice}, lock_.valid_until,
              coordinator::read_holder_clocks()),
      on_loss_(options.on_loss),
      on_extended_(options.on_extended) {
  lost_at_ = keeper_.lost_at().time_since_epoch().count();
  valid_until_ = lock_.valid_until.time_since_epoch().count();
}

// Not the loop's word alone: whatever keeps its thread from running, the time is up all the same.
// Whoever sees that decides it for all: an extension that was late does not make it valid again.
Duration Guard::Keeping::left() {
  if (is_in_child()) return Duration::zero();
  const Instant now = holder_now();
  for (Duration::rep lost_at = lost_at_; lost_at != kLostAlready;) {
    const Instant end{Duration(lost_at)};
    if (end > now) return end - now;
    if (!lost_at_.compare_exchange_weak(lost_at, kLostAlready)) continue;
    mailbox_->post([self = shared_from_this()] {
      self->keeper_.on_loss_seen();
      if (self->core_ != nullptr) self->lose();
    });
  }
  return Duration::zero();
}

// In a forked child too, where the thread that would have held a mutex is gone.
Lock Guard::Keeping::lock() const {
  return {.name = lock_.claim->name,
          .value = lock_.claim->value,
          .ttl = lock_.ttl,
          .valid_until = Duration(valid_until_.load()),
          .token = lock_.token,
          .round_trips = lock_.round_trips};
}

Guard Guard::Keeping::begin(Client::Core& core, const coordinator::HeldLock& lock, Duration notice,
                            const GuardOptions& options) {
  auto keeping = std::make_shared<Keeping>(core, lock, notice, options);
  keeping->begin();
  return Guard(std::move(keeping));
}

void Guard::Keeping::begin() {
  core_->add(shared_from_this());
  // What it calls may let go of the guard, and end the client: `self` keeps this object.
  alarm_.emplace(core_->alarms(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
  alarm_->set(keeper_.next_deadline());
}

void Guard::Keeping::look() {
  keeper_.on_time(coordinator::read_holder_clocks());
  if (keeper_.loss()) return lose();
  if (keeper_.wants_extension()) extend();
  alarm_->set(keeper_.next_deadline());
}

void Guard::Keeping::extend() {
  keeper_.begin_extension(holder_now());
  const auto on_end = [this, self = shared_from_this()](const coordinator::ExtendResult& result) {
    extension_ = coordinator::kNobody;
    keeper_.on_extended(result, holder_now());
    take_over_validity();
    if (core_ != nullptr) look();
  };
  extension_ = core_->extend(lock_, on_end);
}

void Guard::Keeping::take_over_validity() {
  const bool is_longer = keeper_.valid_until() > lock_.valid_until;
  lock_.valid_until = keeper_.valid_until();
  valid_until_ = lock_.valid_until.time_since_epoch().count();
  if (is_longer && on_extended_ && !is_let_go_)
    on_extended_(keeper_.valid_until().time_since_epoch());
  // A lock that was lost, or let go meanwhile by another thread, stays so.
  const Duration::rep lost_at = keeper_.lost_at().time_since_epoch().count();
  Duration::rep before = lost_at_.load();
  while (before != kLostAlready && !lost_at_.compare_exchange_weak(before, lost_at)) {
  }
}

void Guard::Keeping::lose() {
  lost_at_ = kLostAlready;
  stop_keeping();
  const Error why = {
      ErrorCode::lost, fmt::format("the lock was lost: {}", *keeper_.loss()),
      coordinator::node_answers(core_->names(), keeper_.last_failure(), coordinator::kExtendWords)};
  const OnLoss on_loss = std::exchange(on_loss_, {});
  if (is_let_go_) return;  // by a thread whose word for it has yet to come
  core_->report().on_loss();
  core_->say(Severity::warning, fmt::format("{}: {}", printable(lock_.claim->name), why.text));
  lost_.request_stop();  // what that calls may let go of the guard, and end the client
  if (on_loss && core_ != nullptr) on_loss(why);
}

void Guard::Keeping::stop_keeping() {
  alarm_->set(std::nullopt);
  if (extension_ != coordinator::kNobody) core_->group().cancel(extension_, holder_now());
  extension_ = coordinator::kNobody;
}

// The loop's thread alone. The client's core, once this object has left it.
Client::Core& Guard::Keeping::leave() {
  Client::Core& core = *core_;
  stop_keeping();
  core_ = nullptr;
  alarm_.reset();
  core.remove(shared_from_this());
  return core;
}

// `leave` keeps the object until it has run. Where the client has ended it stays ours: nothing is
// left to be done but to tell so.
void Guard::Keeping::let_go(std::shared_ptr<Keeping> keeping, net::Mailbox::Task leave) {
  keeping->is_let_go_ = true;
  keeping->lost_at_ = kLostAlready;
  const bool is_here = keeping->is_loop_thread();  // before what this thread asks for next
  const std::shared_ptr<net::Mailbox> mailbox = keeping->mailbox_;
  keeping.reset();
  if (is_here || !mailbox->post(std::move(leave))) leave();
}

void Guard::Keeping::abandon(std::shared_ptr<Keeping> keeping) {
  auto leave = [self = keeping] {
    if (self->core_ != nullptr) self->leave();
  };
  let_go(std::move(keeping), net::Mailbox::Task(std::move(leave)));
}

void Guard::Keeping::let_go(std::shared_ptr<Keeping> keeping, Client::Callback<Done> done) {
  auto release = [self = keeping, done = std::move(done)]() mutable {
    if (self->core_ != nullptr) {
      self->leave().release(self->lock_, std::move(done));
    } else if (done) {
      done(stopped_error());
    }
  };
  let_go(std::move(keeping), net::Mailbox::Task(std::move(release)));
}

void Guard::Keeping::end() {
  has_ended_ = true;
  lost_at_ = kLostAlready;
  stop_keeping();
  alarm_.reset();
  core_->group().release(lock_, holder_now(), [](const coordinator::ReleaseResult&) {});
  core_ = nullptr;
}

Guard::Guard(std::shared_ptr<Keeping> keeping) : keeping_(std::move(keeping)) {}
Guard::Guard(Guard&&) noexcept = default;

Guard& Guard::operator=(Guard&& other) noexcept {
  if (this == &other) return *this;
  drop();
  keeping_ = std::move(other.keeping_);
  return *this;
}

Guard::~Guard() {
  drop();
}

// In a forked child it is the parent's lock: nothing of it is touched, and its memory stays.
void Guard::drop() {
  if (!keeping_) return;
  if (keeping_->is_in_child()) {
    net::leave_alone(std::exchange(keeping_, nullptr));
  } else {
    Keeping::let_go(std::exchange(keeping_, nullptr), Client::Callback<Done>());
  }
}

bool Guard::valid() const {
  return validity_left() > Duration::zero();
}

Duration Guard::validity_left() const {
  return keeping_ ? keeping_->left() : Duration::zero();
}

Lock Guard::lock() const {
  INVARIANT(keeping_ != nullptr, "a guard that holds nothing was asked for its lock");
  return keeping_->lock();
}

std::stop_token Guard::lost() const {
  INVARIANT(keeping_ != nullptr, "a guard that holds nothing was asked for its loss");
  return keeping_->lost();
}

Result<Done, Error> Guard::release() {
  if (!keeping_) return Error{ErrorCode::not_held, "the guard holds nothing", {}};
  if (keeping_->is_in_child()) return forked_error();
  if (!keeping_->may_wait()) return wrong_thread_error();
  return wait_for<Done>([this](Client::Callback<Done> done) {
    Keeping::let_go(std::exchange(keeping_, nullptr), std::move(done));
  });
}

void Guard::release(Client::Callback<Done> done) {
  if (!keeping_) {
    if (done) done(Error{ErrorCode::not_held, "the guard holds nothing", {}});
    return;
  }
  if (keeping_->is_in_child()) return;
  Keeping::let_go(std::exchange(keeping_, nullptr), std::move(done));
}

void Guard::abandon() {
  if (!keeping_ || keeping_->is_in_child()) return;
  Keeping::abandon(std::exchange(keeping_, nullptr));
}

Lock Guard::detach() {
  Lock detached = lock();
  abandon();
  return detached;
}

}  // namespace redlock
