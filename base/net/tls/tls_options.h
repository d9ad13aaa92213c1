// What TLS is to be done with: files of keys and certificates in PEM form, and who is believed.
#pragma once

#include <string>

namespace redlock::net {

// Of who listens. Names, and what an empty text means, are as of Redis's settings tls-….
struct TlsServerOptions {
  enum class Clients { no, optional, required };  // whether they show a certificate

  std::string cert_file = {};      // its certificate, and behind it those between it and its CA
  std::string key_file = {};       // empty: the key stands in cert_file, too
  std::string key_file_pass = {};  // of an encrypted key
  std::string ca_cert_file =
      {};  // who signs clients' certificates; one of these where they show one
  std::string ca_cert_dir = {};  // hashed by `openssl rehash`
  Clients clients = Clients::required;
  std::string protocols = {};  // empty: "TLSv1.2 TLSv1.3"
  std::string ciphers = {};    // of TLS 1.2, as ciphers(1ssl) has them; empty: see tls_server.cpp
  std::string ciphersuites = {};  // of TLS 1.3; empty: OpenSSL's
  bool prefer_server_ciphers = false;
  bool tickets = true;  // a client that comes back saves half of the work

  friend bool operator==(const TlsServerOptions&, const TlsServerOptions&) = default;
};

// Of who dials.
struct TlsClientOptions {
  std::string ca =
      {};  // a file, or a folder hashed by `openssl rehash`; empty: whom the system trusts
  std::string cert = {};  // shown to who asks for one; empty: none
  std::string key = {};   // empty: it stands in `cert`, too

  friend bool operator==(const TlsClientOptions&, const TlsClientOptions&) = default;
};

}  // namespace redlock::net
