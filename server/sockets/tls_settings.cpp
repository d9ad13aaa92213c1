#include "server/sockets/tls_settings.h"

#include "base/net/turn/clock.h"
#include "base/text/date_text.h"

#include <chrono>

#include <fmt/format.h>

namespace redlock::server {
namespace {

net::TlsServerOptions::Clients clients_of(Settings::TlsClients clients) {
  using Clients = net::TlsServerOptions::Clients;
  switch (clients) {
    case Settings::TlsClients::no:
      return Clients::no;
    case Settings::TlsClients::optional:
      return Clients::optional;
    case Settings::TlsClients::yes:
      return Clients::required;
  }
  return Clients::required;
}

net::TlsServerOptions options_of(const Settings& settings) {
  return {.cert_file = settings.tls_cert_file,
          .key_file = settings.tls_key_file,
          .key_file_pass = settings.tls_key_file_pass,
          .ca_cert_file = settings.tls_ca_cert_file,
          .ca_cert_dir = settings.tls_ca_cert_dir,
          .clients = clients_of(settings.tls_auth_clients),
          .protocols = settings.tls_protocols,
          .ciphers = settings.tls_ciphers,
          .ciphersuites = settings.tls_ciphersuites,
          .prefer_server_ciphers = settings.tls_prefer_server_ciphers,
          .tickets = settings.tls_session_caching};
}

}  // namespace

Result<std::unique_ptr<net::TlsServer>> make_tls(const Settings& settings) {
  return net::TlsServer::make(options_of(settings));
}

Result<std::unique_ptr<net::TlsServer>> open_tls(const Settings& settings) {
  const bool is_wanted =
      settings.tls_port != 0 || (settings.metrics_tls && settings.metrics_port != 0);
  if (!is_wanted) return std::unique_ptr<net::TlsServer>();
  return make_tls(settings);
}

Status renew_tls(net::TlsServer* tls, const Settings& settings) {
  return tls != nullptr ? tls->renew(options_of(settings)) : Done{};
}

void renew_tls_and_tell(net::TlsServer& tls, const Settings& settings, LogSink& log) {
  if (const Status renewed = renew_tls(&tls, settings); !renewed) {
    return log.log(LogLevel::warning,
                   fmt::format("the certificate stays as it was: {}", renewed.error().text));
  }
  const WallTime ends{std::chrono::seconds(tls.certificate_ends_at())};
  const bool is_over = net::read_wall_clock() > ends;
  log.log(is_over ? LogLevel::warning : LogLevel::notice,
          fmt::format("certificates were read anew: new connections have them; this server's {} "
                      "on {} UTC",
                      is_over ? "EXPIRED" : "expires", utc_text(ends, "%Y-%m-%d %H:%M")));
}

}  // namespace redlock::server
