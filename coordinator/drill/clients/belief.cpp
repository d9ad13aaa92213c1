#include "coordinator/drill/clients/belief.h"

#include "base/net/turn/clock.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace redlock::drill {

Belief::Belief(HistoryWriter& history, std::string client, std::string lock, std::string hold)
    : history_(history),
      client_(std::move(client)),
      lock_(std::move(lock)),
      hold_(std::move(hold)) {}

void Belief::begin(Instant asked, const ToldLock& lock) {
  const std::lock_guard guard(mutex_);
  // Its guard may have extended it since the caller looked.
  valid_until_ = std::max(valid_until_, lock.valid_until);
  Event event = its(What::acquired);
  event.asked = asked;
  event.token = lock.token;
  event.ttl_ms = ceil_ms(lock.ttl);
  event.valid_until = valid_until_;
  began_ = true;
  tell(event);
  if (over_) tell_end();
}

void Belief::extend(Instant valid_until) {
  const std::lock_guard guard(mutex_);
  if (over_ || valid_until <= valid_until_) return;
  valid_until_ = valid_until;
  if (!began_) return;
  Event event = its(What::extended);
  event.valid_until = valid_until;
  tell(event);
}

bool Belief::is_over() const {
  const std::lock_guard guard(mutex_);
  return over_;
}

Event Belief::its(What what) const {
  return {.at = net::holder_now(), .who = client_, .what = what, .lock = lock_, .hold = hold_};
}

void Belief::run_out() {
  const std::lock_guard guard(mutex_);
  if (std::exchange(over_, true)) return;
  Event event = its(What::releases);
  event.at = std::min(event.at, valid_until_);
  tell(event);
}

void Belief::end(What what, std::string why) {
  const std::lock_guard guard(mutex_);
  if (over_) return;
  over_ = true;
  end_ = what;
  why_ = std::move(why);
  // A guard may tell of a loss before its caller has it in hands (after a pause, say).
  if (began_) tell_end();
}

void Belief::tell_end() {
  Event event = its(end_);
  event.why = why_;
  tell(event);
}

// A history that cannot be written proves nothing: the drill sees this process end, and says so.
void Belief::tell(const Event& event) {
  if (!history_.write(event)) _exit(1);
}

}  // namespace redlock::drill
