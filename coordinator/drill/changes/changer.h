// Changer: who changes the group of a drill, as an operator does: by `redlock group …`, a process
// of this very program, again and again until one of them has ended well. Some are killed at an
// instant that nobody chose; the next one says the same word, and has to find the change as
// it was left.
//
// Each is told to the history: `started` with the change, and `killed`, at its good end with what
// was done ("replaced").
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "base/net/turn/timer.h"
#include "base/random.h"
#include "coordinator/drill/world/recorder.h"
#include "coordinator/drill/world/stage.h"
#include "coordinator/process/child_process.h"

#include <optional>
#include <string>
#include <vector>

namespace redlock::drill {

// One change, as the command wants it.
struct ChangeOrder {
  std::vector<std::string> words;  // "replace", OLD, NEW
  std::string nodes;               // the list that the command goes by
  std::string text;                // "node 2 by node 6"
  std::string done;                // "replaced"
  int kills = 0;                   // so many of the processes are killed
};

class Changer final : private coordinator::ChildProcess::User {
 public:
  // `name`: in the history. What the processes print is added to the file.
  Changer(Stage& stage, Recorder& recorder, std::string name, std::uint64_t seed,
          std::string output_file);

  // REQUIRES: !is_busy().
  void begin(ChangeOrder order);
  // Until one of its processes has ended well.
  bool is_busy() const { return order_.has_value(); }
  // Starts and kills what is to be. To be called whenever the stage is woken. Why the drill cannot
  // go on, if it cannot.
  Status look();
  // No more: what runs is killed. It is gone when !is_running().
  void end();
  bool is_running() const { return process_.is_running(); }

 private:
  void on_exit(const coordinator::ExitStatus& status) override;
  Status launch();
  Duration kill_after();

  Stage& stage_;
  Recorder& recorder_;
  const std::string name_;
  const std::string output_file_;
  Random random_;
  net::Timer next_;  // wakes the stage: a start or a kill is due
  coordinator::ChildProcess process_;
  std::optional<ChangeOrder> order_;
  Duration began_{0};              // by the stage's time: the change
  std::optional<Duration> due_{};  // the next start, or the kill of the one that runs
  bool was_killed_ = false;
  Status problem_ = Done{};
};

}  // namespace redlock::drill
