#include "server/metrics/metrics_port.h"

#include "base/text/metrics_text.h"

#include <utility>

namespace redlock::server {

MetricsPort::Places MetricsPort::places(const Settings& settings) {
  if (settings.metrics_port == 0) return {};
  Settings at_port = settings;
  at_port.port = settings.metrics_tls ? 0 : settings.metrics_port;
  at_port.tls_port = settings.metrics_tls ? settings.metrics_port : 0;
  at_port.unixsocket.clear();
  return Listeners::places(at_port);
}

net::HttpResponse MetricsPort::metrics(std::string text) {
  return {.type = std::string(MetricsText::kContentType), .body = std::move(text)};
}

Result<MetricsPort> MetricsPort::open(net::Loop& loop, const Places& places,
                                      const net::TlsServer* tls, const Answer& answer) {
  MetricsPort opened;
  for (const Listeners::Place& place : places) {
    auto server =
        net::HttpServer::listen(loop, place.address, answer, place.is_tls ? tls : nullptr);
    if (!server && !place.may_fail) return server.error();
    if (server) opened.servers_.push_back(std::move(server).value());
  }
  return opened;
}

std::string MetricsPort::addresses() const {
  std::string addresses;
  for (const auto& server : servers_) {
    addresses += (addresses.empty() ? "" : ", ") + server->local().text();
  }
  return addresses;
}

}  // namespace redlock::server
