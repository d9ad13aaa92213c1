// A program that is built with ThreadSanitizer around libraries that are not, as its users' are:
// whatever threads hand each other through the client must not look like a race.
//
// Exit 0: all went as it must. ThreadSanitizer has its own exit status for what it finds.
#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 30;

void want(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "instrumented_guest: %s\n", what);
  std::_Exit(1);
}

// What a callback captures is written by this thread, and read and ended by the client's.
void call_back(Client& client, const std::string& name) {
  auto notes = std::make_unique<std::map<std::string, int>>();
  (*notes)[name] = 1;
  std::promise<int> told;
  client.acquire(name, {.ttl = 1s, .wait = 5s},
                 [notes = std::move(notes), &told, &client, name](const Result<Lock, Error>& got) {
                   ++(*notes)[name];
                   if (got) client.release(got.value(), {});
                   told.set_value((*notes)[name]);
                 });
  want(told.get_future().get() == 2, "a callback found something else");
}

void keep(Client& client, const std::string& name) {
  auto seen = std::make_shared<std::string>("kept");
  const auto note = [seen](const auto&) { seen->append("!"); };
  auto guard = client.guard(name, {.ttl = 60ms, .wait = 5s, .on_loss = note, .on_extended = note});
  want(static_cast<bool>(guard), "no guard");
  const std::stop_token lost = guard->lost();
  std::jthread works([&guard] {
    for (int i = 0; i < 100; ++i) static_cast<void>(guard->valid());
  });
  std::this_thread::sleep_for(30ms);
  works.join();
  static_cast<void>(guard->release());
  static_cast<void>(lost.stop_requested());
}

void work(Client& client, Mutex& mutex, int& shared, int thread) {
  for (int round = 0; round < kRounds; ++round) {
    const std::string own = "lock-" + std::to_string(thread);
    call_back(client, own);
    if (auto got = client.acquire("shared", {.ttl = 1s, .wait = 5s})) {
      static_cast<void>(client.extend(got.value()));
      static_cast<void>(client.release(got.value()));
    }
    client.cancel(client.acquire("shared", {.wait = std::nullopt}, [own](const auto&) {}));
    if (round % 10 == 0) keep(client, own);
    {
      const std::lock_guard lock(mutex);
      ++shared;  // what a mutex protects is no race
    }
    static_cast<void>(client.figures());
  }
}

}  // namespace

int main() {
  const FiveNodes nodes;
  auto lines = std::make_unique<std::vector<std::string>>();
  int shared = 0;
  {
    ClientOptions options = nodes.options();
    options.log = [&lines](Severity, std::string_view line) { lines->emplace_back(line); };
    Client client = Client::start(options).value();
    Mutex mutex(client, "mutex", {.ttl = 10s});
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { work(client, mutex, shared, i); });
    }
  }
  want(!lines->empty(), "no line of the log");
  want(shared == kThreads * kRounds, "two threads held a mutex at once");
  return 0;
}
