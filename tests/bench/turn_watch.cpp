// For LD_PRELOAD: how long the turns of a server's event loop are, by the CPU time of its thread.
//
// A turn is what a loop does between two waits in epoll. Time on the clock would count whatever
// else the machine ran meanwhile; the thread's own CPU time does not. The file that the environment
// variable TURN_WATCH names holds three numbers of 64 bits that a test reads and may set to 0: the
// longest turn in ns, how many turns there were, and all of their time.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Turns {
  std::atomic<std::uint64_t> longest_ns;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> total_ns;
};

Turns* open_turns() {
  static Turns nowhere{};
  const char* path = std::getenv("TURN_WATCH");
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(Turns)) != 0) return &nowhere;
  void* shared = mmap(nullptr, sizeof(Turns), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return shared == MAP_FAILED ? &nowhere : static_cast<Turns*>(shared);
}

std::uint64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void note_turn(std::uint64_t turn_ns) {
  static Turns& turns = *open_turns();
  if (turn_ns > turns.longest_ns.load(std::memory_order_relaxed)) turns.longest_ns = turn_ns;
  turns.count.fetch_add(1, std::memory_order_relaxed);
  turns.total_ns.fetch_add(turn_ns, std::memory_order_relaxed);
}

int wait(int poll, epoll_event* events, int room, int timeout_ms, const sigset_t* mask) {
  thread_local std::uint64_t woken_ns = 0;  // 0 before the first wait: the start is no turn
  if (woken_ns != 0) note_turn(thread_cpu_ns() - woken_ns);
  constexpr std::size_t kKernelMaskBytes = 8;
  const long ready =
      syscall(SYS_epoll_pwait, poll, events, room, timeout_ms, mask, kKernelMaskBytes);
  woken_ns = thread_cpu_ns();
  return static_cast<int>(ready);
}

}  // namespace

extern "C" {

int epoll_wait(int poll, epoll_event* events, int room, int timeout_ms) {
  return wait(poll, events, room, timeout_ms, nullptr);
}

int epoll_pwait(int poll, epoll_event* events, int room, int timeout_ms, const sigset_t* mask) {
  return wait(poll, events, room, timeout_ms, mask);
}
}
