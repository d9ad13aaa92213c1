// The host stands still: its process is paused, or its machine sleeps.
#include "tests/simulation/host.h"

namespace redlock::simulation {

// A loop that was stopped in its wait for bytes looks at them first, one that was stopped elsewhere
// at its timers.
void Host::go_on() {
  if (!process_) return;
  tell("goes on");
  wake_machine();
  obligations_.note_pause_end();
  lines_.note_pause_end(read_clocks().monotonic);
  if (ends_turn_) end_turn();
  const auto work = [this] { turn([](server::Node& node, Now now) { node.do_due_work(now); }); };
  const bool was_waiting = random_.below(2) == 0;
  if (!was_waiting) work();
  work_off_inbox();
  if (was_waiting) work();
}

// The clock that a node counts with stands still in a suspend (rule C2).
void Host::suspend(TrueTime until) {
  if (!process_ || process_->stops || agenda_.now() < paused_until_) return;
  suspended_since_ = agenda_.now();
  pause(until);
}

void Host::wake_machine() {
  if (!suspended_since_) return;
  clock_.jump(clock_.at(*suspended_since_) - clock_.at(agenda_.now()));
  suspended_since_.reset();
}

// At the very instant at which it goes on it may not have done so yet.
void Host::look_at_lines() {
  if (!process_ || process_->stops || agenda_.now() <= paused_until_) return;
  lines_.check(read_clocks().monotonic);
}

}  // namespace redlock::simulation
