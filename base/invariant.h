// INVARIANT(condition, text): what must hold if the code is right. It stays on in release.
//
// A lock server that no longer understands its own state must stop, not go on granting: a stopped
// node costs one vote for one restart delay, a wrong grant costs the lock. So the process aborts,
// with the place and the text on standard error. Never use it for what comes from outside.
#pragma once

namespace redlock {

[[noreturn]] void invariant_failed(const char* file, int line, const char* condition,
                                   const char* text);

// Another way to tell it, just before the process aborts: to a log as well, say. It must not wait
// for long. nullptr: standard error, as without this.
void tell_broken_invariants(void (*tell)(const char* text));

}  // namespace redlock

#define INVARIANT(condition, text) \
  (static_cast<bool>(condition)    \
       ? static_cast<void>(0)      \
       : ::redlock::invariant_failed(__FILE__, __LINE__, #condition, text))
