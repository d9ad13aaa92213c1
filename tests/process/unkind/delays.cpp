// A machine that takes its time: system calls of a program that is started with this library in
// LD_PRELOAD come back late, each by a random time, before or after it did its work. Most by
// nothing or some microseconds, one in a few hundred by tens of milliseconds: as on a machine with
// more to do than it can, where a process may lose the processor at any call.
//
//   UNKIND_SEED   where its random numbers begin, in each process elsewhere
//
// Programs of others (python, sh) run as ever. What is not slowed: calls from within libc, as
// printf's, and those by syscall(2), as a timer's setting.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <poll.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr std::array<std::string_view, 4> kSlowed = {"redlock", "client_test", "wait_times",
                                                     "guest"};
constexpr std::uint64_t kBits = 13;        // less than 2^12 µs, about 4 ms; mostly far less
constexpr std::uint64_t kRareOneIn = 400;  // is long
constexpr std::uint64_t kRareMostUs = 50'000;

bool is_slowed = false;
std::uint64_t seed = 0;
std::atomic<std::uint64_t> calls{0};

__attribute__((constructor)) void begin() {
  const std::string_view name = program_invocation_short_name;
  for (const std::string_view slowed : kSlowed) is_slowed |= name.starts_with(slowed);
  const char* given = std::getenv("UNKIND_SEED");
  seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
}

// SplitMix64, of the seed, the process and the number of the call.
std::uint64_t draw() {
  const auto process = static_cast<std::uint64_t>(getpid()) << 40;
  std::uint64_t z = (seed * 0x9e3779b97f4a7c15 ^ process) + ++calls * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

void wait_a_while(std::uint64_t drawn) {
  std::uint64_t us = 0;
  if (drawn % kRareOneIn == 0) {
    us = (drawn >> 20) % kRareMostUs;
  } else if ((drawn >> 10 & 1) == 0) {
    us = (drawn >> 20) % (std::uint64_t{1} << (drawn >> 12) % kBits);
  }
  if (us == 0) return;
  const int error = errno;
  const timespec pause{.tv_sec = 0, .tv_nsec = static_cast<long>(us * 1000)};
  nanosleep(&pause, nullptr);
  errno = error;
}

// Also after a fork in a process with threads: nothing here allocates, once the call was found.
template <class Function, class... Arguments>
auto slowed(std::atomic<Function>& found, const char* name, Arguments... arguments) {
  if (found == nullptr) found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  const std::uint64_t drawn = is_slowed ? draw() : 0;
  const bool is_before = (drawn >> 60 & 1) != 0;
  if (is_slowed && is_before) wait_a_while(drawn);
  const auto result = found.load()(arguments...);
  if (is_slowed && !is_before) wait_a_while(drawn);
  return result;
}

}  // namespace

#define SLOWED(result, name, parameters, ...)                 \
  extern "C" result name parameters {                         \
    static constinit std::atomic<result(*) parameters> found; \
    return slowed(found, #name, __VA_ARGS__);                 \
  }

SLOWED(ssize_t, read, (int fd, void* bytes, size_t count), fd, bytes, count)
SLOWED(ssize_t, write, (int fd, const void* bytes, size_t count), fd, bytes, count)
SLOWED(ssize_t, readv, (int fd, const iovec* pieces, int count), fd, pieces, count)
SLOWED(ssize_t, writev, (int fd, const iovec* pieces, int count), fd, pieces, count)
SLOWED(ssize_t, pwrite, (int fd, const void* bytes, size_t count, off_t at), fd, bytes, count, at)
SLOWED(ssize_t, send, (int fd, const void* bytes, size_t count, int flags), fd, bytes, count, flags)
SLOWED(ssize_t, sendto,
       (int fd, const void* bytes, size_t count, int flags, const sockaddr* to, socklen_t length),
       fd, bytes, count, flags, to, length)
SLOWED(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), fd, message, flags)
SLOWED(ssize_t, recv, (int fd, void* bytes, size_t count, int flags), fd, bytes, count, flags)
SLOWED(ssize_t, recvfrom,
       (int fd, void* bytes, size_t count, int flags, sockaddr* from, socklen_t* length), fd, bytes,
       count, flags, from, length)
SLOWED(ssize_t, recvmsg, (int fd, msghdr* message, int flags), fd, message, flags)
SLOWED(int, connect, (int fd, const sockaddr* to, socklen_t length), fd, to, length)
SLOWED(int, accept4, (int fd, sockaddr* from, socklen_t* length, int flags), fd, from, length,
       flags)
SLOWED(int, poll, (pollfd * files, nfds_t count, int timeout), files, count, timeout)
SLOWED(int, epoll_wait, (int fd, epoll_event* events, int most, int timeout), fd, events, most,
       timeout)
SLOWED(int, epoll_pwait, (int fd, epoll_event* events, int most, int timeout, const sigset_t* mask),
       fd, events, most, timeout, mask)
SLOWED(int, fdatasync, (int fd), fd)
SLOWED(int, fsync, (int fd), fd)
SLOWED(int, waitid, (idtype_t type, id_t id, siginfo_t* change, int options), type, id, change,
       options)
