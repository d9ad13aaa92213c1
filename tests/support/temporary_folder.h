// A new folder below the system's for temporary files; goes with the object, and all that is in it.
#pragma once

#include "base/invariant.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace redlock {

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "redlock-XXXXXX").string()) {
    INVARIANT(mkdtemp(path_.data()) != nullptr, "no folder for temporary files");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace redlock
