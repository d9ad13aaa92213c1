#include "coordinator/client/client_core.h"

#include "base/net/spare_descriptors.h"
#include "base/net/turn/quiet_thread.h"
#include "coordinator/client/guard_keeping.h"
#include "coordinator/results/errors.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock {

using coordinator::LockClient;

namespace {

// A loop's, two timers', and some for what is opened for a moment.
constexpr int kDescriptors = 12;
// So often in a row a callback is told that the client has ended, and begins another operation.
constexpr int kLastRounds = 1000;
// And of all callbacks together so many: half a second's work.
constexpr std::size_t kLastTasksMax = std::size_t(1) << 18;

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

Result<std::shared_ptr<Client::Core>, Error> Client::Core::make(uv_loop_s* caller_loop,
                                                                LockClient::Options options) {
  const int sockets = static_cast<int>(options.nodes.size());
  if (Status room = net::try_descriptors(kDescriptors + sockets, "a client"); !room) {
    return Error{ErrorCode::system, room.error().text, {}};
  }
  const auto core = std::make_shared<Core>(caller_loop, std::move(options));
  if (caller_loop != nullptr) return core;
  // Kept by its thread: a callback may destroy the client, and return.
  auto thread = net::start_quiet_thread([core] {
    core->loop_->run();
    core->run_last_tasks();  // what stood in the mailbox behind a task that ended the client
  });
  if (!thread) {
    core->end_at_once();
    return Error{ErrorCode::system, thread.error().text, {}};
  }
  core->thread_ = std::move(thread).value();
  return core;
}

Client::Core::Core(uv_loop_s* caller_loop, LockClient::Options options)
    : has_own_thread_(caller_loop == nullptr),
      loop_(caller_loop != nullptr ? std::make_unique<net::Loop>(caller_loop)
                                   : std::make_unique<net::Loop>()),
      alarms_(*loop_, net::ClockKind::boottime),
      nodes_(*loop_, std::move(options)),
      mailbox_(std::make_shared<net::Mailbox>(*loop_)),
      finish_alarm_(alarms_, [] {}),
      turn_(*loop_, [this] { look_who_finished(); }) {}

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
  nodes_.flush();
  run_last_tasks();
}

// Each callback comes, also of what a callback has begun: it is told that the client has ended. One
// that tries again whatever it is told would keep the client from ending.
void Client::Core::run_last_tasks() {
  is_at_end_ = true;
  for (const Finish& finish : std::exchange(finishes_, {})) finish.done();
  for (net::Mailbox::Task& task : mailbox_->close()) last_tasks_.push_back(std::move(task));
  for (int round = 0; round < kLastRounds && !last_tasks_.empty(); ++round) {
    const std::vector<net::Mailbox::Task> tasks = std::exchange(last_tasks_, {});
    for (const net::Mailbox::Task& task : tasks) {
      if (++last_tasks_run_ > kLastTasksMax) return last_tasks_.clear();
      task();
    }
  }
}

// Undos and releases are on their way after it.
void Client::Core::stop_everything() {
  stopping_ = true;
  for (const auto& keeping : std::exchange(keepings_, {})) keeping->end();
  for (const auto& [operation, pending] : std::exchange(pending_, {})) {
    pending->undo();
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
  pending->undo();
  // What asked for it may be the stop that it waits for: that is let go later, too.
  defer([pending] {
    pending->on_stop.reset();
    pending->fail({ErrorCode::stopped, "cancelled", {}});
  });
  return true;
}

Client::Operation Client::Core::release(const coordinator::HeldLock& lock, Callback<Done> done) {
  return begin<Done>(std::move(done), [this, lock](const Callback<Done>& tell) {
    return nodes_.release(lock, [this, tell](const coordinator::ReleaseResult& result) {
      if (result.outcome == coordinator::ReleaseOutcome::released) return tell(Done{});
      tell(coordinator::release_error(names(), result));
    });
  });
}

void Client::Core::finish(std::function<void()> done) {
  if (is_in_child()) return;
  post([this, done = std::move(done)] {
    if (!done) return;
    if (is_at_end_) return defer(done);
    const Duration patience = nodes_.group().options().node_timeout;
    finishes_.push_back({later(LockClient::now(), patience), done});
    finish_alarm_.set(LockClient::now());  // so that a turn comes in any case
  });
}

// At the end of each turn.
void Client::Core::look_who_finished() {
  if (finishes_.empty()) return;
  const Instant now = LockClient::now();
  const bool all_answered = nodes_.group().releases_under_way() == 0;
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
