// A real redlock-node that a C++ test starts, kills and starts again.
//
//   NodeProcess node({.program = "build/redlock-node", .folder = …, .port = reserve_ports(1)});
//   if (!node.bootstrap()) …
//   node.start();   …   node.kill();   …   node.start();
//
// To be used on the process's main thread: the kernel ends the node when the thread
// that started it ends.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace redlock {

class NodeProcess {
 public:
  struct Settings {
    std::string program;
    std::string folder = {};
    std::uint16_t port = 0;
    std::vector<std::string> flags = {};
  };

  explicit NodeProcess(Settings settings) : settings_(std::move(settings)) {}
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  std::uint16_t port() const { return settings_.port; }
  std::string address() const;

  // The ledger of a node of a new group (rule R1); false: the program failed.
  bool bootstrap();
  // Returns when the program has been executed; it listens a little later.
  void start();
  // kill -9. Nothing of it runs any more when it returns. REQUIRES: started, and not ended since.
  void kill();
  // What an operator loses with a disk. REQUIRES: killed.
  void lose_folder();

 private:
  pid_t launch(std::vector<std::string> words);

  Settings settings_;
  pid_t pid_ = 0;
};

}  // namespace redlock
