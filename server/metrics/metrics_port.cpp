#include "server/metrics/metrics_port.h"

#include "base/text/metrics_text.h"
#include "server/sockets/listeners.h"

#include <utility>

namespace redlock::server {

std::uint32_t MetricsPort::descriptors(const Settings& settings) {
  if (settings.metrics_port == 0) return 0;
  constexpr std::size_t kOfPlace = net::HttpServer::kConnectionsMax + 1;  // it listens, too
  return static_cast<std::uint32_t>(settings.bind.size() * kOfPlace);
}

Result<MetricsPort> MetricsPort::open(net::Loop& loop, const Settings& settings,
                                      const Write& write) {
  MetricsPort opened;
  if (settings.metrics_port == 0) return opened;
  const auto answer = [write](std::string_view path) {
    if (path != "/metrics") return net::HttpResponse::not_found();
    return net::HttpResponse{.type = std::string(MetricsText::kContentType), .body = write()};
  };
  Settings places = settings;
  places.port = settings.metrics_port;
  places.unixsocket.clear();
  for (const Listeners::Place& place : Listeners::places(places)) {
    auto server = net::HttpServer::listen(loop, place.address, answer);
    if (!server && !place.may_fail) return server.error();
    if (server) opened.servers_.push_back(std::move(server).value());
  }
  return opened;
}

std::string MetricsPort::addresses() const {
  std::string text;
  for (const auto& server : servers_) {
    text += (text.empty() ? "" : ", ") + server->local().text();
  }
  return text;
}

}  // namespace redlock::server
