// TlsChannel: one connection's TLS, by OpenSSL, as a Channel. For the sources of this folder.
//
// OpenSSL reads and writes through a BIO of ours, which lends it the bytes that came and the buffer
// for those that go: nothing is copied into memory BIOs, and nothing stays behind in them.
#pragma once

#include "base/net/sockets/channel.h"

#include <openssl/ssl.h>
#include <string>
#include <string_view>

namespace redlock::net {

class TlsChannel final : public Channel {
 public:
  // peer: of who dials, the host's name or its numeric address, which the certificate is to be for;
  // of who listens, empty. The context may go before the channel.
  TlsChannel(SSL_CTX* context, bool is_server, const std::string& peer);
  ~TlsChannel() override;
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  void begin(std::string& sealed) override;
  State receive(std::string_view came, std::vector<char>& plain, std::size_t& size,
                std::string& sealed) override;
  void seal(std::string_view plain, std::string& sealed) override;
  void close(std::string& sealed) override;
  State state() const override { return state_; }
  std::string peer_name() const override;
  std::string problem() const override { return problem_; }

  // What the BIO does.
  std::size_t take(char* to, std::size_t bytes);
  void put(const char* from, std::size_t bytes) { output_->append(from, bytes); }
  // What the peer's certificate was refused for, in words; as OpenSSL's callback tells it.
  void note_refused_certificate(X509_STORE_CTX* about);

 private:
  State shake_hands();
  State fail(int error);
  std::string words_of(unsigned long error) const;
  std::string words_of_server(int reason) const;
  std::string words_of_client(int reason) const;

  SSL* const ssl_;
  const bool is_server_;
  const std::string peer_;
  State state_ = State::opening;
  std::string_view input_;         // while it receives
  std::string* output_ = nullptr;  // in each call that may write
  std::string refused_certificate_;
  std::string problem_;
};

// Of SSL_CTX_set_verify: has the channel note why.
int verify_and_note(int is_good, X509_STORE_CTX* about);

}  // namespace redlock::net
