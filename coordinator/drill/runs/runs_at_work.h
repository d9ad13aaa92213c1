// RunsAtWork: the clients of `redlock drill run`. Each runs `redlock run` over and over, as a
// cron job or a shell does: a lock, and a command of some kind (command_kind.h) that works for a
// while. What is done to it is done to the loop, the process `redlock run` itself, or to the guard
// process beside it, alone or together; the command's own processes are left alone, but for what
// those two do to them.
//
// To the history a run's hold lasts from the first to the last time at which a process of its
// command worked, by its own word (work_board.h). So two holders at once are two commands that
// worked at one time. Where loop and guard were stopped or killed together nothing of that is
// promised (rule H1): the hold counts as lost from then on, and what its command writes after that
// is for the store to refuse.
//
// Half of them have a standard output and error that nobody reads.
#pragma once

#include "base/random.h"
#include "coordinator/drill/clients/client_settings.h"
#include "coordinator/drill/runs/command_kind.h"
#include "coordinator/drill/runs/unread_pipe.h"
#include "coordinator/drill/runs/work_board.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/drill/world/workers.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

class RunsAtWork final : public Workers {
 public:
  // Settings of all of them; name, seed, nodes and history file are not looked at.
  RunsAtWork(Stage& stage, Recorder& recorder, std::string folder, ClientProcessSettings settings);
  ~RunsAtWork() override;
  RunsAtWork(const RunsAtWork&) = delete;
  RunsAtWork& operator=(const RunsAtWork&) = delete;

  Status add(std::string nodes, Place place) override;
  void befall(const PlannedFault& fault) override;
  // It cannot go on when a run ended as none may.
  Status look() override;
  // Wrong is a run that does not end when it is told to.
  Status end() override;
  // The drill itself tells of all.
  const std::vector<std::string>& history_files() const override { return no_files_; }

 private:
  class Client;
  struct Run;  // from its start to its end
  struct Task;

  Status prepare();
  Status launch(Client& client);
  Task draw_task();
  std::vector<std::string> command_of(const Client& client, const Run& run, const Task& task) const;
  Status hear_end(Client& client);
  void kill(Client& client, PlannedFault::Part part);
  void stop(Client& client, PlannedFault::Part part);
  void resume(Client& client);
  void uncover(const Client& client);
  void tell_hold(std::size_t number);
  std::string hold_name(std::size_t number) const;
  std::string log_file() const { return folder_ + "/runs.log"; }

  Stage& stage_;
  Recorder& recorder_;
  const std::string folder_;
  const ClientProcessSettings settings_;
  Random random_;
  std::optional<WorkBoard> board_;
  std::optional<UnreadPipe> unread_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Run> runs_;  // as they stand on the board
  const std::vector<std::string> no_files_;
};

}  // namespace redlock::drill
