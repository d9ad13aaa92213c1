// ProcessAtWork: one process of a drill that a fault may hit: killed and started again, stopped and
// resumed; and what of that was done to it is told to the history.
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/process/child_process.h"
#include <redlock/result.h>

#include <string>
#include <vector>

namespace redlock::drill {

// Clients, doors and commands of a drill are this same program.
inline constexpr const char* kThisProgram = "/proc/self/exe";

class ProcessAtWork final : public coordinator::ChildProcess::User {
 public:
  ProcessAtWork(Stage& stage, Recorder& recorder, std::string name);

  const std::string& name() const { return name_; }
  // Each but the first is told to the history. REQUIRES: it does not run.
  Status start(const coordinator::ProcessCommand& command);
  // kill, start, stop or resume. Nothing where it is in no state for it. It starts nothing itself:
  // is_to_start() tells when.
  void befall(Fault fault);
  // Killed, gone, and wanted again.
  bool is_to_start() const { return is_down_ && is_wanted_ && !process_.is_running(); }
  bool ended_by_itself() const { return !is_down_ && !process_.is_running(); }
  const coordinator::ExitStatus& status() const { return status_; }  // once it has ended

  // SIGTERM to all that run, and SIGKILL to those that still do so after `within`; waits for them.
  static void end(Stage& stage, const std::vector<ProcessAtWork*>& processes, Duration within);

 private:
  void kill();
  void stop();
  void resume();
  void on_exit(const coordinator::ExitStatus& status) override;

  Stage& stage_;
  Recorder& recorder_;
  const std::string name_;
  coordinator::ChildProcess process_;
  coordinator::ExitStatus status_;
  bool was_started_ = false;
  bool is_down_ = true;  // killed, or told to end
  bool is_wanted_ = false;
  bool is_stopped_ = false;
};

}  // namespace redlock::drill
