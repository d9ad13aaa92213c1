// What the system refuses or delays in a test: threads, and answers about names. The test's program
// has functions of libc's names that look here first.
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

// A name with these addresses, in this order, for all of the test's program's life.
void give_name(const std::string& name, const std::vector<std::string>& addresses);

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
