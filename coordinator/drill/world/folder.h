// A drill's own temporary folder, for its nodes' state, sockets and logs: removed when the drill is
// over, however it ends.
#pragma once

#include <string>

namespace redlock::drill {

class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Empty if it could not be made. kNone says so, for people.
  static constexpr const char* kNone = "no temporary folder can be made; TMPDIR names another";
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Of a log in it, for a complaint; empty where there is none.
std::string text_of(const std::string& path);

}  // namespace redlock::drill
