#include "server/shell/supervisor.h"

#include "base/text/number.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace redlock::server {

std::optional<Duration> watchdog_interval(const char* usec, const char* pid, long own_pid) {
  constexpr std::int64_t kUsecMax = Duration::max() / 1us;
  if (usec == nullptr) return std::nullopt;
  if (pid != nullptr && parse_int64(pid) != own_pid) return std::nullopt;
  const auto whole = parse_int64(usec);
  if (!whole || *whole < 1 || *whole > kUsecMax) return std::nullopt;
  return std::chrono::microseconds(*whole) / 2;
}

Supervisor::Supervisor(Settings::Supervised mode) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (mode == Settings::Supervised::no || path == nullptr) return;
  socket_ = path;
  watchdog_interval_ = server::watchdog_interval(std::getenv("WATCHDOG_USEC"),
                                                 std::getenv("WATCHDOG_PID"), getpid());
}

void Supervisor::ready(std::string_view status) const {
  send(fmt::format("READY=1\nSTATUS={}\nMAINPID={}\n", status, getpid()));
}

void Supervisor::status(std::string_view text) const {
  send(fmt::format("STATUS={}\n", text));
}

void Supervisor::stopping() const {
  send("STOPPING=1\n");
}

void Supervisor::watchdog() const {
  send("WATCHDOG=1\n");
}

void Supervisor::send(std::string_view message) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  sendto(fd, message.data(), message.size(), MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address), size);
  close(fd);
}

}  // namespace redlock::server
