// What naive users take, extend and release locks by: forms() and those of libraries, and, behind
// all others, scripts that go by a second key.
//
// Such a key is the flag beside each lock. Whether it is up says for how long a script takes the
// lock, or whether at all, and the script lowers it, or raises it, as well. Anybody may do so in
// between: then the script was run on what is so no more, and is run again (rule D7), while a part
// of what it wanted first may be done. It answers with the milliseconds that the lock is now held
// for, and its user relies on that.
//
// Others count in the lock's own record, as reentrant locks do, how often its holder has taken or
// extended it, and answer that: so each changes the value of a lock that is held (rule D9), and
// tells how often that was done.
//
// The last ones stand in a door's line: LOCK.ACQUIRE … WAIT, and SET NX behind a LOCK.WAIT.
#pragma once

#include "base/time.h"
#include "tests/simulation/forms.h"

#include <optional>
#include <span>

namespace redlock::simulation {

struct NaiveForm {
  Form form;
  bool is_exact = true;   // it takes only what nobody holds, whatever the values
  bool has_flag = false;  // and tells for how long it holds the lock
  bool counts = false;    // and tells how often its holder has taken or extended it
  // By a connection of its own: to take the lock is answered as late as `waits`.
  Duration waits = 0ns;
  bool watches = false;  // for it to be free, before it asks again
};
inline constexpr Duration kWatchLength = 1500ms;
std::span<const NaiveForm> naive_forms();
// The first of those that wait in a line.
unsigned form_in_line();

// For how long the user may rely on the lock from now on, which asked for this TTL. nullopt: it did
// not get it.
std::optional<Duration> told_time(const NaiveForm& form, const protocol::Reply& reply,
                                  Duration ttl);

}  // namespace redlock::simulation
