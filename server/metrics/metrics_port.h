// MetricsPort: a node's /metrics over HTTP, at metrics-port of each address of `bind`, on the
// node's own loop. It shares no port with clients, and answers no more than that page.
#pragma once

#include "base/net/http/http_server.h"
#include "base/net/turn/loop.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::server {

class MetricsPort {
 public:
  using Write = std::function<std::string()>;  // the page, at each request

  // That it may have open at once.
  static std::uint32_t descriptors(const Settings& settings);

  // Listens nowhere where the setting is 0. A place that may be missing for clients may be missing
  // here. Nothing is answered before the loop runs.
  static Result<MetricsPort> open(net::Loop& loop, const Settings& settings, const Write& write);

  // For the log; empty: nowhere.
  std::string addresses() const;

 private:
  std::vector<std::unique_ptr<net::HttpServer>> servers_;
};

}  // namespace redlock::server
