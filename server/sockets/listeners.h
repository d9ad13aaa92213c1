// What listens before there is anybody to serve: so that an address in use ends a start before it
// touched anything else.
#pragma once

#include "base/net/sockets/listener.h"
#include "base/net/sockets/stream.h"
#include "base/net/tls/tls_server.h"
#include "base/net/turn/loop.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redlock::server {

class Listeners {
 public:
  using OnConnection = std::function<void(std::unique_ptr<net::Stream>)>;
  struct Place {
    net::Address address;
    bool may_fail = false;
    bool is_tls = false;
  };

  // The places of bind, port, tls-port and unixsocket. An address marked optional may fail.
  // any_free_port: at a port that the system chooses instead of `port`; for one TCP address.
  static std::vector<Place> places(const Settings& settings, bool any_free_port = false);

  // At every place. Of the settings only what a socket is opened with. tls: of the places that are
  // for it; outlives the listeners.
  static Result<std::unique_ptr<Listeners>> open(net::Loop& loop, const std::vector<Place>& places,
                                                 const Settings& settings,
                                                 const net::TlsServer* tls);

  // Nothing is accepted before the loop runs. REQUIRES: called before that.
  void admit_to(OnConnection on_connection) { on_connection_ = std::move(on_connection); }

  // Accepts no more; clients that are connected stay.
  void close() { listeners_.clear(); }

  std::uint16_t port() const;         // of the first TCP address; 0: none
  std::string first_address() const;  // the clear ones come first
  std::string addresses() const;      // for the log

 private:
  struct Open {
    std::unique_ptr<net::Listener> listener;
    bool is_tls = false;
  };
  Status add(net::Loop& loop, const Place& place, const Settings& settings,
             const net::TlsServer* tls);

  OnConnection on_connection_;
  std::vector<Open> listeners_;
};

}  // namespace redlock::server
