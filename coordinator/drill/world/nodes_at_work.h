// The nodes of a drill in which much happens at once: nothing here waits, so that one node can be
// killed while another is on its way back. What is done is told to the history.
//
// Thread safety: none; all on the loop's thread.
#pragma once

#include "coordinator/drill/world/nodes.h"
#include "coordinator/drill/world/recorder.h"

#include <string>
#include <vector>

namespace redlock::drill {

class NodesAtWork {
 public:
  // The nodes run.
  NodesAtWork(OwnNodes& nodes, Recorder& recorder);

  // Each does nothing to a node that is not in a state for it: a plan does not know how long a
  // start takes.
  //
  // `change`: of the group, that it is done for (Event::change).
  void kill(std::size_t node, const std::string& change = {});  // SIGKILL
  void start(std::size_t node);                                 // as soon as it has ended
  void restart(std::size_t node);                               // a clean stop, then a start
  void stop(std::size_t node, const std::string& change = {});  // SIGSTOP
  void resume(std::size_t node);                                // SIGCONT
  // Another node takes its place, which is killed: OwnNodes::begin_anew, as soon as it has ended.
  void start_anew(std::size_t node, bool bootstrapped, const std::string& change);
  // All that ever ran do, or are about to.
  void restore();

  // Starts what is to be started. To be called whenever the stage is woken. Why the drill cannot
  // go on, if it cannot: a node ended by itself, say.
  Status look();
  // It answered, once since it was started last.
  bool is_ready(std::size_t node) const;
  // It was started some time, and may have been killed since.
  bool is_known(std::size_t node) const;

 private:
  struct State {
    bool is_down = false;  // killed, or told to end
    bool is_wanted = true;
    bool is_stopped = false;
    // Another is wanted, in a folder of its own.
    bool is_another = false;
    bool is_bootstrapped = false;
    std::string change = {};
  };
  Status begin(std::size_t node);

  OwnNodes& nodes_;
  Recorder& recorder_;
  std::vector<State> states_;
};

}  // namespace redlock::drill
