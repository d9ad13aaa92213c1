// MetricsPort: pages over HTTP, of a node at metrics-port of each address of `bind`, on the
// program's own loop. It shares no port with clients. /metrics is among them; a node also says at
// /ready whether it grants locks.
#pragma once

#include "base/net/http/http_server.h"
#include "base/net/turn/loop.h"
#include "server/settings/settings.h"
#include "server/sockets/listeners.h"
#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::server {

class MetricsPort {
 public:
  using Places = std::vector<Listeners::Place>;
  using Answer = net::HttpServer::Answer;

  // A node's: none where the setting is 0. What may be missing for clients may be missing here.
  static Places places(const Settings& settings);
  // Descriptors that may be open at once for each place.
  static constexpr std::uint32_t kDescriptorsOfPlace = net::HttpServer::kConnectionsMax + 1;

  // Listens at every place. Nothing is answered before the loop runs.
  // tls: of the places that are for it; outlives the port.
  static Result<MetricsPort> open(net::Loop& loop, const Places& places, const net::TlsServer* tls,
                                  const Answer& answer);
  // The page of collectors.
  static net::HttpResponse metrics(std::string text);

  // Where it listens, separated by commas; empty: nowhere.
  std::string addresses() const;

 private:
  std::vector<std::unique_ptr<net::HttpServer>> servers_;
};

}  // namespace redlock::server
