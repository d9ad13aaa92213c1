#include "server/sockets/listeners.h"

namespace redlock::server {

std::vector<Listeners::Place> Listeners::places(const Settings& settings, bool any_free_port) {
  std::vector<Place> places;
  const std::uint16_t port = any_free_port ? 0 : settings.port;
  if (port != 0 || any_free_port) {
    for (const std::string& name : settings.bind) {
      const bool optional = name.starts_with('-');
      places.push_back({{name.substr(optional ? 1 : 0), port}, optional});
    }
  }
  if (!settings.unixsocket.empty()) places.push_back({{settings.unixsocket, 0}});
  return places;
}

Result<std::unique_ptr<Listeners>> Listeners::open(net::Loop& loop,
                                                   const std::vector<Place>& places,
                                                   const Settings& settings) {
  auto listeners = std::make_unique<Listeners>();
  std::string problems;
  for (const Place& place : places) {
    const Status added = listeners->add(loop, place.address, settings);
    if (!added && !place.may_fail) return added.error();
    if (!added) problems = added.error().text;
  }
  if (listeners->listeners_.empty()) {
    return Failure{problems.empty() ? "nowhere to listen: set port or unixsocket" : problems};
  }
  return listeners;
}

Status Listeners::add(net::Loop& loop, const net::Address& address, const Settings& settings) {
  const auto on_connection = [this](auto stream) {
    if (on_connection_) on_connection_(std::move(stream));
  };
  auto listener = net::Listener::listen(loop, address, settings.tcp_backlog, on_connection,
                                        settings.unixsocketperm);
  if (!listener) return listener.error();
  listeners_.push_back(std::move(listener).value());
  return Done{};
}

std::uint16_t Listeners::port() const {
  for (const auto& listener : listeners_) {
    if (!listener->local().is_unix()) return listener->local().port;
  }
  return 0;
}

std::string Listeners::addresses() const {
  std::string text;
  for (const auto& listener : listeners_) {
    if (!text.empty()) text += ", ";
    text += listener->local().text();
  }
  return text;
}

}  // namespace redlock::server
