// UserFile: the file of users that a node was started with (aclfile), for whoever may touch files.
#pragma once

#include <redlock/result.h>

#include <string>
#include <string_view>

namespace redlock::server {

class UserFile {
 public:
  virtual ~UserFile() = default;

  virtual const std::string& path() const = 0;
  virtual Result<std::string> read() = 0;
  // All of it, or as it was; durable when it returns.
  virtual Status write(std::string_view text) = 0;
};

}  // namespace redlock::server
