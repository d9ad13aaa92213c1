// The nodes of a drill in which much happens at once: nothing here waits, so that one node can be
// killed while another is on its way back. What is done is told to the history.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "coordinator/drill/world/nodes.h"
#include "coordinator/drill/world/recorder.h"

#include <vector>

namespace redlock::coordinator {

class NodesAtWork {
 public:
  // The nodes run.
  NodesAtWork(OwnNodes& nodes, Recorder& recorder);

  // Each does nothing to a node that is not in a state for it: a plan does not know how long a
  // start takes.
  void kill(std::size_t node);     // SIGKILL
  void start(std::size_t node);    // as soon as it has ended
  void restart(std::size_t node);  // a clean stop, then a start
  void stop(std::size_t node);     // SIGSTOP
  void resume(std::size_t node);   // SIGCONT
  // All of them run, or are about to.
  void restore();

  // Starts what is to be started. To be called whenever the stage is woken. Why the drill cannot
  // go on, if it cannot: a node ended by itself, say.
  Status look();
  bool all_ready();

 private:
  struct State {
    bool is_down = false;  // killed, or told to end
    bool is_wanted = true;
    bool is_stopped = false;
  };

  OwnNodes& nodes_;
  Recorder& recorder_;
  std::vector<State> states_;
};

}  // namespace redlock::coordinator
