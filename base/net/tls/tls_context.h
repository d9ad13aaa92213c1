// What TlsServer and TlsClient have in common: an SSL_CTX, and the files that go into it.
//
// Every failure names the file and says what is wrong with it. For the sources of this folder.
#pragma once

#include <redlock/result.h>

#include <memory>
#include <openssl/ssl.h>
#include <string>

namespace redlock::net {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeContext>;

// TLS 1.2 and 1.3; no compression, no renegotiation, no data before the handshake's end: who
// repeats what he overheard (0-RTT) would repeat a SET NX. Buffers are held while they are needed.
TlsContext new_tls_context(bool is_server);

// A certificate with its chain, and its key. what: as the user calls them, for messages.
struct TlsFiles {
  std::string cert_name;
  std::string cert;
  std::string key_name;
  std::string key;  // empty: it stands in `cert`, too
  std::string pass_name;
  std::string pass;
};
Status load_certificate(SSL_CTX* context, const TlsFiles& files);

// Who is believed: a file of certificates, or a folder of them. name: as above.
Status load_authorities(SSL_CTX* context, const std::string& name, const std::string& path,
                        bool is_folder);

// What OpenSSL complained about last, in its words; its list of complaints is empty after it.
std::string openssl_complaint();

}  // namespace redlock::net
