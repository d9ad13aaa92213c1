// WallClocks: moves the wall clocks of processes, each one's by itself, as an operator or a wild
// NTP server would. libfaketime stands between a program and its clocks: it shifts CLOCK_REALTIME
// by what a file says and leaves all others as they are.
//
//   WallClocks clocks(stage, folder);
//   if (auto ready = clocks.set_up(); !ready) …           // no libfaketime here
//   command.environment = clocks.environment_of("node 1");
//   clocks.jump("node 1", 2h);                             // at once, also while it runs
//
// libfaketime gives each process a semaphore and some shared memory, named by its process id, which
// stay in /dev/shm if it is killed: so end it by SIGTERM. Errors are for people.
#pragma once

#include "coordinator/drill/world/stage.h"

#include <map>
#include <string>
#include <vector>

namespace redlock::drill {

class WallClocks {
 public:
  // `folder`: for the files that tell the shifts; of this WallClocks alone.
  WallClocks(Stage& stage, std::string folder);

  // Once, first of all. Succeeds when a program has been seen to read a shifted clock.
  Status set_up();

  // For all processes of that name: their clock is as it should be until it jumps.
  Result<std::vector<std::string>> environment_of(const std::string& name);
  // Forwards, or back. Several jumps add up.
  Status jump(const std::string& name, Duration by);

 private:
  Status see_a_jump();
  std::string file_of(const std::string& name) const;

  Stage& stage_;
  std::string folder_;
  std::string library_;
  std::map<std::string, Duration> shifts_;
};

}  // namespace redlock::drill
