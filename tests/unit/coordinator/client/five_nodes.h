// Five nodes inside this process, and what a test does to them. Any thread may make some: value()
// checks without Catch2, whose assertions belong to one thread.
#pragma once

#include "tests/process/ports.h"
#include <redlock/client.h>
#include <redlock/embedded_node.h>

#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <vector>

namespace redlock {

// Where five nodes listen. A port that a node of ours has left, as by a crash, is nobody else's: a
// node of another test that answered there would vote. Rows are used again.
class FivePorts {
 public:
  FivePorts() {
    const std::scoped_lock lock(mutex);
    if (unused.empty()) unused.push_back(reserve_ports(5));
    first_ = unused.back();
    unused.pop_back();
  }
  ~FivePorts() {
    const std::scoped_lock lock(mutex);
    unused.push_back(first_);
  }
  FivePorts(const FivePorts&) = delete;
  FivePorts& operator=(const FivePorts&) = delete;

  std::uint16_t operator[](int i) const { return static_cast<std::uint16_t>(first_ + i); }

 private:
  inline static std::mutex mutex;
  inline static std::vector<std::uint16_t> unused;
  std::uint16_t first_;
};

class FiveNodes {
 public:
  FiveNodes() {
    for (int i = 0; i < 5; ++i) {
      nodes_.push_back(EmbeddedNode::start({.port = ports_[i]}).value());
    }
  }

  ClientOptions options() const {
    ClientOptions options;
    for (const EmbeddedNode& node : nodes_) options.nodes.push_back(node.address());
    return options;
  }
  Client client() const { return Client::start(options()).value(); }
  void crash(std::initializer_list<std::size_t> which) {
    for (const std::size_t i : which) nodes_[i].crash();
  }

 private:
  FivePorts ports_;  // until the nodes are gone
  std::vector<EmbeddedNode> nodes_;
};

}  // namespace redlock
