// What a service manager wants to know: systemd's notify protocol, a datagram to NOTIFY_SOCKET
// (sd_notify(3)). The few bytes of it are written here, as libsystemd has no static form.
#pragma once

#include "server/settings.h"

#include <string>
#include <string_view>

namespace redlock::server {

class Supervisor {
 public:
  // Silent when told `no`, or when nobody set NOTIFY_SOCKET.
  explicit Supervisor(Settings::Supervised mode);

  void ready(std::string_view status) const;
  void status(std::string_view text) const;
  void stopping() const;
  bool is_listening() const { return !socket_.empty(); }

 private:
  void send(std::string_view message) const;

  std::string socket_;
};

}  // namespace redlock::server
