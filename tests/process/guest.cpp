// A program in which a client of locks is a guest, for test_guest.py.
//
//   guest fork ADDRESS …      forks with a static client that keeps a lock; child and parent go on
//   guest exit ADDRESS …      calls exit() in a callback of a static client
//   guest route ADDRESS …     keeps a lock until it is lost, then acquires it again
//   guest soak SECONDS SEED ADDRESS …
//                             random threads start, use, cancel, fork, exit and destroy clients,
//                             guards and mutexes; every callback is counted
//
// Exit 0: all went as it must. Else a line on standard error says what did not.
#include <redlock/client.h>
#include <redlock/guard.h>
#include <redlock/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

bool is_forked_child = false;

}  // namespace

// LeakSanitizer asks this at the end. In a forked child it would look through the parent's threads,
// which are not there, and take what only their stacks led to for lost.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() {
  return is_forked_child ? 1 : 0;
}

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_THREAD__)
constexpr bool kChildMayHaveThreads = false;  // ThreadSanitizer ends it
#else
constexpr bool kChildMayHaveThreads = true;
#endif
// A thread that is not there in the child may hold a mutex of the sanitizer's allocator, which, as
// glibc's does not, stays locked: the child hangs at its first allocation.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kForksAmidAllocations = false;
#else
constexpr bool kForksAmidAllocations = true;
#endif

std::optional<Client> static_client;
Guard static_guard;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "guest: %s\n", what.c_str());
  std::_Exit(1);
}

void want(bool condition, const std::string& what) {
  if (!condition) fail(what);
}

pid_t fork_child() {
  const pid_t child = fork();
  if (child == 0) is_forked_child = true;
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  want(waitpid(child, &status, 0) == child, "no child to wait for");
  return status;
}

int fork_and_go_on(const ClientOptions& options) {
  std::atomic<bool> lost = false;
  static_client = Client::start(options).value();
  static_guard =
      static_client->guard("printer", {.ttl = 600ms, .on_loss = [&](const Error&) { lost = true; }})
          .value();
  for (const bool returns : {true, false}) {
    const pid_t child = fork_child();
    if (child == 0) {
      want(!static_guard.valid(), "a lock is valid in a child");
      want(static_guard.validity_left() == 0ns, "a lock has validity in a child");
      want(static_guard.lock().name == "printer", "a child forgets the lock's name");
      want(static_client->acquire("scanner").error().code == ErrorCode::stopped,
           "a child acquires by its parent's client");
      want(static_guard.release().error().code == ErrorCode::stopped, "a child releases");
      static_client->acquire("scanner", {}, [](const auto&) { fail("a callback in a child"); });
      static_client->cancel(1);
      if (kChildMayHaveThreads) {
        const Guard moved = std::move(static_guard);
        Client own = Client::start(options).value();
        want(own.acquire("printer").error().code == ErrorCode::held,
             "the lock is not the parent's");
        want(static_cast<bool>(own.acquire("plotter", {.ttl = 1s, .wait = 5s})),
             "a child has no client of its own");
      }
      if (returns) return 0;
      std::exit(0);
    }
    want(status_of(child) == 0, "the child did not end well");
  }
  const auto end = Clock::now() + 1500ms;
  while (Clock::now() < end) {
    want(static_guard.valid() && !lost, "the parent's lock was lost");
    std::this_thread::sleep_for(1ms);
  }
  want(static_cast<bool>(static_guard.release()), "the parent cannot release");
  return 0;
}

int exit_in_a_callback(const ClientOptions& options) {
  static_client = Client::start(options).value();
  static_guard = static_client->guard("printer", {}).value();
  static_client->holder("printer", [](const auto&) { std::exit(0); });
  std::this_thread::sleep_for(20s);
  return 1;
}

// The route to the nodes goes meanwhile, and comes back.
int keep_until_lost(const ClientOptions& options) {
  std::promise<void> lost;
  Client client = Client::start(options).value();
  const auto guard =
      client.guard("printer", {.ttl = 1s, .on_loss = [&](const Error&) { lost.set_value(); }});
  want(static_cast<bool>(guard), guard.error().text);
  std::puts("ready");
  std::fflush(stdout);
  lost.get_future().wait();
  want(!guard.value().valid(), "a lost lock is valid");
  const auto again = client.acquire("printer", {.ttl = 1s, .wait = 60s});
  want(static_cast<bool>(again), again.error().text);
  std::puts("again");
  return 0;
}

// Callbacks that are due, and that came.
class Books {
 public:
  // A callback that comes exactly once, and what it does then.
  template <class T, class Then>
  Client::Callback<T> once(Then then) {
    ++begun_;
    return [this, then, times = std::make_shared<std::atomic<int>>(0)](Result<T, Error> result) {
      want(++*times == 1, "a callback came twice");
      then(std::move(result));
      ++came_;
    };
  }
  void settle() const { want(begun_ == came_, "callbacks did not come: " + text()); }
  std::string text() const {
    return std::to_string(came_.load()) + " of " + std::to_string(begun_.load());
  }

 private:
  std::atomic<std::uint64_t> begun_ = 0;
  std::atomic<std::uint64_t> came_ = 0;
};

// One thread's work with one client.
class Worker {
 public:
  Worker(Client& client, Books& books, std::uint64_t seed)
      : client_(client), books_(books), random_(seed) {}

  void work(int steps) {
    for (int i = 0; i < steps; ++i) step();
    guards_.clear();
  }

 private:
  std::string name() { return "lock-" + std::to_string(random_() % 20); }
  std::chrono::nanoseconds ttl() { return std::chrono::milliseconds(200 + random_() % 2000); }
  AcquireOptions wish() {
    return {.ttl = ttl(), .wait = std::chrono::milliseconds(random_() % 50)};
  }

  void step() {
    switch (random_() % 10) {
      case 0:
        if (auto got = client_.acquire(name(), wish())) {
          static_cast<void>(client_.extend(got.value()));
          static_cast<void>(client_.release(got.value()));
        }
        return;
      case 1:
        client_.acquire(name(), wish(), books_.once<Lock>([](const auto&) {}));
        return;
      case 2:
        client_.cancel(client_.acquire(name(), {.ttl = ttl(), .wait = std::nullopt},
                                       books_.once<Lock>([](const auto&) {})));
        return;
      case 3:
        if (auto got = client_.guard(name(), {.ttl = ttl(), .wait = 10ms})) {
          guards_.push_back(std::move(got).value());
        }
        return;
      case 4:
        if (!guards_.empty()) guards_.pop_back();
        return;
      case 5:
        if (!guards_.empty()) static_cast<void>(guards_.back().release());
        return;
      case 6:
        static_cast<void>(client_.holder(name()));
        return;
      case 7: {
        Mutex mutex(client_, name(), {.ttl = ttl()});
        if (mutex.try_lock_for(5ms)) mutex.unlock();
        return;
      }
      case 8:
        client_.guard(name(), {.ttl = ttl(), .wait = 10ms},
                      books_.once<Guard>([](const Result<Guard, Error>&) {}));
        return;
      default:
        for (const Guard& guard : guards_) static_cast<void>(guard.valid());
    }
  }

  Client& client_;
  Books& books_;
  std::mt19937_64 random_;
  std::vector<Guard> guards_;
};

void fork_a_child(const ClientOptions& options, std::optional<Client>& client, bool uses_own) {
  const pid_t child = fork_child();
  if (child == 0) {
    alarm(30);
    if (client) want(!client->acquire("lock-1"), "a child acquires");
    client.reset();
    if (uses_own && kChildMayHaveThreads) {
      if (auto own = Client::start(options)) static_cast<void>(own.value().acquire("lock-2"));
    }
    std::_Exit(0);
  }
  want(status_of(child) == 0, "a child did not end well");
}

int soak(std::chrono::seconds length, std::uint64_t seed, ClientOptions options) {
  std::mt19937_64 random(seed);
  const auto end = Clock::now() + length;
  std::uint64_t rounds = 0;
  for (; Clock::now() < end; ++rounds) {
    options.node_timeout = std::chrono::milliseconds(50 + random() % 500);
    Books books;
    std::optional<Client> client;
    auto started = Client::start(options);
    if (!started) {
      want(started.error().code == ErrorCode::system, started.error().text);
      continue;
    }
    client.emplace(std::move(started).value());
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back(
            [&client, &books, begin = random()] { Worker(*client, books, begin).work(30); });
      }
      if (kForksAmidAllocations && random() % 4 == 0) {
        fork_a_child(options, client, random() % 2 == 0);
      }
    }
    const auto before = Clock::now();
    if (random() % 4 == 0) {  // it ends in a callback of its own
      std::promise<void> gone;
      client->holder("lock-1", books.once<std::optional<Holder>>([&](const auto&) {
        client.reset();
        gone.set_value();
      }));
      gone.get_future().wait();
      std::this_thread::sleep_for(20ms);  // its last callback is at its end
    } else {
      client.reset();
    }
    want(Clock::now() - before < options.node_timeout + 1s, "the client's end took too long");
    books.settle();
  }
  std::printf("%llu clients\n", static_cast<unsigned long long>(rounds));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  ClientOptions options;
  const std::size_t first = !words.empty() && words[0] == "soak" ? 3 : 1;
  for (std::size_t i = first; i < words.size(); ++i) options.nodes.push_back(words[i]);
  if (words.empty() || options.nodes.empty()) return 64;
  if (words[0] == "fork") return fork_and_go_on(options);
  if (words[0] == "exit") return exit_in_a_callback(options);
  if (words[0] == "route") return keep_until_lost(options);
  return soak(std::chrono::seconds(std::stol(words[1])), std::stoull(words[2]), options);
}
