// For LD_PRELOAD: how long the turns of a server's event loop are, by the CPU time of its thread.
//
// A turn is what a loop does between two waits in epoll. Time on the clock would count whatever
// else the machine ran meanwhile; the thread's own CPU time does not. But the host of a virtual
// machine takes cores away without a word, and that counts as CPU time of whoever was running: a
// program that only spins sees a millisecond missing every other second. So a timer shall interrupt
// the thread, in the kernel too, after each 200 µs of a turn: where it ran, it was interrupted
// within microseconds; where the core was away, the interruption came late, or not at all. A turn
// is told as 200 µs for each one in time and 200 µs more, or as its CPU time where that is less.
//
// The file that the environment variable TURN_WATCH names holds four numbers of 64 bits that a test
// reads and may set to 0: the longest turn in ns, how many turns there were, all of their CPU time,
// and how many could not be told from the machine's pauses, as the kernel gave no such timer.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Turns {
  std::atomic<std::uint64_t> longest_ns;
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> total_ns;
  std::atomic<std::uint64_t> without_ticks;
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

// A timer of this thread's: perf's samples by the CPU clock. See perf_event_open(2). Each holds for
// how long the event has counted when it was taken; the time of other threads does not count.
class Ticks {
 public:
  static constexpr std::uint64_t kPeriodNs = 200'000;

  Ticks() {
    perf_event_attr asked{};
    asked.size = sizeof asked;
    asked.type = PERF_TYPE_SOFTWARE;
    asked.config = PERF_COUNT_SW_CPU_CLOCK;
    asked.sample_period = kPeriodNs;
    asked.sample_type = PERF_SAMPLE_READ;
    const long event =
        syscall(SYS_perf_event_open, &asked, 0, -1, -1, static_cast<long>(PERF_FLAG_FD_CLOEXEC));
    if (event < 0) return;
    event_ = static_cast<int>(event);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* shared = mmap(nullptr, page + kDataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event_, 0);
    if (shared == MAP_FAILED) return;
    ring_ = static_cast<perf_event_mmap_page*>(shared);
    data_ = static_cast<const char*>(shared) + page;
  }

  bool can_tell() const { return ring_ != nullptr; }

  // The next tick is due a period from now.
  void begin() {
    ioctl(event_, PERF_EVENT_IOC_RESET, 0);
    ioctl(event_, PERF_EVENT_IOC_PERIOD, &kPeriodNs);
    ring_->data_tail = __atomic_load_n(&ring_->data_head, __ATOMIC_ACQUIRE);
  }

  // Those since begin() that came when they were due.
  std::uint64_t in_time() const {
    const std::uint64_t head = __atomic_load_n(&ring_->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t count = 0;
    for (std::uint64_t at = ring_->data_tail; at < head; at += sizeof(Sample)) {
      Sample sample;  // its size divides the ring's
      std::memcpy(&sample, data_ + at % kDataBytes, sizeof sample);
      count += sample.counted_ns % kPeriodNs < kLateNs;
    }
    return count;
  }

 private:
  struct Sample {
    perf_event_header header;
    std::uint64_t counted_ns;
  };

  // An interruption waits for the kernel's sections without any, which are shorter.
  static constexpr std::uint64_t kLateNs = 40'000;
  static constexpr std::size_t kDataBytes = 64 * 4096;
  static_assert(kDataBytes % sizeof(Sample) == 0);

  int event_ = -1;
  perf_event_mmap_page* ring_ = nullptr;
  const char* data_ = nullptr;
};

// From one wait to the next.
class Turn {
 public:
  void begin() {
    if (ticks_.can_tell()) ticks_.begin();
    woken_ns_ = thread_cpu_ns();
  }

  void end() {
    if (woken_ns_ == 0) return;  // before the first wait: the start is no turn
    static Turns& turns = *open_turns();
    const std::uint64_t cpu_ns = thread_cpu_ns() - woken_ns_;
    std::uint64_t own_ns = cpu_ns;
    if (ticks_.can_tell()) {
      own_ns = std::min(cpu_ns, (ticks_.in_time() + 1) * Ticks::kPeriodNs);
    } else {
      turns.without_ticks.fetch_add(1, std::memory_order_relaxed);
    }
    if (own_ns > turns.longest_ns.load(std::memory_order_relaxed)) turns.longest_ns = own_ns;
    turns.count.fetch_add(1, std::memory_order_relaxed);
    turns.total_ns.fetch_add(cpu_ns, std::memory_order_relaxed);
  }

 private:
  Ticks ticks_;
  std::uint64_t woken_ns_ = 0;
};

int wait(int poll, epoll_event* events, int room, int timeout_ms, const sigset_t* mask) {
  thread_local Turn turn;
  turn.end();
  constexpr std::size_t kKernelMaskBytes = 8;
  const long ready =
      syscall(SYS_epoll_pwait, poll, events, room, timeout_ms, mask, kKernelMaskBytes);
  turn.begin();
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
