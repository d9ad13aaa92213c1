// A drill's own temporary folder, for its nodes' state, sockets and logs: removed when the drill is
// over, however it ends.
#pragma once

#include <string>

namespace redlock::coordinator {

class DrillFolder {
 public:
  DrillFolder();
  ~DrillFolder();
  DrillFolder(const DrillFolder&) = delete;
  DrillFolder& operator=(const DrillFolder&) = delete;

  // Empty if it could not be made. kNone says so, for people.
  static constexpr const char* kNone = "no temporary folder can be made; TMPDIR names another";
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace redlock::coordinator
