#include "base/net/turn/background_task.h"

#include "base/net/turn/timer.h"

#include <atomic>
#include <csignal>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

TEST_CASE("the work runs on another thread, then on_done on the loop") {
  Loop loop;
  std::thread::id worker;
  std::thread::id told;
  BackgroundTask task(
      loop, [&] { worker = std::this_thread::get_id(); },
      [&] { told = std::this_thread::get_id(); });
  loop.run();  // ends by itself: nothing else keeps it alive
  CHECK(worker != std::this_thread::get_id());
  CHECK(worker != std::thread::id());
  CHECK(told == std::this_thread::get_id());
}

TEST_CASE("the loop runs on while the work is under way") {
  Loop loop;
  std::atomic<bool> may_end = false;
  bool done = false;
  Timer timer(loop, ClockKind::monotonic, [&] {
    may_end = true;
    may_end.notify_one();
  });
  timer.set(read_clock(ClockKind::monotonic) + 1ms);
  BackgroundTask task(
      loop, [&] { may_end.wait(false); },
      [&] {
        done = true;
        loop.stop();
      });
  loop.run();
  CHECK(done);
}

TEST_CASE("a task that nobody waits for any more is waited for, and tells nobody") {
  Loop loop;
  bool worked = false;
  bool told = false;
  {
    const BackgroundTask task(
        loop, [&] { worked = true; }, [&] { told = true; });
  }
  CHECK(worked);
  loop.run();
  CHECK_FALSE(told);
}

TEST_CASE("no signal is handled on the task's thread, but for its own faults") {
  Loop loop;
  sigset_t mask;
  sigemptyset(&mask);
  BackgroundTask task(
      loop, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }, [] {});
  loop.run();
  CHECK(sigismember(&mask, SIGTERM) == 1);
  CHECK(sigismember(&mask, SIGCHLD) == 1);
  for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP}) {
    CHECK(sigismember(&mask, fault) == 0);
  }
}
