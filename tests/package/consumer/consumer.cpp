// The least program that uses both libraries, built from what was installed:
//
// c++ -std=c++20 consumer.cpp -o consumer $(pkg-config --cflags --libs redlock-client redlock-node)
#include <redlock/client.h>
#include <redlock/embedded_node.h>
#include <redlock/mutex.h>

#include <cstdio>
#include <mutex>

using namespace std::chrono_literals;

namespace {

int fail(const std::string& text) {
  std::fprintf(stderr, "consumer: %s\n", text.c_str());
  return 1;
}

}  // namespace

int main() {
  auto node = redlock::EmbeddedNode::start({});
  if (!node) return fail(node.error().text);
  auto client = redlock::Client::start({.nodes = {node.value().address()}});
  if (!client) return fail(client.error().text);
  const auto lock = client.value().acquire("printer", {.ttl = 5s});
  if (!lock) return fail(lock.error().text);
  const auto second = client.value().acquire("printer", {.ttl = 5s});
  if (second || second.error().code != redlock::ErrorCode::held) return fail("held by two");
  if (const auto released = client.value().release(lock.value()); !released) {
    return fail(released.error().text);
  }
  redlock::Mutex printer(client.value(), "printer", {.ttl = 5s});
  const std::scoped_lock held(printer);
  return printer.valid() ? 0 : fail("not valid");
}
