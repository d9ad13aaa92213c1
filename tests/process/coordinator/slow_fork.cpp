// A machine on which forking takes long, for a program that is started with this library in
// LD_PRELOAD: its first fork comes back SLOW_FORK_MS later, in the parent.
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>

extern "C" pid_t fork() {
  static bool is_first = true;
  const pid_t pid = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "fork"))();
  const char* milliseconds = std::getenv("SLOW_FORK_MS");
  if (pid <= 0 || milliseconds == nullptr || !is_first) return pid;
  is_first = false;
  const long wait = std::strtol(milliseconds, nullptr, 10);
  const timespec pause{.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
  return pid;
}
