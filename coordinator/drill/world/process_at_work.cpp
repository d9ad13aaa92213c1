#include "coordinator/drill/world/process_at_work.h"

#include <algorithm>
#include <csignal>
#include <utility>

namespace redlock::drill {

ProcessAtWork::ProcessAtWork(Stage& stage, Recorder& recorder, std::string name)
    : stage_(stage), recorder_(recorder), name_(std::move(name)), process_(stage.loop(), *this) {}

void ProcessAtWork::on_exit(const coordinator::ExitStatus& status) {
  status_ = status;
  stage_.wake();
}

Status ProcessAtWork::start(const coordinator::ProcessCommand& command) {
  is_down_ = is_wanted_ = is_stopped_ = false;
  if (std::exchange(was_started_, true)) recorder_.tell(name_, What::started);
  if (const auto failure = process_.start(command)) return Failure{failure->text};
  return Done{};
}

void ProcessAtWork::befall(Fault fault) {
  switch (fault) {
    case Fault::kill:
      return kill();
    case Fault::start:
      is_wanted_ = true;
      return;
    case Fault::stop:
      return stop();
    case Fault::resume:
      return resume();
    default:
      return;
  }
}

void ProcessAtWork::kill() {
  if (is_down_) return;
  recorder_.tell(name_, What::killed);
  is_down_ = true;
  process_.stop(SIGKILL, 0s);
}

void ProcessAtWork::stop() {
  if (is_down_ || is_stopped_) return;
  is_stopped_ = true;
  recorder_.tell(name_, What::stopped);
  process_.pass_on(SIGSTOP);
}

void ProcessAtWork::resume() {
  if (is_down_ || !is_stopped_) return;
  is_stopped_ = false;
  process_.pass_on(SIGCONT);
  recorder_.tell(name_, What::continued);
}

void ProcessAtWork::end(Stage& stage, const std::vector<ProcessAtWork*>& processes,
                        Duration within) {
  std::vector<ProcessAtWork*> told;
  for (ProcessAtWork* process : processes) {
    if (process->is_down_) continue;
    process->resume();
    told.push_back(process);
    process->is_down_ = true;
    process->process_.stop(SIGTERM, within);
  }
  stage.until(
      [&] {
        return std::none_of(processes.begin(), processes.end(), [](const ProcessAtWork* process) {
          return process->process_.is_running();
        });
      },
      2 * within);
  for (ProcessAtWork* process : told) {
    // It had no time to let go of what it held.
    if (process->status_.was_killed) process->recorder_.tell(process->name_, What::killed);
  }
}

}  // namespace redlock::drill
