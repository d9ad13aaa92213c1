// What the tests of processes share: a folder that goes away, a pipe by which a script says how far
// it is, and a child whose end is waited for. Nothing here sleeps for luck: waits end with what was
// waited for, or with ctest's time limit.
#pragma once

#include "coordinator/process/child_process.h"
#include "coordinator/process/process_group.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace redlock::coordinator {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "redlock-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    std::ofstream(*this / name) << text;
    chmod((*this / name).c_str(), mode);
    return *this / name;
  }

 private:
  std::string path_;
};

inline std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A named pipe: `echo ready > "$SAY"` in a script, next() in the test.
class Lines {
 public:
  explicit Lines(const Folder& folder) : path_(folder / "lines") {
    REQUIRE(mkfifo(path_.c_str(), 0600) == 0);
    file_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);  // for writing too, so that it never ends
  }
  ~Lines() { close(file_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  std::string variable() const { return "SAY=" + path_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return file_; }

  bool has_more() const {
    pollfd readable{file_, POLLIN, 0};
    return poll(&readable, 1, 0) == 1;
  }

  std::string next() {
    std::string line;
    char byte = 0;
    while (read(file_, &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }

 private:
  std::string path_;
  int file_;
};

// A program of a test: started by the constructor or start(), ended at the latest with the object.
class TestProcess : public ChildProcess::User {
 public:
  TestProcess() = default;
  explicit TestProcess(const ProcessCommand& command) { start(command); }

  void start(const ProcessCommand& command) {
    const auto failure = process.start(command);
    INFO((failure ? failure->text : ""));
    REQUIRE_FALSE(failure.has_value());
  }

  ExitStatus wait() {
    loop.run();
    REQUIRE(exits == 1);
    return status;
  }

  void on_exit(const ExitStatus& how) override {
    status = how;
    ++exits;
  }

  net::Loop loop;
  ChildProcess process{loop, *this};
  ExitStatus status;
  int exits = 0;
};

inline ProcessCommand shell(const std::string& script, std::vector<std::string> environment = {}) {
  ProcessCommand command;
  command.words = {"sh", "-c", script};
  command.environment = std::move(environment);
  return command;
}

// For what announces itself to nobody, such as the death of somebody else's child.
template <class Condition>
bool becomes_true(Condition condition) {
  const Instant until = net::read_clock(net::ClockKind::monotonic) + 10s;
  while (!condition()) {
    if (net::read_clock(net::ClockKind::monotonic) > until) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

}  // namespace redlock::coordinator
