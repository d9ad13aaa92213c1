// A server of its own for the differential test: redlock-node or redis-server at a unix socket in a
// new folder. It ends with the object, by its process id, and with this process however that ends.
#pragma once

#include "tests/support/temporary_folder.h"
#include <redlock/result.h>

#include <string>
#include <sys/types.h>
#include <vector>

namespace redlock::differential {

class ServerProcess {
 public:
  ServerProcess() = default;
  ~ServerProcess() { stop(); }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Returns when it accepts connections. A node: keys without a TTL are served, and TTLs as long as
  // can be set.
  Status start_node(const std::string& program);
  Status start_redis(const std::string& program);
  // The same again: after it ended by itself.
  Status start_again();

  bool is_running();
  const std::string& socket_path() const { return socket_path_; }
  // What it wrote last: its own words on why it ended.
  std::string last_words() const;

 private:
  Status launch();
  void stop();

  TemporaryFolder folder_;
  std::string socket_path_ = folder_.path() + "/socket";
  std::string log_path_ = folder_.path() + "/log";
  std::vector<std::string> words_;
  pid_t pid_ = 0;
};

}  // namespace redlock::differential
