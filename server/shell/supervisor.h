// What a service manager wants to know: systemd's notify protocol, a datagram to NOTIFY_SOCKET
// (sd_notify(3)). The few bytes of it are written here, as libsystemd has no static form.
//
// The watchdog: a service manager that asks for it (WatchdogSec=) ends and restarts a node whose
// loop stands still. So watchdog() is called from the loop, twice in the time that it is given.
#pragma once

#include "base/time.h"
#include "server/settings/settings.h"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::server {

// Half of what WATCHDOG_USEC gives, as sd_watchdog_enabled(3) advises; nullopt: nobody waits for
// this process. pid: of WATCHDOG_PID, where it names another the variables are an ancestor's.
std::optional<Duration> watchdog_interval(const char* usec, const char* pid, long own_pid);

class Supervisor {
 public:
  // Silent when told `no`, or when nobody set NOTIFY_SOCKET.
  explicit Supervisor(Settings::Supervised mode);

  void ready(std::string_view status) const;
  void status(std::string_view text) const;
  void stopping() const;
  void watchdog() const;
  bool is_listening() const { return !socket_.empty(); }
  // How often watchdog() is to be called.
  std::optional<Duration> watchdog_interval() const { return watchdog_interval_; }

 private:
  void send(std::string_view message) const;

  std::string socket_;
  std::optional<Duration> watchdog_interval_;
};

}  // namespace redlock::server
