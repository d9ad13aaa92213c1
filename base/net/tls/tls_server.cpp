#include "base/net/tls/tls_server.h"

#include "base/net/tls/tls_channel.h"
#include "base/net/tls/tls_context.h"
#include "base/text/words.h"

#include <array>
#include <openssl/err.h>

#include <fmt/format.h>

namespace redlock::net {
namespace {

// Of TLS 1.2: what is told today stays untold when a key is stolen tomorrow, and nothing is known
// against the cipher itself.
constexpr const char* kCiphers =
    "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK:!DSS:@SECLEVEL=2";
constexpr std::array<unsigned char, 7> kSessionContext = {'r', 'e', 'd', 'l', 'o', 'c', 'k'};
constexpr long kTicketSeconds = 300;  // as Redis has it

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(kWordBlanks));
  text.remove_prefix(word.size());
  return word;
}

Status allow_protocols(SSL_CTX* context, const std::string& protocols) {
  bool is_1_2 = protocols.empty();
  bool is_1_3 = protocols.empty();
  std::string_view rest = protocols;
  for (std::string_view word = take_word(rest); !word.empty(); word = take_word(rest)) {
    is_1_2 = is_1_2 || equals_ignoring_case(word, "TLSv1.2");
    is_1_3 = is_1_3 || equals_ignoring_case(word, "TLSv1.3");
    if (!equals_ignoring_case(word, "TLSv1.2") && !equals_ignoring_case(word, "TLSv1.3")) {
      return Failure{
          fmt::format("tls-protocols: '{}' is none of TLSv1.2 and TLSv1.3: older ones "
                      "are not safe any more",
                      word)};
    }
  }
  SSL_CTX_set_min_proto_version(context, is_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, is_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  return Done{};
}

Status choose_ciphers(SSL_CTX* context, const TlsServerOptions& options) {
  const char* const ciphers = options.ciphers.empty() ? kCiphers : options.ciphers.c_str();
  if (SSL_CTX_set_cipher_list(context, ciphers) != 1) {
    return Failure{
        fmt::format("tls-ciphers: '{}' names no cipher ({})", ciphers, openssl_complaint())};
  }
  const std::string& suites = options.ciphersuites;
  if (!suites.empty() && SSL_CTX_set_ciphersuites(context, suites.c_str()) != 1) {
    return Failure{
        fmt::format("tls-ciphersuites: '{}' names something else than suites of TLS 1.3 "
                    "({})",
                    suites, openssl_complaint())};
  }
  if (options.prefer_server_ciphers) SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_dh_auto(context, 1);
  return Done{};
}

Status demand_certificates(SSL_CTX* context, const TlsServerOptions& options) {
  using Clients = TlsServerOptions::Clients;
  if (options.clients == Clients::no) return Done{};
  if (options.ca_cert_file.empty() && options.ca_cert_dir.empty()) {
    return Failure{
        "clients are to show certificates, and nobody is named who signs them: set "
        "tls-ca-cert-file or tls-ca-cert-dir, or tls-auth-clients to no"};
  }
  if (!options.ca_cert_file.empty()) {
    const std::string& file = options.ca_cert_file;
    if (Status read = load_authorities(context, "tls-ca-cert-file", file, false); !read)
      return read;
    // Clients with several certificates are told which to show.
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file.c_str()));
  }
  if (!options.ca_cert_dir.empty()) {
    Status read = load_authorities(context, "tls-ca-cert-dir", options.ca_cert_dir, true);
    if (!read) return read;
  }
  const int demand = options.clients == Clients::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | demand, verify_and_note);
  return Done{};
}

void give_tickets(SSL_CTX* context, bool gives) {
  SSL_CTX_set_session_id_context(context, kSessionContext.data(), kSessionContext.size());
  SSL_CTX_set_timeout(context, kTicketSeconds);
  if (gives) return;
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
}

Result<TlsContext> context_of(const TlsServerOptions& options) {
  if (options.cert_file.empty()) {
    return Failure{"TLS needs a certificate and its key: set tls-cert-file and tls-key-file"};
  }
  TlsContext context = new_tls_context(true);
  if (Status done = allow_protocols(context.get(), options.protocols); !done) return done.error();
  if (Status done = choose_ciphers(context.get(), options); !done) return done.error();
  const TlsFiles files{"tls-cert-file",  options.cert_file,   "tls-key-file",
                       options.key_file, "tls-key-file-pass", options.key_file_pass};
  if (Status done = load_certificate(context.get(), files); !done) return done.error();
  if (Status done = demand_certificates(context.get(), options); !done) return done.error();
  give_tickets(context.get(), options.tickets);
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsServer>> TlsServer::make(const TlsServerOptions& options) {
  auto context = context_of(options);
  if (!context) return context.error();
  return std::unique_ptr<TlsServer>(new TlsServer(context.value().release()));
}

TlsServer::~TlsServer() {
  SSL_CTX_free(context_);
}

Status TlsServer::renew(const TlsServerOptions& options) {
  auto context = context_of(options);
  if (!context) return context.error();
  SSL_CTX_free(std::exchange(context_, context.value().release()));
  return Done{};
}

std::unique_ptr<Channel> TlsServer::channel() const {
  return std::make_unique<TlsChannel>(context_, true, std::string());
}

std::int64_t TlsServer::certificate_ends_at() const {
  tm day{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context_)), &day) != 1) return 0;
  return timegm(&day);
}

}  // namespace redlock::net
