// A test of code that uses a lock, with five real nodes inside the test: no ports to choose, no
// processes to end, nothing on the disk. With the package installed CMakeLists.txt builds it, or
//
// c++ -std=c++20 testing.cpp -o testing $(pkg-config --cflags --libs redlock-client redlock-node)
#include <redlock/client.h>
#include <redlock/embedded_node.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

void check(bool holds, const std::string& what) {
  std::cout << (holds ? "ok    " : "FAILED ") << what << std::endl;
  if (!holds) std::exit(1);
}

}  // namespace

int main() {
  std::vector<redlock::EmbeddedNode> nodes;
  redlock::ClientOptions options;
  for (int i = 0; i < 5; ++i) {
    nodes.push_back(redlock::EmbeddedNode::start({}).value());
    options.nodes.push_back(nodes.back().address());
  }
  auto alice = redlock::Client::start(options).value();
  auto bob = redlock::Client::start(options).value();

  const auto lock = alice.acquire("report");
  check(bool(lock), "alice gets the lock");
  check(bob.acquire("report").error().code == redlock::ErrorCode::held, "bob does not");

  nodes[0].crash();
  nodes[1].crash();
  check(bool(alice.extend(lock.value())), "two nodes crash, alice still holds it");
  check(bool(alice.release(lock.value())), "and releases it");
  check(bool(bob.acquire("report")), "bob gets it now");

  nodes[2].crash();
  const auto refused = alice.acquire("other");
  check(!refused && refused.error().code == redlock::ErrorCode::no_quorum,
        "three of five are too many: " + refused.error().text);
}
