// Five nodes inside this process, and what a test does to them. Any thread may make some: value()
// checks without Catch2, whose assertions belong to one thread.
#pragma once

#include <redlock/client.h>
#include <redlock/embedded_node.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace redlock {

class FiveNodes {
 public:
  FiveNodes() {
    for (int i = 0; i < 5; ++i) nodes_.push_back(EmbeddedNode::start({}).value());
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
  std::vector<EmbeddedNode> nodes_;
};

}  // namespace redlock
