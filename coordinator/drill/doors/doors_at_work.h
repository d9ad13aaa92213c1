// The front doors of a drill: `redlock serve` over its nodes, each at a unix socket behind a relay,
// so that what it answers can be late; and what is done to them.
//
// Nothing here waits, but end(). What is done is told to the history.
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "coordinator/drill/plan/faults.h"
#include "coordinator/drill/world/process_at_work.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/quorum/padding.h"
#include <redlock/client.h>
#include <redlock/result.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace redlock::drill {

// Shorter than a door's own, as all are on one machine: so locks whose holder was killed are free
// sooner, and more happens. A node timeout may not be longer than the acquire time. Whole ms.
inline coordinator::DoorTimes door_times(const ClientOptions& options) {
  const std::chrono::milliseconds node_timeout(ceil_ms(options.node_timeout));
  return {.acquire_time = std::max(std::chrono::milliseconds(300), node_timeout),
          .reply_time = std::chrono::milliseconds(500),
          .clock_drift = options.clock_drift};
}

class DoorsAtWork {
 public:
  // Sockets and logs go to the folder. Options: of each door, but for the nodes.
  DoorsAtWork(Stage& stage, Recorder& recorder, std::string folder, ClientOptions options);
  ~DoorsAtWork();
  DoorsAtWork(const DoorsAtWork&) = delete;
  DoorsAtWork& operator=(const DoorsAtWork&) = delete;

  // One more, at work when clients get an answer.
  Status add(std::string nodes);
  // As a client of theirs is told of them, separated by commas.
  const std::string& addresses() const { return addresses_; }

  // kill, start, stop, resume, slow or unslow. Nothing where it is in no state for it.
  void befall(const PlannedFault& fault);
  // Starts what is to be started; why the drill cannot go on, if it cannot: a door ended by itself.
  Status look();
  void end();

 private:
  struct Door;
  Status launch(Door& door);

  Stage& stage_;
  Recorder& recorder_;
  const std::string folder_;
  const ClientOptions options_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::string addresses_;
};

}  // namespace redlock::drill
