// A plugin that takes a lock, keeps it, and lets it go.
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <cstdio>
#include <mutex>

using namespace std::chrono_literals;

// 0: all went well.
extern "C" __attribute__((visibility("default"))) int plugin_work(const char* nodes) {
  auto client = redlock::Client::start({.nodes = {nodes}});
  if (!client) return std::fprintf(stderr, "plugin: %s\n", client.error().text.c_str());
  auto guard = client->guard("plugin", {.ttl = 5s, .wait = 10s});
  if (!guard) return std::fprintf(stderr, "plugin: %s\n", guard.error().text.c_str());
  if (!guard->valid() || client->acquire("plugin")) return 1;
  redlock::Mutex mutex(*client, "plugin:mutex", {.ttl = 5s});
  const std::scoped_lock held(mutex);
  return mutex.valid() && guard->release() ? 0 : 1;
}
