// A disk that is slow, or broken, for a program that is started with this library in LD_PRELOAD.
//
//   SLOW_DISK_MS   how long each fdatasync and fsync takes
//   SLOW_DISK_FAILS=1   each fails with EIO after that
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>

namespace {

int flush(const char* name, int fd) {
  const char* milliseconds = std::getenv("SLOW_DISK_MS");
  const long wait = milliseconds != nullptr ? std::strtol(milliseconds, nullptr, 10) : 0;
  const timespec pause{.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
  if (std::getenv("SLOW_DISK_FAILS") != nullptr) {
    errno = EIO;
    return -1;
  }
  return reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, name))(fd);
}

}  // namespace

extern "C" int fdatasync(int fd) {
  return flush("fdatasync", fd);
}

extern "C" int fsync(int fd) {
  return flush("fsync", fd);
}
