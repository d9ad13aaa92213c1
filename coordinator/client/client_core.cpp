#include "coordinator/client/client_core.h"

#include "base/net/process/spare_descriptors.h"
#include "base/net/turn/quiet_thread.h"
#include "coordinator/client/client_wait.h"
#include "coordinator/client/guard_keeping.h"
#include "coordinator/results/translate.h"

#include <fmt/format.h>

namespace redlock {

using coordinator::holder_now;

namespace {

// A loop's, two timers', and some for what is opened for a moment.
constexpr int kDescriptors = 12;
// So often in a row a callback is told that the client has ended, and begins another operation:
// each time that its last tasks are run, which is three times at most.
constexpr int kLastRounds = 1000;
// And of all callbacks together so many: half a second's work.
constexpr std::size_t kLastTasksMax = std::size_t(1) << 18;

Error system_error(const Failure& failure) {
  return {ErrorCode::system, failure.text, {}};
}

}  // namespace

Error stopped_error() {
  return {ErrorCode::stopped, "the client has ended", {}};
}

Error wrong_thread_error() {
  return {
      ErrorCode::wrong_thread,
      "a blocking call on the thread that would have to do the work: use the one with a callback",
      {}};
}

Error overloaded_error() {
  return {
      ErrorCode::overloaded, fmt::format("more than {} operations at once", kOperationsMax), {}};
}

Error forked_error() {
  return {ErrorCode::stopped,
          "the client belongs to the process that this one was forked from: start one here",
          {}};
}

// On a caller's loop what was had before a failure is given back in that loop's next turn.
Result<Client::Core::Means, Error> Client::Core::find_means(uv_loop_s* caller_loop) {
  Means means;
  if (caller_loop != nullptr) {
    means.loop = std::make_unique<net::Loop>(caller_loop);
  } else {
    auto loop = net::Loop::make();
    if (!loop) return system_error(loop.error());
    means.loop = std::move(loop).value();
  }
  for (auto* timer : {&means.alarms, &means.group}) {
    auto descriptor = net::TimerDescriptor::open(*means.loop, net::ClockKind::boottime);
    if (!descriptor) return system_error(descriptor.error());
    *timer = std::move(descriptor).value();
  }
  auto mailbox = net::Mailbox::make(*means.loop);
  if (!mailbox) return system_error(mailbox.error());
  means.mailbox = std::move(mailbox).value();
  return means;
}

Result<std::shared_ptr<Client::Core>, Error> Client::Core::make(uv_loop_s* caller_loop,
                                                                ParsedOptions options) {
  const int sockets = static_cast<int>(options.places.size());
  if (Status room = net::try_descriptors(kDescriptors + sockets, "a client"); !room) {
    return system_error(room.error());
  }
  // There is room; but other threads take of it, too.
  auto means = find_means(caller_loop);
  if (!means) return means.error();
  const bool has_own_thread = caller_loop == nullptr;
  const auto core =
      std::make_shared<Core>(std::move(means).value(), has_own_thread, std::move(options));
  if (!has_own_thread) return core;
  // Kept by its thread: a callback may destroy the client, and return.
  auto thread = net::start_quiet_thread([core] {
    core->loop_->run();
    core->run_last_tasks();  // what stood in the mailbox behind a task that ended the client
  });
  if (!thread) {
    core->end_at_once();
    return system_error(thread.error());
  }
  core->thread_ = std::move(thread).value();
  return core;
}

Client::Core::Core(Means means, bool has_own_thread, ParsedOptions options)
    : has_own_thread_(has_own_thread),
      loop_(std::move(means.loop)),
      log_(std::move(options.log)),
      report_(options.group.nodes),
      alarms_(*loop_, std::move(means.alarms)),
      sockets_(*loop_, std::move(means.group), std::move(options.group), options.places,
               std::move(options.tls)),
      mailbox_(std::move(means.mailbox)),
      finish_alarm_(alarms_, [] {}),
      turn_(*loop_, [this] { end_turn(); }) {}

Client::Core::~Core() = default;

void Client::Core::end(const std::shared_ptr<Core>& core) {
  if (core->is_in_child()) {
    net::leave_alone(core);
  } else {
    core->end();
    if (core->has_own_thread_) return;
    // This may be its callback, and tasks may stand behind it in the mailbox.
    core->loop_->keep_for_a_turn({nullptr, [core](void*) { core->run_last_tasks(); }});
  }
}

void Client::Core::end() {
  if (!has_own_thread_) return end_at_once();
  if (is_loop_thread()) {  // from a callback, or exit() in one: the loop ends when that returns
    end_at_once();
    loop_->stop();
    return thread_.detach();
  }
  mailbox_->post([this] {
    stop_everything();
    finish([this] {
      run_last_tasks();
      loop_->stop();
    });
  });
  thread_.join();
}

// What can be sent without waiting is sent.
void Client::Core::end_at_once() {
  stop_everything();
  sockets_.flush();
  run_last_tasks();
}

// Each callback comes, also of what a callback has begun: it is told that the client has ended. One
// that tries again whatever it is told would keep the client from ending.
void Client::Core::run_last_tasks() {
  is_at_end_ = true;
  for (Finish& finish : std::exchange(finishes_, {})) finish.done();
  for (net::Mailbox::Task& task : mailbox_->close()) last_tasks_.push_back(std::move(task));
  for (int round = 0; round < kLastRounds && !last_tasks_.empty(); ++round) {
    std::vector<net::Mailbox::Task> tasks = std::exchange(last_tasks_, {});
    for (net::Mailbox::Task& task : tasks) {
      if (++last_tasks_run_ > kLastTasksMax) return last_tasks_.clear();
      std::exchange(task, nullptr)();
    }
  }
}

// Undos and releases are on their way after it.
void Client::Core::stop_everything() {
  stopping_ = true;
  for (const auto& keeping : std::exchange(keepings_, {})) keeping->end();
  for (const auto& [operation, pending] : std::exchange(pending_, {})) {
    carry_out(pending->undo);
    pending->on_stop.reset();
    pending->fail(stopped_error());
  }
}

// On the loop's thread it may come before the operation, which another thread has posted.
void Client::Core::cancel(Operation operation) {
  if (is_in_child()) return;
  post([this, operation] {
    if (!cancel_begun(operation)) defer([this, operation] { cancel_begun(operation); });
  });
}

// False: it has not begun yet, or is over.
bool Client::Core::cancel_begun(Operation operation) {
  const auto found = pending_.find(operation);
  if (found == pending_.end()) return false;
  const std::shared_ptr<Pending> pending = std::move(found->second);
  pending_.erase(found);
  carry_out(pending->undo);
  // What asked for it may be the stop that it waits for: that is let go later, too.
  defer([pending] {
    pending->on_stop.reset();
    pending->fail({ErrorCode::stopped, "cancelled", {}});
  });
  return true;
}

void Client::Core::carry_out(const Undo& undo) {
  if (undo.otherwise) return undo.otherwise();
  if (undo.wait) undo.wait->end();
  group().cancel(undo.operation, holder_now());
}

Client::Operation Client::Core::release(coordinator::HeldLock lock, Callback<Done> done) {
  return begin<Done>(std::move(done), [this, lock = std::move(lock)](const Tell<Done>& tell) {
    const Instant asked = holder_now();
    const auto on_end = [this, tell, valid_until = lock.valid_until, ttl = lock.ttl,
                         asked](const coordinator::ReleaseResult& result) {
      if (result.outcome == coordinator::ReleaseOutcome::released)
        report_.on_release(valid_until, ttl, asked);
      tell(translate(names(), result));
    };
    return group().release(lock, asked, on_end);
  });
}

Client::Core::Undo Client::Core::acquire(
    coordinator::AcquireRequest request, OnWait on_wait,
    std::function<void(const coordinator::AcquireResult&)> on_end) {
  std::shared_ptr<Wait> wait;
  if (on_wait.tell || log_) {
    wait = std::make_shared<Wait>(*this, request.name, std::move(on_wait));
    request.on_retry = [wait](const coordinator::AcquireResult& result) { wait->on_retry(result); };
  } else {
    request.on_retry = [this](const coordinator::AcquireResult&) { report_.on_attempt_failed(); };
  }
  const Instant asked = holder_now();
  auto tell = [this, wait, asked,
               on_end = std::move(on_end)](const coordinator::AcquireResult& result) {
    if (wait) wait->end();
    report_.on_acquisition(result.outcome, holder_now() - asked);
    on_end(result);
  };
  return {.operation = group().acquire(std::move(request), asked, std::move(tell)),
          .wait = std::move(wait)};
}

coordinator::OperationId Client::Core::extend(
    const coordinator::HeldLock& lock,
    std::function<void(const coordinator::ExtendResult&)> on_end) {
  const auto tell = [this, on_end = std::move(on_end)](const coordinator::ExtendResult& result) {
    report_.on_extension(result.outcome);
    on_end(result);
  };
  return group().extend(lock, holder_now(), tell);
}

void Client::Core::finish(MoveOnlyFunction<void()> done) {
  if (is_in_child()) return;
  post([this, done = std::move(done)]() mutable {
    if (!done) return;
    if (is_at_end_) return defer(std::move(done));
    const Duration patience = group().options().node_timeout;
    finishes_.push_back({later(holder_now(), patience), std::move(done)});
    finish_alarm_.set(holder_now());  // so that a turn comes in any case
  });
}

// What reads it may call the client, and end it.
void Client::Core::say(Severity severity, std::string line) {
  if (!log_ || stopping_) return;
  defer([this, severity, line = std::move(line)] {
    if (!stopping_) log_(severity, line);
  });
}

void Client::Core::end_turn() {
  const auto say_line = [this](Severity severity, std::string line) {
    say(severity, std::move(line));
  };
  report_.look(group(), pending_.size(), keepings_.size(),
               log_ ? coordinator::ClientReport::Say(say_line) : nullptr);
  look_who_finished();
  sockets_.flush();
}

void Client::Core::look_who_finished() {
  if (finishes_.empty()) return;
  const Instant now = holder_now();
  const bool all_answered = group().releases_under_way() == 0;
  std::vector<Finish> waiting;
  for (Finish& finish : std::exchange(finishes_, {})) {
    if (all_answered || now >= finish.deadline) {
      finish.done();
    } else {
      waiting.push_back(std::move(finish));
    }
  }
  for (Finish& finish : waiting) finishes_.push_back(std::move(finish));
  if (is_at_end_) return run_last_tasks();  // one of those that were told has ended the client
  if (!finishes_.empty()) finish_alarm_.set(finishes_.front().deadline);
}

}  // namespace redlock
