// The clients of a transcript, by their names, on sockets of a server on this machine.
#pragma once

#include "tests/support/blocking_client.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redlock::transcript {

class Clients {
 public:
  // One that is new is connected first.
  std::string ask(const std::string& name, std::uint16_t port,
                  const std::vector<std::string>& words) {
    return connected(name, port).ask(words);
  }
  std::string hear(const std::string& name, std::uint16_t port) {
    return connected(name, port).receive();
  }
  void clear() { clients_.clear(); }

 private:
  BlockingClient& connected(const std::string& name, std::uint16_t port) {
    auto& client = clients_[name];
    if (!client) client = std::make_unique<BlockingClient>(port);
    return *client;
  }

  std::map<std::string, std::unique_ptr<BlockingClient>> clients_;
};

}  // namespace redlock::transcript
