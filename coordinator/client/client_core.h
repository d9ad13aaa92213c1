// Client's inside: the loop, the Group on it, and what is under way. The open connections keep the
// loop running.
//
// All but post(), begin() and wait() belongs to the loop's thread. On a thread of our own the calls
// of other threads reach it through the mailbox; on a caller's loop they are on its thread already.
#pragma once

#include "base/hidden.h"
#include "base/net/process/forks.h"
#include "base/net/turn/alarms.h"
#include "base/net/turn/before_wait.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/mailbox.h"
#include "coordinator/client/group_sockets.h"
#include "coordinator/client/holder.h"
#include "coordinator/client/parsed_options.h"
#include "coordinator/results/client_report.h"
#include <redlock/client.h>
#include <redlock/guard.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace redlock {

// More at once are refused with ErrorCode::overloaded, but for releases: far more than nodes answer
// within a node timeout.
inline constexpr std::size_t kOperationsMax = std::size_t(1) << 17;

Error stopped_error();
Error wrong_thread_error();
Error overloaded_error();
// In a process that was forked from the one that the client belongs to.
Error forked_error();

// One call that blocks its thread, and what is told to it on another.
//
// The callback is waited for until it is gone, not until it is called: so this object ends on the
// thread that made it, which needs no count of owners, and whoever waits for a callback that nobody
// calls goes on as well.
template <class T>
class Waiting {
 public:
  Client::Callback<T> callback() {
    return [end = End(this)](Result<T, Error> result) { end.of->outcome_ = std::move(result); };
  }
  Result<T, Error> wait() {
    std::unique_lock lock(mutex_);
    gone_.wait(lock, [this] { return is_gone_; });
    return outcome_ ? std::move(*outcome_) : Result<T, Error>(stopped_error());
  }

 private:
  // Its end is the callback's.
  struct End {
    explicit End(Waiting* waiting) : of(waiting) {}
    End(End&& other) noexcept : of(std::exchange(other.of, nullptr)) {}
    ~End() {
      if (of != nullptr) of->on_gone();
    }
    Waiting* of;
  };

  void on_gone() {
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    gone_.notify_one();  // under the mutex: this object is there until it is let go
  }

  std::mutex mutex_;
  std::condition_variable gone_;
  bool is_gone_ = false;
  std::optional<Result<T, Error>> outcome_;  // written before it is gone
};

// Blocks until the callback that it hands to `begin` was called, on another thread.
template <class T, class Begin>
Result<T, Error> wait_for(Begin begin) {
  Waiting<T> waiting;
  begin(waiting.callback());
  return waiting.wait();
}

class REDLOCK_HIDDEN Client::Core {
 public:
  // How the outcome of an operation is told inside: once, and never from inside what begins it.
  template <class T>
  class Tell {
   public:
    Tell(Core& core, Operation operation) : core_(&core), operation_(operation) {}
    void operator()(Result<T, Error> outcome) const {
      core_->end_operation<T>(operation_, outcome);
    }
    Core& core() const { return *core_; }

   private:
    Core* core_;
    Operation operation_;
  };
  // See AcquireOptions::on_wait.
  struct OnWait {
    std::function<void(const Error&)> tell;
    bool tells_every_attempt = false;
  };

  // caller_loop: nullptr for a thread of our own. Begins to dial. Fails with ErrorCode::system.
  static Result<std::shared_ptr<Core>, Error> make(uv_loop_s* caller_loop, ParsedOptions options);
  // What a client takes of the system, beside its thread and its connections.
  struct Means {
    std::unique_ptr<net::Loop> loop;
    std::unique_ptr<net::TimerDescriptor> alarms;
    std::unique_ptr<net::TimerDescriptor> group;
    std::shared_ptr<net::Mailbox> mailbox;
  };
  Core(Means means, bool has_own_thread, ParsedOptions options);
  // REQUIRES: end() was called.
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Ends the client that owns it. In a forked child nothing but memory is given up, and not even
  // that given back: loop and sockets are the parent's.
  static void end(const std::shared_ptr<Core>& core);
  bool is_in_child() const { return mark_.is_in_child(); }

  // Runs it on the loop's thread; at once if this is it, so that what a task begins does not fall
  // behind what others have posted meanwhile: a release before the next acquisition, say.
  template <class Task>
  void post(Task task) {
    if (is_loop_thread()) return task();
    mailbox_->post(std::move(task));
  }
  // The same, but never from inside this call. REQUIRES: on the loop's thread.
  void defer(net::Mailbox::Task task) {
    if (is_at_end_) return last_tasks_.push_back(std::move(task));
    mailbox_->post(std::move(task));
  }

  class Wait;
  // How an operation that has begun ends without its outcome.
  struct Undo {
    coordinator::OperationId operation = coordinator::kNobody;  // that is cancelled
    std::shared_ptr<Wait> wait = {};       // whose news nobody is told any more
    std::function<void()> otherwise = {};  // instead: of what is several operations
  };
  void carry_out(const Undo& undo);
  // Begins an operation: `start` gets a Tell<T>, and returns the operation's id among the nodes, or
  // how it is undone.
  template <class T, class Start>
  Operation begin(Callback<T> done, Start start, std::stop_token stop = {});
  // The operation's callback comes with this error, and nothing was begun.
  template <class T>
  Operation refuse(Callback<T> done, Error error);
  // The blocking form: begin(callback) begins it.
  template <class T, class Begin>
  Result<T, Error> wait(Begin begin) {
    if (is_in_child()) return forked_error();
    if (!may_block()) return wrong_thread_error();
    return wait_for<T>(std::move(begin));
  }
  Operation release(coordinator::HeldLock lock, Callback<Done> done);
  void cancel(Operation operation);

  // Steps of operations, on the loop's thread, counted in the figures. Of an acquisition on_wait
  // and the log hear why it waits, until it is told of or undone.
  Undo acquire(coordinator::AcquireRequest request, OnWait on_wait,
               std::function<void(const coordinator::AcquireResult&)> on_end);
  coordinator::OperationId extend(const coordinator::HeldLock& lock,
                                  std::function<void(const coordinator::ExtendResult&)> on_end);

  void finish(MoveOnlyFunction<void()> done);

  // A line for the client's log; on the loop's thread. Said later, not from inside this call.
  void say(Severity severity, std::string line);
  coordinator::ClientReport& report() { return report_; }
  Figures figures() const { return report_.figures(); }

  // Guards that hold a lock; they are let go when the client ends.
  void add(std::shared_ptr<Guard::Keeping> keeping) { keepings_.insert(std::move(keeping)); }
  void remove(const std::shared_ptr<Guard::Keeping>& keeping) { keepings_.erase(keeping); }

  net::Alarms& alarms() { return alarms_; }
  coordinator::Group& group() { return sockets_.group(); }
  const std::vector<coordinator::Group::Node>& names() const { return sockets_.group().nodes(); }
  const std::shared_ptr<net::Mailbox>& mailbox() const { return mailbox_; }
  bool has_own_thread() const { return has_own_thread_; }
  bool is_loop_thread() const {
    return !has_own_thread_ || thread_.get_id() == std::this_thread::get_id();
  }
  bool may_block() const { return !is_loop_thread(); }

 private:
  // An operation that has begun, and whom it is told to: one record, as each lock pays for it.
  struct Pending {
    virtual ~Pending() = default;
    virtual void fail(const Error& error) = 0;
    Undo undo;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };
  template <class T>
  struct PendingCall : Pending {
    explicit PendingCall(Callback<T> whom) : done(std::move(whom)) {}
    void fail(const Error& error) override { tell(Error(error)); }
    void tell(Result<T, Error>&& outcome) {
      if (done) done(std::move(outcome));
    }
    Callback<T> done;  // empty: nobody is told
  };
  struct Finish {
    Instant deadline;
    MoveOnlyFunction<void()> done;
  };

  static Undo undo_of(coordinator::OperationId operation) { return {.operation = operation}; }
  static Undo undo_of(Undo undo) { return undo; }
  template <class T>
  void end_operation(Operation operation, Result<T, Error>& outcome);
  static Result<Means, Error> find_means(uv_loop_s* caller_loop);
  void end();
  void end_at_once();
  void stop_everything();
  void run_last_tasks();
  bool cancel_begun(Operation operation);
  void end_turn();
  void look_who_finished();

  const net::ForkMark mark_;
  const bool has_own_thread_;
  const std::unique_ptr<net::Loop> loop_;
  const std::function<void(Severity, std::string_view)> log_;
  coordinator::ClientReport report_;
  net::Alarms alarms_;
  coordinator::GroupSockets sockets_;
  std::shared_ptr<net::Mailbox> mailbox_;  // shared with the guards, which may outlive us
  std::atomic<Operation> last_operation_ = 0;
  std::unordered_map<Operation, std::shared_ptr<Pending>> pending_;
  // Guard::Keeping is not known here to be hidden; this is, and with it the set made of both.
  struct KeepingHash : std::hash<std::shared_ptr<Guard::Keeping>> {};
  std::unordered_set<std::shared_ptr<Guard::Keeping>, KeepingHash> keepings_;
  std::vector<Finish> finishes_;
  net::Alarms::Alarm finish_alarm_;
  net::BeforeWait turn_;
  bool stopping_ = false;
  bool is_at_end_ = false;  // nothing is posted any more
  std::vector<net::Mailbox::Task> last_tasks_;
  std::size_t last_tasks_run_ = 0;
  std::thread thread_;
};

template <class T, class Start>
Client::Operation Client::Core::begin(Callback<T> done, Start start, std::stop_token stop) {
  // What is told no more than Done lets a lock go, or waits: refused, the lock would stay.
  constexpr bool takes_nothing_on = std::is_same_v<T, Done>;
  if (is_in_child()) return 0;  // there is nobody to tell
  const Operation id = ++last_operation_;
  post([this, id, start = std::move(start), done = std::move(done),
        stop = std::move(stop)]() mutable {
    const auto call = std::make_shared<PendingCall<T>>(std::move(done));
    // Later, not now: this may be the callback of one that was stopped, which tries again.
    if (stopping_) return defer([call] { call->fail(stopped_error()); });
    if (pending_.size() >= kOperationsMax && !takes_nothing_on)
      return defer([call] { call->fail(overloaded_error()); });
    pending_.emplace(id, call);
    call->undo = undo_of(start(Tell<T>(*this, id)));
    // Requested before: the operation is cancelled from in here.
    if (stop.stop_possible()) call->on_stop.emplace(std::move(stop), [this, id] { cancel(id); });
  });
  return id;
}

template <class T>
void Client::Core::end_operation(Operation operation, Result<T, Error>& outcome) {
  const auto ended = pending_.extract(operation);
  if (ended.empty()) return;  // it was cancelled, and told so
  ended.mapped()->on_stop.reset();
  static_cast<PendingCall<T>&>(*ended.mapped()).tell(std::move(outcome));
}

template <class T>
Client::Operation Client::Core::refuse(Callback<T> done, Error error) {
  if (is_in_child()) return 0;
  const auto call = std::make_shared<PendingCall<T>>(std::move(done));
  post([this, call, error = std::move(error)] { defer([call, error] { call->fail(error); }); });
  return ++last_operation_;
}

}  // namespace redlock
