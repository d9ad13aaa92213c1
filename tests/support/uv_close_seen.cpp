// libuv closes a descriptor by the bare system call, which ThreadSanitizer does not see: it would
// take the next descriptor of the same number for the same one, and its users on other threads for
// a race. Builds for it put this in the place of uv__close (the linker's --wrap).
#include <cerrno>
#include <unistd.h>

extern "C" int __wrap_uv__close(int fd);

extern "C" int __wrap_uv__close(int fd) {
  const int before = errno;
  const int result = close(fd) == 0 || errno == EINTR ? 0 : -errno;
  errno = before;
  return result;
}
