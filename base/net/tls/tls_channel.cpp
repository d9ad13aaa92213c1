#include "base/net/tls/tls_channel.h"

#include "base/invariant.h"
#include "base/text/printable.h"

#include <algorithm>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/err.h>

namespace redlock::net {
namespace {

// As much as a record holds, so that no record is read in pieces.
constexpr std::size_t kRecordBytesMax = 16 * 1024;
constexpr std::size_t kPlainBytes = 5 * kRecordBytesMax;  // a full read, and what stood before it

int read_input(BIO* bio, char* to, std::size_t bytes, std::size_t* taken) {
  BIO_clear_retry_flags(bio);
  *taken = static_cast<TlsChannel*>(BIO_get_data(bio))->take(to, bytes);
  if (*taken > 0) return 1;
  BIO_set_retry_read(bio);
  return 0;
}

int write_output(BIO* bio, const char* from, std::size_t bytes, std::size_t* written) {
  static_cast<TlsChannel*>(BIO_get_data(bio))->put(from, bytes);
  *written = bytes;
  return 1;
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* method() {
  static BIO_METHOD* const made = [] {
    BIO_METHOD* const fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "stream");
    BIO_meth_set_read_ex(fresh, read_input);
    BIO_meth_set_write_ex(fresh, write_output);
    BIO_meth_set_ctrl(fresh, control);
    return fresh;
  }();
  return made;
}

void expect_peer(SSL* ssl, const std::string& peer) {
  X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, peer.c_str()) == 1) return;
  ERR_clear_error();
  SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
           const_cast<char*>(peer.c_str()));
  X509_VERIFY_PARAM_set1_host(wanted, peer.c_str(), peer.size());
}

// A name is compared with others byte by byte: so it is taken whole, as UTF-8, or not at all.
std::string common_name(X509* certificate) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int first = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (first < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, first) >= 0) return "";
  unsigned char* text = nullptr;
  const int bytes =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, first)));
  if (bytes < 0) ERR_clear_error();
  if (bytes <= 0) return "";
  std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(bytes));
  OPENSSL_free(text);
  return is_printable(name) ? name : "";
}

}  // namespace

TlsChannel::TlsChannel(SSL_CTX* context, bool is_server, const std::string& peer)
    : ssl_(SSL_new(context)), is_server_(is_server), peer_(peer) {
  INVARIANT(ssl_ != nullptr, "no memory for a TLS connection");
  BIO* const bio = BIO_new(method());
  INVARIANT(bio != nullptr, "no memory for a TLS connection");
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_, bio, bio);
  SSL_set_ex_data(ssl_, 0, this);
  if (is_server) {
    SSL_set_accept_state(ssl_);
  } else {
    SSL_set_connect_state(ssl_);
    expect_peer(ssl_, peer);
  }
}

TlsChannel::~TlsChannel() {
  SSL_free(ssl_);
}

std::size_t TlsChannel::take(char* to, std::size_t bytes) {
  const std::size_t taken = std::min(bytes, input_.size());
  if (taken == 0) return 0;
  std::memcpy(to, input_.data(), taken);
  input_.remove_prefix(taken);
  return taken;
}

void TlsChannel::begin(std::string& sealed) {
  output_ = &sealed;
  if (!is_server_) shake_hands();
}

Channel::State TlsChannel::shake_hands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_);
  if (done != 1) return fail(SSL_get_error(ssl_, done));
  return state_ = State::open;
}

// The loop ends when OpenSSL wants more than came: so nothing of that is left.
Channel::State TlsChannel::receive(std::string_view came, std::vector<char>& plain,
                                   std::size_t& size, std::string& sealed) {
  input_ = came;
  output_ = &sealed;
  size = 0;
  if (state_ == State::opening && shake_hands() != State::open) return state_;
  if (plain.size() < kPlainBytes) plain.resize(kPlainBytes);
  while (state_ == State::open) {
    if (plain.size() - size < kRecordBytesMax) plain.resize(2 * plain.size());
    ERR_clear_error();
    std::size_t bytes = 0;
    const int done = SSL_read_ex(ssl_, plain.data() + size, plain.size() - size, &bytes);
    size += bytes;
    if (done != 1) {
      const int error = SSL_get_error(ssl_, done);
      if (error == SSL_ERROR_WANT_READ) break;
      fail(error);
    }
  }
  return state_;
}

void TlsChannel::seal(std::string_view plain, std::string& sealed) {
  output_ = &sealed;
  ERR_clear_error();
  std::size_t written = 0;
  const int done = SSL_write_ex(ssl_, plain.data(), plain.size(), &written);
  if (done != 1) fail(SSL_get_error(ssl_, done));
}

void TlsChannel::close(std::string& sealed) {
  output_ = &sealed;
  ERR_clear_error();
  SSL_shutdown(ssl_);
}

std::string TlsChannel::peer_name() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr || SSL_get_verify_result(ssl_) != X509_V_OK) return "";
  return common_name(certificate);
}

// That more has to come is no failure.
Channel::State TlsChannel::fail(int error) {
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return state_;
  if (error == SSL_ERROR_ZERO_RETURN) return state_ = State::ended;
  problem_ = words_of(ERR_peek_error());
  ERR_clear_error();
  return state_ = State::failed;
}

}  // namespace redlock::net
