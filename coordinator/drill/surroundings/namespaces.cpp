#include "coordinator/drill/surroundings/namespaces.h"

#include "base/invariant.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr const char* kOwnNetwork = "/proc/thread-self/ns/net";

Failure failure_of(std::string_view deed) {
  return {fmt::format("{}: {}", deed, std::strerror(errno))};
}

// The kernel's own words for a limit would send people to look at their disk.
Failure refused_namespaces() {
  if (errno != ENOSPC) return failure_of("user namespaces are refused");
  return {"user namespaces are refused: the limit of them is reached (user.max_user_namespaces)"};
}

Status write_to_kernel(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  Status status = written ? Status(Done{}) : failure_of(path);
  if (file >= 0) close(file);
  return status;
}

}  // namespace

Status enter_own_namespaces() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return refused_namespaces();
  // Who maps a group without being privileged outside gives up setgroups(2) first.
  if (auto denied = write_to_kernel("/proc/self/setgroups", "deny"); !denied) return denied;
  auto mapped = write_to_kernel("/proc/self/uid_map", fmt::format("0 {} 1", user));
  if (!mapped) return mapped;
  return write_to_kernel("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

// unshare(2) moves the thread that calls it, so it goes there, takes hold of it, and comes back.
Result<NetworkNamespace> NetworkNamespace::make() {
  const int home = open(kOwnNetwork, O_RDONLY | O_CLOEXEC);
  if (home < 0) return failure_of(kOwnNetwork);
  if (unshare(CLONE_NEWNET) != 0) {
    const Failure failure = failure_of("a network namespace");
    close(home);
    return failure;
  }
  const int made = open(kOwnNetwork, O_RDONLY | O_CLOEXEC);
  const Failure failure = failure_of(kOwnNetwork);
  INVARIANT(setns(home, CLONE_NEWNET) == 0, "nobody is kept out of the network he came from");
  close(home);
  if (made < 0) return failure;
  return NetworkNamespace(made);
}

NetworkNamespace::~NetworkNamespace() {
  if (descriptor_ >= 0) close(descriptor_);
}

NetworkNamespace::NetworkNamespace(NetworkNamespace&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

std::string NetworkNamespace::path() const {
  return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
}

}  // namespace redlock::drill
