// TlsServer: the TLS of who listens. Its keys and certificates can be changed while it does.
//
//   auto tls = TlsServer::make(options);
//   stream->protect(tls.value()->channel());        // of an accepted stream
//   if (const Status renewed = tls.value()->renew(options); !renewed) … // all is as it was
//
// Clients that do not show a certificate where one is required do not get past the handshake.
//
// Thread safety: none.
#pragma once

#include "base/net/sockets/channel.h"
#include "base/net/tls/tls_options.h"
#include <redlock/result.h>

#include <cstdint>
#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace redlock::net {

class TlsServer {
 public:
  // A failure names the setting, as Redis calls it, and says what is wrong.
  static Result<std::unique_ptr<TlsServer>> make(const TlsServerOptions& options);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  // Reads the files anew. Connections that are open keep what they have; tickets that were given
  // out before are worth nothing any more.
  Status renew(const TlsServerOptions& options);

  std::unique_ptr<Channel> channel() const;

  // Of its own certificate: seconds since 1970.
  std::int64_t certificate_ends_at() const;

 private:
  explicit TlsServer(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* context_;
};

}  // namespace redlock::net
