// AclFile: the file of users on a disk (aclfile). It holds no password, but its hashes are worth a
// guess, so that it is for its owner alone when it is made here.
//
// All of it blocks, for the moment that an operator's command may take.
#pragma once

#include "server/users/user_file.h"

#include <string>
#include <string_view>

namespace redlock::server {

class AclFile final : public UserFile {
 public:
  explicit AclFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const override { return path_; }
  Result<std::string> read() override;
  // Into a file beside it, which then takes its name: whoever reads meanwhile finds either.
  Status write(std::string_view text) override;

 private:
  std::string path_;
};

}  // namespace redlock::server
