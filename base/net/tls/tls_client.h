// TlsClient: the TLS of who dials. What the other side shows must be signed by who is believed, and
// be for the name or the numeric address that was dialled.
//
//   auto tls = TlsClient::make({.ca = "/etc/redlock/ca.pem"});
//   stream->protect(tls.value()->channel("node1"));     // of a stream that dials node1
//
// Certificates that last for a day are changed under a program that runs for months: files that
// have changed are read anew when the next connection begins. Those that cannot be used, as they
// are half written, leave all as it was.
//
// Thread safety: none.
#pragma once

#include "base/net/sockets/channel.h"
#include "base/net/tls/tls_options.h"
#include <redlock/result.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace redlock::net {

class TlsClient {
 public:
  // A failure names the option (tls-ca, tls-cert, tls-key), and says what is wrong.
  static Result<std::unique_ptr<TlsClient>> make(const TlsClientOptions& options);
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // host: a name or a numeric address.
  std::unique_ptr<Channel> channel(const std::string& host);

 private:
  // When a file was written, and which it is.
  struct Mark {
    std::int64_t written_ns = 0;
    std::uint64_t file = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  using Marks = std::array<Mark, 3>;

  TlsClient(TlsClientOptions options, Marks marks, ssl_ctx_st* context)
      : options_(std::move(options)), marks_(marks), context_(context) {}
  static Marks marks_of(const TlsClientOptions& options);
  void read_anew_if_changed();

  const TlsClientOptions options_;
  Marks marks_;
  ssl_ctx_st* context_;
};

}  // namespace redlock::net
