#include "base/net/sockets/address.h"

#include "base/text/printable.h"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>

#include <fmt/format.h>

namespace redlock::net {
namespace {

// sockaddr is a family of layouts behind one pointer type: copying is the portable way to look.
template <class Layout>
Layout copied(const sockaddr* raw) {
  Layout layout{};
  std::memcpy(&layout, raw, sizeof layout);
  return layout;
}

template <class Layout>
sockaddr_storage stored(const Layout& layout) {
  sockaddr_storage storage{};
  std::memcpy(&storage, &layout, sizeof layout);
  return storage;
}

}  // namespace

std::string Address::text() const {
  if (is_unix()) return host;
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<sockaddr_storage> numeric_socket_address(const Address& address) {
  sockaddr_in v4{};
  const std::string v4_host = address.host == "*" ? "0.0.0.0" : address.host;
  if (inet_pton(AF_INET, v4_host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    return stored(v4);
  }
  sockaddr_in6 v6{};
  const std::string v6_host = address.host == "::*" ? "::" : address.host;
  if (inet_pton(AF_INET6, v6_host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    return stored(v6);
  }
  return Failure{fmt::format("'{}' is not a numeric address", printable(address.host))};
}

Status check_unix_path(std::string_view path) {
  if (path.size() <= kUnixPathBytesMax) return Done{};
  return Failure{fmt::format("the path of a unix socket has at most {} bytes, and {} has {}",
                             kUnixPathBytesMax, printable(path), path.size())};
}

Address address_of(const sockaddr* raw) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (raw->sa_family == AF_INET) {
    const auto v4 = copied<sockaddr_in>(raw);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4.sin_port)};
  }
  if (raw->sa_family == AF_INET6) {
    const auto v6 = copied<sockaddr_in6>(raw);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return {text.data(), ntohs(v6.sin6_port)};
  }
  return {};
}

bool is_loopback(const sockaddr* raw) {
  if (raw->sa_family == AF_UNIX) return true;
  if (raw->sa_family == AF_INET) {
    const auto v4 = copied<sockaddr_in>(raw);
    return (ntohl(v4.sin_addr.s_addr) >> 24) == 127;
  }
  if (raw->sa_family != AF_INET6) return false;
  const auto v6 = copied<sockaddr_in6>(raw);
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) return v6.sin6_addr.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) != 0;
}

}  // namespace redlock::net
