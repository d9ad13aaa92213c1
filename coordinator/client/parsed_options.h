// ClientOptions, checked and parsed: what a Group and its sockets are made of.
#pragma once

#include "base/net/sockets/address.h"
#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <functional>
#include <string_view>
#include <vector>

namespace redlock {

struct ParsedOptions {
  static Result<ParsedOptions, Error> read(const ClientOptions& options);

  std::vector<net::Address> addresses;  // by node
  coordinator::Group::Options group;
  std::function<void(Severity, std::string_view)> log;
};

}  // namespace redlock
