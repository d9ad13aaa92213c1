#include "tests/process/ports.h"

#include "base/invariant.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock {
namespace {

// Below those of `redlock drill`, and of those that the kernel gives to clients.
constexpr int kFirst = 10'000;
constexpr int kCount = 2'000;

bool bind_to(int fd, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

// A server that is no test's may have it.
bool is_unserved(std::uint16_t port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = bind_to(probe, port);
  close(probe);
  return bound;
}

// Whether it is this process's now; the socket stays open on purpose.
bool hold(std::uint16_t port) {
  const int namesake = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (bind_to(namesake, port) && is_unserved(port)) return true;
  close(namesake);
  return false;
}

}  // namespace

std::uint16_t reserve_ports(int count) {
  int row = 0;
  for (int i = 0; i < 2 * kCount; ++i) {
    const int place = (getpid() + i) % kCount;
    if (place == 0) row = 0;
    const auto port = static_cast<std::uint16_t>(kFirst + place);
    row = hold(port) ? row + 1 : 0;
    if (row == count) return static_cast<std::uint16_t>(port - count + 1);
  }
  INVARIANT(false, "no free ports in a row");
  return 0;
}

}  // namespace redlock
