#include "base/net/tls/tls_client.h"

#include "base/net/tls/tls_channel.h"
#include "base/net/tls/tls_context.h"

#include <sys/stat.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::net {
namespace {

bool is_folder(const std::string& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

Status believe(SSL_CTX* context, const std::string& ca) {
  if (!ca.empty()) return load_authorities(context, "tls-ca", ca, is_folder(ca));
  if (SSL_CTX_set_default_verify_paths(context) == 1) return Done{};
  return Failure{
      fmt::format("tls-ca: the system names nobody who is trusted ({})", openssl_complaint())};
}

Result<TlsContext> context_of(const TlsClientOptions& options) {
  TlsContext context = new_tls_context(false);
  if (Status done = believe(context.get(), options.ca); !done) return done.error();
  if (!options.cert.empty()) {
    const TlsFiles files{"tls-cert", options.cert, "tls-key", options.key, {}, {}};
    if (Status done = load_certificate(context.get(), files); !done) return done.error();
  } else if (!options.key.empty()) {
    return Failure{"tls-key is the key of a certificate: name that, too (tls-cert)"};
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, verify_and_note);
  return context;
}

}  // namespace

TlsClient::Marks TlsClient::marks_of(const TlsClientOptions& options) {
  Marks marks;
  const std::string* const paths[] = {&options.ca, &options.cert, &options.key};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    struct stat found {};
    if (paths[i]->empty() || stat(paths[i]->c_str(), &found) != 0) continue;
    marks[i] = {found.st_mtim.tv_sec * 1'000'000'000 + found.st_mtim.tv_nsec, found.st_ino};
  }
  return marks;
}

// The marks are read before the files: what is written in between is read once more.
Result<std::unique_ptr<TlsClient>> TlsClient::make(const TlsClientOptions& options) {
  const Marks marks = marks_of(options);
  auto context = context_of(options);
  if (!context) return context.error();
  return std::unique_ptr<TlsClient>(new TlsClient(options, marks, context.value().release()));
}

TlsClient::~TlsClient() {
  SSL_CTX_free(context_);
}

void TlsClient::read_anew_if_changed() {
  const Marks marks = marks_of(options_);
  if (marks == marks_) return;
  auto context = context_of(options_);
  if (!context) return;
  marks_ = marks;
  SSL_CTX_free(std::exchange(context_, context.value().release()));
}

std::unique_ptr<Channel> TlsClient::channel(const std::string& host) {
  read_anew_if_changed();
  return std::make_unique<TlsChannel>(context_, false, host);
}

}  // namespace redlock::net
