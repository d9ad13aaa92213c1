// Two ends of a connection on one loop, over TLS.
#include "base/net/sockets/listener.h"
#include "base/net/sockets/stream.h"
#include "base/net/tls/tls_client.h"
#include "base/net/tls/tls_server.h"
#include "base/net/turn/clock.h"
#include "tests/support/certificates.h"
#include "tests/support/loop_until.h"
#include "tests/support/temporary_folder.h"

#include <csignal>
#include <functional>
#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

namespace {

constexpr Duration kSoon = 10s;         // what is to come comes long before
constexpr Duration kLongEnough = 50ms;  // for what is not to come

struct End final : Stream::User {
  void on_connected() override {
    is_connected = true;
    stream->start_reading();
  }
  void on_bytes(std::string_view bytes) override {
    heard += bytes;
    if (then) then();
  }
  void on_end(std::string_view reason) override { ended = std::string(reason); }

  std::unique_ptr<Stream> stream;
  bool is_connected = false;
  std::string heard;
  std::optional<std::string> ended;
  std::function<void()> then;  // after each piece
};

enum class Dials { by_tls, in_the_clear };

class Pair {
 public:
  explicit Pair(Dials how = Dials::by_tls) {
    std::signal(SIGPIPE, SIG_IGN);  // as whoever serves others
    certificates_.sign("node1", "DNS:node1,IP:127.0.0.1");
    tls_ = TlsServer::make({.cert_file = certificates_.file("node1"),
                            .key_file = certificates_.key("node1"),
                            .clients = TlsServerOptions::Clients::no})
               .value();
    client_tls_ = TlsClient::make({.ca = certificates_.file("ca")}).value();
    listener_ =
        Listener::listen(loop_, {"127.0.0.1", 0}, 8, [this](std::unique_ptr<Stream> stream) {
          server.stream = std::move(stream);
          server.stream->set_user(server);
          if (server_speaks_tls) server.stream->protect(tls_->channel());
          if (at_accept) return at_accept();
          server.stream->start_reading();
        }).value();
    if (how == Dials::by_tls) dial();
  }

  void dial() {
    client.stream = Stream::connect(loop_, listener_->local(), client);
    client.stream->protect(client_tls_->channel("127.0.0.1"));
  }
  void dial_in_the_clear() { client.stream = Stream::connect(loop_, listener_->local(), client); }

  template <class Condition>
  bool run_until(const Condition& is_met, Duration within = kSoon) {
    return run_loop_until(loop_, is_met, within);
  }
  const Certificates& certificates() const { return certificates_; }
  bool run_until_open() {
    return run_until(
        [this] { return client.is_connected && server.stream && !server.stream->is_opening(); });
  }

 private:
  Loop loop_;
  TemporaryFolder folder_;
  Certificates certificates_{folder_.path()};
  std::unique_ptr<TlsServer> tls_;
  std::unique_ptr<TlsClient> client_tls_;
  std::unique_ptr<Listener> listener_;

 public:
  bool server_speaks_tls = true;
  std::function<void()> at_accept;
  End client;
  End server;
};

// Several times what the loop's buffer and the sockets hold, and no piece of it like another.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 8 * 1024 * 1024; ++i) text += std::to_string(i) + ' ';
  return text;
}

}  // namespace

TEST_CASE("over TLS, what is sent arrives whole, in order, and before the end") {
  Pair pair;
  REQUIRE(pair.run_until_open());
  const std::string text = long_text();
  pair.client.stream->write(text);
  pair.server.stream->hand_over(text);
  CHECK(pair.run_until([&] { return pair.client.heard == text; }));
  pair.client.stream->end_after_writes();
  CHECK(pair.run_until([&] { return pair.server.ended.has_value(); }));
  CHECK((pair.server.heard == text));  // not to be printed
  CHECK(pair.server.ended == "");
}

TEST_CASE("what is written before TLS is open arrives once it is, and is counted until then") {
  Pair pair(Dials::in_the_clear);
  pair.at_accept = [&] {
    pair.server.stream->write("-ERR max number of clients reached\r\n");
    CHECK(pair.server.stream->queued_bytes() == 36);
    CHECK(pair.server.stream->send("x") == 0);
    pair.server.stream->end_after_writes();
    pair.server.stream->write("nothing more");
  };
  pair.dial();
  CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
  CHECK(pair.client.heard == "-ERR max number of clients reached\r\n");
  CHECK(pair.client.ended == "");
}

TEST_CASE("over TLS, a stream counts what its peer does not read, and sends nothing behind it") {
  Pair pair;
  REQUIRE(pair.run_until_open());
  CHECK(pair.client.stream->send("first") == 5);
  CHECK(pair.client.stream->queued_bytes() == 0);
  REQUIRE(pair.run_until([&] { return pair.server.heard == "first"; }));
  pair.server.stream->stop_reading();
  const std::string text = long_text();
  pair.client.stream->hand_over(text);
  CHECK(pair.client.stream->queued_bytes() > 1024 * 1024);
  CHECK(pair.client.stream->send("behind") == 0);
  pair.server.stream->start_reading();
  CHECK(pair.run_until([&] { return pair.server.heard.size() == 5 + text.size(); }));
  CHECK(pair.client.stream->queued_bytes() == 0);
}

TEST_CASE("over TLS, what the socket does not take at once is not said to be sent") {
  Pair pair;
  REQUIRE(pair.run_until_open());
  pair.server.stream->stop_reading();
  const std::string text = long_text();
  const std::size_t sent = pair.client.stream->send(text);
  CHECK(sent > 0);
  CHECK(sent < text.size());
}

TEST_CASE("over TLS, a stream may stop reading, or go, while it is told") {
  Pair pair;
  REQUIRE(pair.run_until_open());
  SECTION("stop") {
    pair.server.then = [&] { pair.server.stream->stop_reading(); };
    pair.client.stream->write("first");
    CHECK(pair.run_until([&] { return pair.server.heard == "first"; }));
    pair.client.stream->write("second");
    CHECK_FALSE(pair.run_until([&] { return pair.server.heard != "first"; }, kLongEnough));
    pair.server.then = nullptr;
    pair.server.stream->start_reading();
    CHECK(pair.run_until([&] { return pair.server.heard == "firstsecond"; }));
  }
  SECTION("go") {
    pair.server.then = [&] { pair.server.stream.reset(); };
    pair.client.stream->write("first");
    CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
    CHECK(pair.server.heard == "first");
    CHECK_FALSE(pair.server.ended.has_value());
    CHECK(pair.client.ended == "");
  }
}

TEST_CASE("plain bytes at a port for TLS end the connection") {
  Pair pair(Dials::in_the_clear);
  pair.dial_in_the_clear();
  REQUIRE(pair.run_until([&] { return pair.client.is_connected; }));
  pair.client.stream->write("*1\r\n$4\r\nPING\r\n");
  CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
  CHECK(pair.client.heard.find('+') == std::string::npos);
  CHECK(pair.server.ended->starts_with("it speaks in the clear at a port for TLS"));
  CHECK(pair.server.heard.empty());
}

TEST_CASE("who dials by TLS hears that the other side does not speak it, or is silent") {
  Pair pair(Dials::in_the_clear);
  pair.server_speaks_tls = false;
  SECTION("it answers") {
    pair.server.then = [&] { pair.server.stream->write("-ERR unknown command\r\n"); };
    pair.dial();
    CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
    CHECK(pair.client.ended->starts_with("it does not speak TLS at this port"));
  }
  SECTION("it closes") {
    pair.server.then = [&] { pair.server.stream.reset(); };
    pair.dial();
    CHECK(pair.run_until([&] { return pair.client.ended.has_value(); }));
    CHECK(pair.client.ended ==
          "it closed the connection instead of speaking TLS: does it at this port?");
  }
  SECTION("it says nothing") {
    pair.dial();
    CHECK_FALSE(pair.run_until([&] { return pair.client.ended.has_value(); }, kLongEnough));
    CHECK_FALSE(pair.client.is_connected);
  }
  CHECK_FALSE(pair.client.is_connected);
}

namespace {

// An end that makes the other's TLS answer as often as it can and reads nothing: OpenSSL by hand on
// a plain stream.
class Nagger {
 public:
  enum class Side { client, server };

  Nagger(Pair& pair, int version, Side side = Side::client)
      : pair_(pair),
        end_(side == Side::client ? pair.client : pair.server),
        context_(SSL_CTX_new(side == Side::client ? TLS_client_method() : TLS_server_method())) {
    SSL_CTX_set_max_proto_version(context_, version);
    SSL_CTX_set_cipher_list(context_, "DEFAULT:@SECLEVEL=2");
    if (side == Side::server) {
      const Certificates& certificates = pair.certificates();
      SSL_CTX_use_certificate_chain_file(context_, certificates.file("node1").c_str());
      SSL_CTX_use_PrivateKey_file(context_, certificates.key("node1").c_str(), SSL_FILETYPE_PEM);
    }
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    side == Side::client ? SSL_set_connect_state(ssl_) : SSL_set_accept_state(ssl_);
  }
  ~Nagger() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  Nagger(const Nagger&) = delete;
  Nagger& operator=(const Nagger&) = delete;

  bool shake_hands() {
    return pair_.run_until([this] {
      const bool is_done = SSL_do_handshake(ssl_) == 1;
      talk();
      const End& other = &end_ == &pair_.client ? pair_.server : pair_.client;
      return is_done && other.stream && !other.stream->is_opening();
    });
  }
  void talk() {
    if (!end_.stream) return;  // not accepted yet
    const std::string heard = std::exchange(end_.heard, {});
    BIO_write(SSL_get_rbio(ssl_), heard.data(), static_cast<int>(heard.size()));
    char* said = nullptr;
    const long bytes = BIO_get_mem_data(SSL_get_wbio(ssl_), &said);
    end_.stream->write({said, static_cast<std::size_t>(bytes)});
    static_cast<void>(BIO_reset(SSL_get_wbio(ssl_)));
  }
  SSL* ssl() { return ssl_; }

 private:
  Pair& pair_;
  End& end_;
  SSL_CTX* context_;
  SSL* ssl_;
};

void have_small_buffer(int descriptor, int which) {
  constexpr int kBytes = 4096;
  REQUIRE(setsockopt(descriptor, SOL_SOCKET, which, &kBytes, sizeof kBytes) == 0);
}

}  // namespace

TEST_CASE("a peer that has TLS answer it for ever and does not read is ended") {
  Pair pair(Dials::in_the_clear);
  pair.dial_in_the_clear();
  REQUIRE(pair.run_until([&] { return pair.client.is_connected; }));
  Nagger nagger(pair, TLS1_3_VERSION);
  REQUIRE(nagger.shake_hands());
  pair.client.stream->stop_reading();
  // The kernel keeps little, so that some thousand answers are unread, and not a hundred thousand.
  have_small_buffer(pair.client.stream->descriptor(), SO_RCVBUF);
  have_small_buffer(pair.server.stream->descriptor(), SO_SNDBUF);
  CHECK(pair.run_until([&] {
    for (int i = 0; i < 100; ++i) {
      SSL_key_update(nagger.ssl(), SSL_KEY_UPDATE_REQUESTED);
      SSL_do_handshake(nagger.ssl());
    }
    nagger.talk();
    return pair.server.ended.has_value();
  }));
  CHECK(pair.server.ended == "it does not read what its TLS makes us say");
}

TEST_CASE("nobody may ask for new terms within a connection of TLS 1.2") {
  Pair pair(Dials::in_the_clear);
  pair.dial_in_the_clear();
  REQUIRE(pair.run_until([&] { return pair.client.is_connected; }));
  Nagger nagger(pair, TLS1_2_VERSION);
  REQUIRE(nagger.shake_hands());
  REQUIRE(SSL_renegotiate(nagger.ssl()) == 1);
  bool is_done = false;
  int refused_for = 0;
  CHECK(pair.run_until([&] {
    if (is_done || refused_for != 0) return true;
    ERR_clear_error();
    is_done = SSL_do_handshake(nagger.ssl()) == 1;
    refused_for = ERR_GET_REASON(ERR_peek_error());
    nagger.talk();
    return false;
  }));
  CHECK(refused_for == SSL_R_NO_RENEGOTIATION);
}

TEST_CASE("nor may a server of TLS 1.2 have them of who has dialed it") {
  Pair pair(Dials::in_the_clear);
  pair.server_speaks_tls = false;
  pair.dial();
  Nagger nagger(pair, TLS1_2_VERSION, Nagger::Side::server);
  REQUIRE(nagger.shake_hands());
  REQUIRE(SSL_renegotiate(nagger.ssl()) == 1);
  SSL_do_handshake(nagger.ssl());  // only asks
  nagger.talk();
  REQUIRE(pair.run_until([&] { return !pair.server.heard.empty(); }));
  constexpr char kAlert = 21;  // how its record begins; that of a handshake begins with 22
  CHECK(pair.server.heard.front() == kAlert);
}

namespace {

// A handshake that takes a millisecond, and then wants to hear more.
struct CostlyChannel final : Channel {
  explicit CostlyChannel(int& asked) : asked_(asked) {}
  void begin(std::string&) override {}
  State receive(std::string_view, std::vector<char>&, std::size_t&, std::string&) override {
    ++asked_;
    const Instant began = read_clock(ClockKind::monotonic);
    while (read_clock(ClockKind::monotonic) - began < 1ms) continue;
    return State::opening;
  }
  void seal(std::string_view, std::string&) override {}
  void close(std::string&) override {}
  State state() const override { return State::opening; }
  std::string peer_name() const override { return ""; }
  std::string problem() const override { return ""; }

 private:
  int& asked_;
};

}  // namespace

TEST_CASE("many who ask for a handshake at once keep nobody else waiting, and all have theirs") {
  constexpr int kStrangers = 50;
  Loop loop;
  int asked = 0;
  std::vector<std::unique_ptr<End>> served;
  const auto listener =
      Listener::listen(loop, {"127.0.0.1", 0}, 64, [&](std::unique_ptr<Stream> stream) {
        End& end = *served.emplace_back(std::make_unique<End>());
        end.stream = std::move(stream);
        end.stream->set_user(end);
        if (served.size() <= kStrangers) {
          end.stream->protect(std::make_unique<CostlyChannel>(asked));
        } else {
          end.stream->start_reading();
        }
      }).value();
  std::vector<std::unique_ptr<End>> clients;
  for (int i = 0; i <= kStrangers; ++i) {
    End& client = *clients.emplace_back(std::make_unique<End>());
    client.stream = Stream::connect(loop, listener->local(), client);
    REQUIRE(run_loop_until(
        loop, [&] { return client.is_connected && served.size() == clients.size(); }, kSoon));
  }
  for (const auto& client : clients) client->stream->write("x");
  REQUIRE(run_loop_until(
      loop, [&] { return served.back()->heard == "x"; }, kSoon));
  CHECK(asked >= 1);
  CHECK(asked <= 10);
  served[kStrangers - 1]->stream.reset();  // it stands in the line, and nobody minds
  CHECK(run_loop_until(
      loop, [&] { return asked == kStrangers - 1; }, kSoon));
}
