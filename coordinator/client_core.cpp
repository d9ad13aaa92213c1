#include "coordinator/client_core.h"

#include "base/net/quiet_thread.h"
#include "coordinator/errors.h"
#include "coordinator/guard_keeping.h"

#include <algorithm>

namespace redlock {

using coordinator::LockClient;

Error stopped_error() {
  return {ErrorCode::stopped, "the client has ended", {}};
}

Error wrong_thread_error() {
  return {
      ErrorCode::wrong_thread,
      "a blocking call on the thread that would have to do the work: use the one with a callback",
      {}};
}

Client::Core::Core(uv_loop_s* caller_loop, LockClient::Options options)
    : has_own_thread_(caller_loop == nullptr),
      loop_(caller_loop != nullptr ? std::make_unique<net::Loop>(caller_loop)
                                   : std::make_unique<net::Loop>()),
      nodes_(*loop_, std::move(options)),
      mailbox_(std::make_shared<net::Mailbox>(*loop_)),
      finish_timer_(*loop_, net::ClockKind::boottime, [] {}),
      turn_(*loop_, [this] { look_who_finished(); }) {
  if (has_own_thread_) thread_ = net::start_quiet_thread([this] { loop_->run(); });
}

Client::Core::~Core() = default;

void Client::Core::end() {
  if (!has_own_thread_) {
    stop_everything();
    nodes_.flush();
    for (const net::Mailbox::Task& task : mailbox_->close()) task();
    return;
  }
  mailbox_->post([this] {
    stop_everything();
    finish([this] {
      for (const net::Mailbox::Task& task : mailbox_->close()) task();
      loop_->stop();
    });
  });
  thread_.join();
}

// Undos and releases are on their way after it.
void Client::Core::stop_everything() {
  stopping_ = true;
  for (const auto& keeping : std::exchange(keepings_, {})) keeping->end();
  for (const auto& [operation, pending] : std::exchange(pending_, {})) {
    nodes_.cancel(pending->among_nodes);
    pending->fail(stopped_error());
  }
}

void Client::Core::cancel(Operation operation) {
  post([this, operation] {
    const auto found = pending_.find(operation);
    if (found == pending_.end()) return;
    const std::shared_ptr<Pending> pending = std::move(found->second);
    pending_.erase(found);
    nodes_.cancel(pending->among_nodes);
    defer([pending] { pending->fail({ErrorCode::stopped, "cancelled", {}}); });
  });
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
  post([this, done = std::move(done)] {
    const Duration patience = nodes_.group().options().node_timeout;
    finishes_.push_back({later(LockClient::now(), patience), done});
    finish_timer_.set(LockClient::now());  // so that a turn comes in any case
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
  if (!finishes_.empty()) finish_timer_.set(finishes_.front().deadline);
}

}  // namespace redlock
