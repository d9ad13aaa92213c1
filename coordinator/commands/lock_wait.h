// LockWait: what acquire, hold and run tell of the wait for their lock.
//
//   LockWait wait(options, session);
//   wait.begin();                               // the lock is asked for
//   … .on_wait = wait.on_wait(), …              // of AcquireOptions or GuardOptions
//   wait.end();                                 // got, failed or interrupted: nothing is drawn now
//   wait.report(error, then);                   // failed: who holds it is asked first
//
// On a terminal one line on standard error is kept up to date, from a second on: before, there is
// nothing that one would want to know. A process in the background draws nothing, as the terminal
// is another's; nor does one whose terminal cannot go back in a line (TERM=dumb).
#pragma once

#include "base/net/turn/timer.h"
#include "coordinator/cli/options.h"
#include "coordinator/commands/session.h"

#include <functional>
#include <memory>
#include <optional>

namespace redlock::coordinator {

class LockWait {
 public:
  LockWait(const Options& options, CommandSession& session);
  ~LockWait() { end(); }
  LockWait(const LockWait&) = delete;
  LockWait& operator=(const LockWait&) = delete;

  void begin();
  std::function<void(const Error&)> on_wait() {
    return [this](const Error& why) { note(why); };
  }
  void end();

  // Says why it failed, and how long it was waited: of a lock that is held, who holds it, as far
  // as a quorum tells. `then` is called behind that, unless this object has gone. After end().
  void report(const Error& error, std::function<void()> then);
  // For one that a signal ended, and for one that got the lock: nothing, if it was short.
  void tell_interrupted() const;
  void tell_success() const;

 private:
  struct Look;  // at who holds it

  void note(const Error& why);
  void tick();
  void draw(Instant now);
  void look_for_holder(Instant now);
  Error told(Error error) const;
  Duration waited(Instant now) const { return now - began_; }

  const Options& options_;
  CommandSession& session_;
  const bool can_draw_;
  net::Timer timer_;
  Instant began_{};
  std::optional<Instant> ended_;
  Error why_{.code = ErrorCode::no_quorum, .text = "the nodes are asked", .nodes = {}};
  unsigned attempts_ = 0;
  unsigned turn_ = 0;
  std::shared_ptr<Look> look_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // as far as callbacks know
};

}  // namespace redlock::coordinator
