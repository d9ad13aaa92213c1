// Where a process of a drill runs: what differs from a plain start on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::drill {

struct Place {
  // A node's: where it listens.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: one that nobody has
  // As in ProcessCommand.
  std::vector<std::string> environment = {};
  int network_namespace = -1;
};

}  // namespace redlock::drill
