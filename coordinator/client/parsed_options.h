// ClientOptions, checked and parsed: what a Group and its sockets are made of.
#pragma once

#include "base/net/tls/tls_client.h"
#include "coordinator/client/link_socket.h"
#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace redlock {

struct ParsedOptions {
  static Result<ParsedOptions, Error> read(const ClientOptions& options);

  std::vector<coordinator::NodePlace> places;  // by node
  std::shared_ptr<net::TlsClient> tls;         // nullptr: no node wants it, and no option is of it
  coordinator::Group::Options group;
  std::function<void(Severity, std::string_view)> log;
};

}  // namespace redlock
