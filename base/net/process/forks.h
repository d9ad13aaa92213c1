// Whether this process is the one that began, or was forked off it since. In a forked child there
// is none of the other threads, and what is shared with the parent (the epoll instance, the
// sockets) is the parent's: whoever has such things leaves them alone there.
//
//   const ForkMark mark;                   // in an object that has a thread, a loop, or sockets
//   if (mark.is_in_child()) return;        // in each call: no system call
//
// A fork by the bare system call goes unnoticed, as with pthread_atfork(3).
#pragma once

#include <cstdint>
#include <memory>

namespace redlock::net {

// Keeps it for good, so that nothing of it is ever ended: for a child that has no use for it.
void leave_alone(std::shared_ptr<void> object);

class ForkMark {
 public:
  ForkMark();
  bool is_in_child() const;

 private:
  std::uint64_t forks_;  // that led to this process, of those that were noticed
};

}  // namespace redlock::net
