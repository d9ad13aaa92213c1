// A command whose last moment of life cannot be mistaken: it writes the boot time into a mapped
// file, over and over. No delay of who looks at the file can falsify what stands there.
//
//   heart beat FILE    it beats, and so do a child in a session of its own and a daemon. TERM is
//                      nothing to all three.
//   heart once FILE    one beat: when it started.
//   heart root FILE    it beats alone, with all the rights of its file's owner (set-user-ID).
//   heart leaderless FILE   as root; a second thread beats, and the first has ended.
//
// FILE: for each process its pid and its last beat in nanoseconds, two numbers of 64 bits.
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <pthread.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Beats {
  std::atomic<std::int64_t> pid;
  std::atomic<std::int64_t> last;
};

std::int64_t boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void beat(Beats& beats, bool once) {
  beats.last = boot_time();
  beats.pid = getpid();
  while (!once) beats.last = boot_time();
}

void beat_below(Beats* beats) {
  if (fork() == 0) {
    setsid();
    beat(beats[1], false);
  }
  if (fork() == 0) {
    setsid();
    if (fork() == 0) beat(beats[2], false);
    _exit(0);
  }
}

[[noreturn]] void beat_in_a_thread(Beats* beats) {
  const auto beat_on = [](void* memory) -> void* {
    beat(*static_cast<Beats*>(memory), false);
    return nullptr;
  };
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, beat_on, beats) != 0) _exit(1);
  pthread_exit(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const std::string_view what = argv[1];
  const int file = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, 3 * sizeof(Beats)) != 0) return 1;
  void* memory = mmap(nullptr, 3 * sizeof(Beats), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return 1;
  auto* beats = static_cast<Beats*>(memory);
  const bool is_leaderless = what == "leaderless";
  if ((what == "root" || is_leaderless) && setresuid(geteuid(), geteuid(), geteuid()) != 0)
    return 1;
  std::signal(SIGTERM, SIG_IGN);
  if (what == "beat") beat_below(beats);
  if (is_leaderless) beat_in_a_thread(beats);
  beat(beats[0], what == "once");
  return 0;
}
