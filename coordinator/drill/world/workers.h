// Workers: those who work under locks in a drill, and what is done to them: processes with the
// public library (clients_at_work.h), or a `redlock run` each (drill/runs/runs_at_work.h).
//
// Nothing here waits, but end(). What is done is told to the history.
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/world/place.h"
#include <redlock/result.h>

#include <string>
#include <vector>

namespace redlock::drill {

class Workers {
 public:
  virtual ~Workers() = default;

  // One more, which is at work when this returns.
  virtual Status add(std::string nodes, Place place) = 0;
  // The list that a worker is given when it is started again, if it is to be another one. Not for
  // workers that keep the first.
  virtual void name_nodes(std::size_t /*worker*/, std::string /*nodes*/) {}
  // kill, start, stop or resume of one of them. Nothing where it is in no state for it.
  virtual void befall(const PlannedFault& fault) = 0;
  // Starts what is to be started. To be called whenever the stage is woken. Why the drill cannot
  // go on, if it cannot.
  virtual Status look() = 0;
  // All of them let go of their locks and end; waits for them. The error: what of that was not as
  // it should be.
  virtual Status end() = 0;

  // Of every process that wrote one.
  virtual const std::vector<std::string>& history_files() const = 0;
};

}  // namespace redlock::drill
