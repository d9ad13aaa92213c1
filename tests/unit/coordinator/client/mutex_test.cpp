#include "tests/unit/coordinator/client/five_nodes.h"
#include <redlock/mutex.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <thread>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace std::chrono_literals;

namespace {

// Notices when two are inside at once.
class Room {
 public:
  void visit() {
    if (++inside_ != 1) ++overlaps_;
    ++visits_;
    --inside_;
  }
  int overlaps() const { return overlaps_; }
  int visits() const { return visits_; }

 private:
  std::atomic<int> inside_ = 0;
  std::atomic<int> overlaps_ = 0;
  std::atomic<int> visits_ = 0;
};

// Threads go in and out for so long, each under the mutex that `mutex_of` names for it.
template <class MutexOf>
void crowd(Room& room, int size, std::chrono::seconds length, MutexOf mutex_of) {
  const auto end = std::chrono::steady_clock::now() + length;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    threads.emplace_back([&, i] {
      while (std::chrono::steady_clock::now() < end) {
        const std::lock_guard lock(mutex_of(i));
        room.visit();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("a mutex works with the standard's locks") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Mutex printer(client, "printer");
  {
    const std::lock_guard lock(printer);
    CHECK(printer.valid());
    CHECK(printer.token() > 0);
    CHECK(client.acquire("printer").error().code == ErrorCode::held);
  }
  {
    std::unique_lock lock(printer, 15s);
    CHECK(lock.owns_lock());
    lock.unlock();
    CHECK(lock.try_lock_until(std::chrono::system_clock::now() + 15s));
  }
  Mutex scanner(client, "scanner");
  const std::scoped_lock both(printer, scanner);
  CHECK(scanner.valid());
}

TEST_CASE("a mutex that another has is tried for no longer than it is told to") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Mutex mine(client, "printer");
  Mutex theirs(client, "printer");
  const std::lock_guard lock(theirs);
  CHECK_FALSE(mine.try_lock());
  CHECK_FALSE(mine.try_lock_for(20ms));
  std::thread([&] { CHECK_FALSE(theirs.try_lock()); }).join();
}

TEST_CASE("sixteen threads, one mutex: never two inside", "[contention]") {
  const FiveNodes nodes;
  Client client = nodes.client();
  Mutex mutex(client, "printer");
  Room room;
  crowd(room, 16, 10s, [&](int) -> Mutex& { return mutex; });
  CHECK(room.overlaps() == 0);
  CHECK(room.visits() > 500);  // a turn waits for the release before it, not for a retry
}

TEST_CASE("sixteen threads of four clients, a mutex each: never two inside", "[contention]") {
  const FiveNodes nodes;
  std::vector<Client> clients;
  clients.reserve(4);
  for (int i = 0; i < 4; ++i) clients.push_back(nodes.client());
  std::deque<Mutex> mutexes;
  for (std::size_t i = 0; i < 16; ++i) mutexes.emplace_back(clients[i % 4], "printer");
  Room room;
  crowd(room, 16, 3s, [&](int i) -> Mutex& { return mutexes[static_cast<std::size_t>(i)]; });
  CHECK(room.overlaps() == 0);
  CHECK(room.visits() > 0);
}
