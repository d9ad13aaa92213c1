// Five real nodes, two of which may be out at a time: dead, waiting out their restart delay, or
// without a ledger and not yet admitted.
#pragma once

#include "base/time.h"
#include "tests/process/node_process.h"

#include <memory>
#include <string>
#include <vector>

namespace redlock::token_storm {

class NodeGroup {
 public:
  static constexpr std::size_t kNodes = 5;

  NodeGroup(const std::string& program, const std::string& folder,
            const std::vector<std::string>& flags);

  // Bootstraps and starts all, and waits until they serve. False: they do not.
  bool start();
  std::vector<std::string> addresses() const;
  NodeProcess& operator[](std::size_t node) { return *nodes_[node]; }

  // Asks the node until it grants locks and gives tokens. False: not within 30 s.
  bool wait_until_in(std::size_t node) const;

 private:
  std::vector<std::unique_ptr<NodeProcess>> nodes_;
};

}  // namespace redlock::token_storm
