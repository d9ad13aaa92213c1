// A node as people name it: redis://[user:password@]host[:port], the same with rediss:// for TLS,
// or unix://[user:password@]/path.
#pragma once

#include "base/net/sockets/address.h"
#include "coordinator/link/link.h"
#include <redlock/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace redlock::coordinator {

inline constexpr std::uint16_t kDefaultPort = 6379;

struct NodeAddress {
  net::Address address;
  Credentials credentials;
  bool is_tls = false;

  // For people, and as rosters have it: never the password, and nothing that a terminal would obey.
  std::string text() const;
};

// "redis://127.0.0.1:7001", "redis://:secret@node1:6379", "redis://user:p%40ss@[::1]:7001",
// "rediss://node1:6380", "unix:///run/node.sock", "unix://:secret@/run/node.sock"; redis:// may be
// left out. The error says what is accepted; it never repeats a password.
Result<NodeAddress> parse_node_address(std::string_view text);

// Comma-separated; blanks around the commas are allowed. At least one, none twice.
Result<std::vector<NodeAddress>> parse_node_addresses(std::string_view text);

}  // namespace redlock::coordinator
