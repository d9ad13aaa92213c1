// What went wrong in TLS, for people: what they can do about it first, OpenSSL's word behind it.
#include "base/net/tls/tls_channel.h"

#include <array>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace redlock::net {
namespace {

std::string text_of(const ASN1_STRING* text) {
  const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(text));
  std::string shown(bytes, static_cast<std::size_t>(ASN1_STRING_length(text)));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

std::string text_of_address(const ASN1_OCTET_STRING* address) {
  const unsigned char* const bytes = ASN1_STRING_get0_data(address);
  if (ASN1_STRING_length(address) == 4) {
    return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
  }
  std::string text;
  for (int i = 0; i + 1 < ASN1_STRING_length(address); i += 2) {
    text += fmt::format("{}{:x}", i > 0 ? ":" : "", bytes[i] * 256 + bytes[i + 1]);
  }
  return text;
}

// Whom a certificate is for: some of the names in it.
std::string names_of(X509* certificate) {
  constexpr std::size_t kNamesShown = 5;
  std::vector<std::string> names;
  auto* const all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(all, i);
    if (name->type == GEN_DNS) names.push_back(text_of(name->d.dNSName));
    if (name->type == GEN_IPADD) names.push_back(text_of_address(name->d.iPAddress));
    if (names.size() == kNamesShown) break;
  }
  GENERAL_NAMES_free(all);
  return names.empty() ? "nobody (it has no subject alternative name)"
                       : fmt::format("{}", fmt::join(names, ", "));
}

std::string date_of(const ASN1_TIME* time) {
  tm day{};
  if (ASN1_TIME_to_tm(time, &day) != 1) return "an unknown date";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", day.tm_year + 1900, day.tm_mon + 1,
                     day.tm_mday, day.tm_hour, day.tm_min);
}

std::string openssls(int reason, unsigned long error) {
  const char* const text = ERR_reason_error_string(error);
  return text != nullptr ? text : fmt::format("OpenSSL's error {}", reason);
}

}  // namespace

int verify_and_note(int is_good, X509_STORE_CTX* about) {
  if (is_good == 1) return 1;
  const auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(about, SSL_get_ex_data_X509_STORE_CTX_idx()));
  static_cast<TlsChannel*>(SSL_get_ex_data(ssl, 0))->note_refused_certificate(about);
  return 0;
}

void TlsChannel::note_refused_certificate(X509_STORE_CTX* about) {
  const int error = X509_STORE_CTX_get_error(about);
  X509* const certificate = X509_STORE_CTX_get_current_cert(about);
  const std::string trusted = is_server_ ? "tls-ca-cert-file" : "tls-ca";
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      refused_certificate_ = fmt::format(
          "its certificate is for {}, and not for {}: name it so, or have that name put into it",
          names_of(X509_STORE_CTX_get0_cert(about)), peer_);
      return;
    case X509_V_ERR_CERT_HAS_EXPIRED:
      refused_certificate_ = fmt::format("its certificate, or its CA's, expired on {}",
                                         date_of(X509_get0_notAfter(certificate)));
      return;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      refused_certificate_ =
          fmt::format("its certificate, or its CA's, is not valid before {}: is the clock right?",
                      date_of(X509_get0_notBefore(certificate)));
      return;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
      refused_certificate_ = fmt::format(
          "its certificate is signed by nobody who is trusted here: the certificate of its CA "
          "belongs into {}",
          trusted);
      return;
    default:
      refused_certificate_ =
          fmt::format("its certificate is refused: {}", X509_verify_cert_error_string(error));
  }
}

std::string TlsChannel::words_of(unsigned long error) const {
  const int reason = ERR_GET_REASON(error);
  if (!refused_certificate_.empty()) return refused_certificate_;
  const std::string words = is_server_ ? words_of_server(reason) : words_of_client(reason);
  const std::string own = openssls(reason, error);
  return words.empty() ? fmt::format("TLS: {}", own) : fmt::format("{} ({})", words, own);
}

std::string TlsChannel::words_of_server(int reason) const {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
      return "it speaks in the clear at a port for TLS";
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "it speaks no version of TLS that is allowed here";
    case SSL_R_NO_SHARED_CIPHER:
      return "it has no cipher that is allowed here";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "it showed no certificate";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "it does not accept the certificate of this server";
    default:
      return {};
  }
}

std::string TlsChannel::words_of_client(int reason) const {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
      return "it does not speak TLS at this port";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "it has no version of TLS in common with this side";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "it wants to see a certificate: name one by tls-cert and tls-key";
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
      return "it has no cipher in common with this side, or wants to see a certificate (tls-cert)";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "it does not know who signed the certificate of this side (tls-cert)";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
      return "it does not accept the certificate of this side (tls-cert)";
    default:
      return {};
  }
}

}  // namespace redlock::net
