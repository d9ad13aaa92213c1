// UnreadPipe: a pipe that is full and that nobody reads, under a name: as standard output and
// standard error it blocks whoever writes there, for as long as this object lives (rule H2).
#pragma once

#include <redlock/result.h>

#include <string>

namespace redlock::drill {

class UnreadPipe {
 public:
  static Result<UnreadPipe> make(const std::string& path);
  ~UnreadPipe();
  UnreadPipe(UnreadPipe&& other) noexcept;
  UnreadPipe& operator=(UnreadPipe&&) = delete;

  // To be opened for writing.
  const std::string& path() const { return path_; }

 private:
  UnreadPipe(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;  // both ends
};

}  // namespace redlock::drill
