// Where a socket is: a host and a port, or the path of a unix socket.
#pragma once

#include <redlock/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>

namespace redlock::net {

// The longest path of a unix socket; the system's structure holds that and a final 0.
inline constexpr std::size_t kUnixPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

struct Address {
  std::string host;  // a name or a numeric address; for a unix socket its path, which starts with /
  std::uint16_t port = 0;

  bool is_unix() const { return host.starts_with('/'); }
  // "127.0.0.1:7001", "[::1]:7001", "/run/node.sock".
  std::string text() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// A numeric IPv4 or IPv6 address ("*" is every IPv4 one, "::*" and "::" every IPv6 one) as the
// system wants it. Fails for names: those need a resolver.
Result<sockaddr_storage> numeric_socket_address(const Address& address);

// A longer path would be cut, and another file take its place.
Status check_unix_path(std::string_view path);

Address address_of(const sockaddr* raw);
bool is_loopback(const sockaddr* raw);

}  // namespace redlock::net
