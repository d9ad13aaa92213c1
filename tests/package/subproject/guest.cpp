// guest NODES: a program of a project that builds redlock itself; takes a lock and lets it go.
#include <redlock/guard.h>
#if __has_include(<redlock/embedded_node.h>)
#include <redlock/embedded_node.h>
#endif

#include <cstdio>

#if __has_include("base/time.h") || __has_include("coordinator/group/group.h")
#error "headers of redlock's inside can be seen"
#endif

using namespace std::chrono_literals;

namespace {

int work(const char* nodes) {
  auto client = redlock::Client::start({.nodes = {nodes}});
  if (!client) return std::fprintf(stderr, "guest: %s\n", client.error().text.c_str());
  auto guard = client->guard("guest", {.ttl = 5s, .wait = 10s});
  if (!guard) return std::fprintf(stderr, "guest: %s\n", guard.error().text.c_str());
  return guard->valid() && guard->release() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
#if __has_include(<redlock/embedded_node.h>)
  const auto node = redlock::EmbeddedNode::start({});
  if (!node || work(node->address().c_str()) != 0) return 1;
#endif
  return argc == 2 ? work(argv[1]) : 64;
}
