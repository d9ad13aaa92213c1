// Namespaces of our own: how a drill gets a network that it may cut, without being root
// (user_namespaces(7)). In one's own user namespace one is root over what was made in it, and over
// nothing else.
#pragma once

#include <redlock/result.h>

#include <string>

namespace redlock::drill {

// From here on this process, and what it starts, is root in a user namespace of its own, in a
// network namespace of its own that has nothing but a loopback. As `unshare -Urn`. Fails where the
// system forbids it, with what it said.
//
// REQUIRES: the process has no other thread yet; the kernel refuses it else.
Status enter_own_namespaces();

// A network without anything in it, for processes that are started in it
// (ProcessCommand::network_namespace). It is gone when this object and the last such process are.
class NetworkNamespace {
 public:
  // REQUIRES: enter_own_namespaces() succeeded.
  static Result<NetworkNamespace> make();
  ~NetworkNamespace();
  NetworkNamespace(NetworkNamespace&& other) noexcept;
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(NetworkNamespace&&) = delete;

  int descriptor() const { return descriptor_; }
  // As ip(8) takes it: valid as long as this object lives.
  std::string path() const;

 private:
  explicit NetworkNamespace(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace redlock::drill
