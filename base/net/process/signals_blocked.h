// SignalsBlocked: no signal is handled on this thread as long as the object lives. For the moment
// in which a thread or a process is made: either takes over the mask of the thread that makes it.
//
//   const SignalsBlocked blocked(SignalsBlocked::Faults::blocked);
//   const pid_t child = fork();   // no handler of ours runs in it
//
// Thread safety: ends on the thread on which it began; others are not touched.
#pragma once

#include <csignal>

namespace redlock::net {

class SignalsBlocked {
 public:
  // What a mistake of the program itself raises: SIGSEGV, SIGABRT and their like.
  enum class Faults {
    blocked,  // between fork and exec: a handler would write into what is the parent's, too
    open,     // on a thread that lives on: a crash handler of the program sees them
  };

  explicit SignalsBlocked(Faults faults);
  // The mask is as it was before.
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  // The mask that it will be again. Valid as long as this object.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

}  // namespace redlock::net
