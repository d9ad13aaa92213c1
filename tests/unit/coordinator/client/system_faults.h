// What the system refuses or delays in a test: threads, descriptors, and answers about names. The
// test's program has functions of libc's names that look here first.
#pragma once

#include <cstddef>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace redlock {

// As long as it lives, no thread can be had.
class NoThreads {
 public:
  NoThreads();
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

// As long as it lives, the resolver does not answer for names that begin with "hung".
class HungNames {
 public:
  HungNames();
  ~HungNames();  // they are answered now: there is no such name
  HungNames(const HungNames&) = delete;
  HungNames& operator=(const HungNames&) = delete;
};

// A name with these addresses, in this order, for all of the test's program's life. One that hangs
// is answered so when it is answered.
void give_name(const std::string& name, const std::vector<std::string>& addresses);

// How often the resolver was asked for it.
int lookups_of(const std::string& name);

// As long as it lives, this thread is given so many descriptors more (sockets, timers, pipes and
// what an event loop takes), and then none.
class NoDescriptor {
 public:
  explicit NoDescriptor(int given_before);
  ~NoDescriptor();
  NoDescriptor(const NoDescriptor&) = delete;
  NoDescriptor& operator=(const NoDescriptor&) = delete;

  // Whether one was asked for and not given.
  static bool was_missing();
};

// That the process has open.
std::size_t open_descriptors();

// The process may open so many files more than it has open, for as long as it lives.
class FewFiles {
 public:
  explicit FewFiles(std::size_t more);
  ~FewFiles();
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace redlock
