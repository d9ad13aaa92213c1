// The clients of a drill: processes that work under locks (client_process.h), and what is done to
// them. Nothing here waits, but end(). What is done is told to the history.
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "coordinator/drill/world/client_process.h"
#include "coordinator/drill/world/place.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/process/child_process.h"

#include <memory>
#include <string>
#include <vector>

namespace redlock::coordinator {

class ClientsAtWork {
 public:
  // Settings of all of them; name, seed, nodes and history file are each one's own. Histories, and
  // the log of what clients complain of, go to the folder.
  ClientsAtWork(DrillStage& stage, Recorder& recorder, std::string folder,
                ClientProcessSettings settings);
  ~ClientsAtWork();
  ClientsAtWork(const ClientsAtWork&) = delete;
  ClientsAtWork& operator=(const ClientsAtWork&) = delete;

  // One more, which runs when this returns.
  Status add(std::string nodes, Place place);
  std::size_t count() const { return clients_.size(); }
  std::vector<std::string> names() const;

  // Each does nothing to a client that is not in a state for it.
  void kill(std::size_t client);    // SIGKILL
  void start(std::size_t client);   // a new process in its place, as soon as the old one is gone
  void stop(std::size_t client);    // SIGSTOP
  void resume(std::size_t client);  // SIGCONT
  void restore();

  // Starts what is to be started. To be called whenever the stage is woken. Why the drill cannot
  // go on, if it cannot: a client ended by itself.
  Status look();
  // Each lets go of its lock and ends; waits for all.
  void end();

  // Of every process that there was.
  const std::vector<std::string>& history_files() const { return history_files_; }

 private:
  class OneClient;
  Status launch(OneClient& client);

  DrillStage& stage_;
  Recorder& recorder_;
  const std::string folder_;
  const ClientProcessSettings settings_;
  std::vector<std::unique_ptr<OneClient>> clients_;
  std::vector<std::string> history_files_;
};

}  // namespace redlock::coordinator
