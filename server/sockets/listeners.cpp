#include "server/sockets/listeners.h"

#include "base/invariant.h"

namespace redlock::server {

std::vector<Listeners::Place> Listeners::places(const Settings& settings, bool any_free_port) {
  std::vector<Place> places;
  const auto add_port = [&](std::uint16_t port, bool is_tls) {
    for (const std::string& name : settings.bind) {
      const bool optional = name.starts_with('-');
      places.push_back({{name.substr(optional ? 1 : 0), port}, optional, is_tls});
    }
  };
  if (any_free_port) {
    add_port(0, false);
  } else if (settings.port != 0) {
    add_port(settings.port, false);
  }
  if (settings.tls_port != 0) add_port(settings.tls_port, true);
  if (!settings.unixsocket.empty()) places.push_back({{settings.unixsocket, 0}});
  return places;
}

Result<std::unique_ptr<Listeners>> Listeners::open(net::Loop& loop,
                                                   const std::vector<Place>& places,
                                                   const Settings& settings,
                                                   const net::TlsServer* tls) {
  auto listeners = std::make_unique<Listeners>();
  std::string problems;
  for (const Place& place : places) {
    const Status added = listeners->add(loop, place, settings, tls);
    if (!added && !place.may_fail) return added.error();
    if (!added) problems = added.error().text;
  }
  if (listeners->listeners_.empty()) {
    return Failure{problems.empty() ? "nowhere to listen: set port, tls-port or unixsocket"
                                    : problems};
  }
  return listeners;
}

Status Listeners::add(net::Loop& loop, const Place& place, const Settings& settings,
                      const net::TlsServer* tls) {
  INVARIANT(tls != nullptr || !place.is_tls, "a place for TLS, and nobody to speak it");
  const auto on_connection = [this, tls = place.is_tls ? tls : nullptr](auto stream) {
    if (!on_connection_) return;
    if (tls != nullptr) stream->protect(tls->channel());
    on_connection_(std::move(stream));
  };
  auto listener = net::Listener::listen(loop, place.address, settings.tcp_backlog, on_connection,
                                        settings.unixsocketperm);
  if (!listener) return listener.error();
  listeners_.push_back({std::move(listener).value(), place.is_tls});
  return Done{};
}

std::uint16_t Listeners::port() const {
  for (const Open& open : listeners_) {
    if (!open.listener->local().is_unix()) return open.listener->local().port;
  }
  return 0;
}

std::string Listeners::first_address() const {
  return listeners_.front().listener->local().text();
}

std::string Listeners::addresses() const {
  std::string text;
  for (const Open& open : listeners_) {
    if (!text.empty()) text += ", ";
    text += open.listener->local().text();
    if (open.is_tls) text += " (TLS)";
  }
  return text;
}

}  // namespace redlock::server
