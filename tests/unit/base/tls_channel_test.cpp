// Two ends of TLS without sockets: what one seals the other unseals, however it is cut.
#include "base/net/tls/tls_client.h"
#include "base/net/tls/tls_server.h"
#include "tests/support/certificates.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;

namespace {

using State = Channel::State;

class Ends {
 public:
  Ends() { certificates_.sign("node1", "DNS:node1,IP:127.0.0.1"); }

  TlsServerOptions server_options() const {
    return {.cert_file = certificates_.file("node1"),
            .key_file = certificates_.key("node1"),
            .clients = TlsServerOptions::Clients::no};
  }
  TlsServerOptions asking_options() const {
    TlsServerOptions options = server_options();
    options.clients = TlsServerOptions::Clients::required;
    options.ca_cert_file = certificates_.file("ca");
    return options;
  }
  TlsClientOptions client_options() const { return {.ca = certificates_.file("ca")}; }
  TlsClientOptions showing_options(const std::string& who) const {
    TlsClientOptions options = client_options();
    options.cert = certificates_.file(who);
    options.key = certificates_.key(who);
    return options;
  }

  void open(const TlsServerOptions& of_server, const TlsClientOptions& of_client,
            const std::string& host = "node1") {
    server = TlsServer::make(of_server).value()->channel();
    client = TlsClient::make(of_client).value()->channel(host);
    to_server.clear();
    to_client.clear();
    client->begin(to_server);
    exchange();
  }

  // Until nobody has anything to say, `piece` bytes at a time.
  void exchange(std::size_t piece = std::string::npos) {
    while (!to_server.empty() || !to_client.empty()) {
      pass(to_server, *server, heard_by_server, to_client, piece);
      pass(to_client, *client, heard_by_client, to_server, piece);
    }
  }

  const Certificates& certificates() const { return certificates_; }

 private:
  static void pass(std::string& sealed, Channel& to, std::string& heard, std::string& answer,
                   std::size_t piece) {
    const std::string came = sealed.substr(0, piece);
    sealed.erase(0, came.size());
    if (came.empty() || to.state() == State::failed || to.state() == State::ended) return;
    std::vector<char> plain;
    std::size_t size = 0;
    if (to.receive(came, plain, size, answer) != State::failed) heard.append(plain.data(), size);
  }

  TemporaryFolder folder_;
  Certificates certificates_{folder_.path()};

 public:
  std::unique_ptr<Channel> server;
  std::unique_ptr<Channel> client;
  std::string to_server;
  std::string to_client;
  std::string heard_by_server;
  std::string heard_by_client;
};

std::string numbers(std::size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + ' ';
  return text;
}

}  // namespace

TEST_CASE("what is sealed is unsealed, whatever pieces it comes in") {
  Ends ends;
  const std::string version = GENERATE(as<std::string>(), "TLSv1.2", "TLSv1.3");
  const std::size_t piece = GENERATE(as<std::size_t>(), 1, 2, 5, 1000, 65536);
  CAPTURE(version, piece);
  TlsServerOptions options = ends.asking_options();
  options.protocols = version;
  ends.server = TlsServer::make(options).value()->channel();
  ends.certificates().sign("alice", "DNS:alice");
  ends.client = TlsClient::make(ends.showing_options("alice")).value()->channel("node1");
  ends.client->begin(ends.to_server);
  ends.exchange(piece);
  REQUIRE(ends.server->state() == State::open);
  REQUIRE(ends.client->state() == State::open);
  const std::string text = numbers(10'000);  // some records
  ends.client->seal(text, ends.to_server);
  ends.server->seal("short", ends.to_client);
  CHECK(ends.to_server.find("99 100 101") == std::string::npos);
  ends.exchange(piece);
  CHECK((ends.heard_by_server == text));
  CHECK(ends.heard_by_client == "short");
  ends.client->close(ends.to_server);
  ends.exchange(piece);
  CHECK(ends.server->state() == State::ended);
}

TEST_CASE("many records that come at once are all unsealed") {
  Ends ends;
  ends.open(ends.server_options(), ends.client_options());
  const std::string text = numbers(1'000'000);
  ends.client->seal(text, ends.to_server);
  ends.client->close(ends.to_server);
  ends.exchange();
  CHECK((ends.heard_by_server == text));
  CHECK(ends.server->state() == State::ended);
}

TEST_CASE("a byte that was changed on its way fails the channel, and nothing of it is told") {
  Ends ends;
  ends.open(ends.server_options(), ends.client_options());
  ends.client->seal("SET printer alice NX PX 10000", ends.to_server);
  ends.to_server[ends.to_server.size() / 2] ^= 1;
  ends.exchange();
  CHECK(ends.server->state() == State::failed);
  CHECK(ends.heard_by_server.empty());
}

TEST_CASE("who dials believes only a certificate for the name that was dialled") {
  Ends ends;
  const auto problem = [&](const std::string& host) {
    ends.open(ends.server_options(), ends.client_options(), host);
    return ends.client->problem();
  };
  CHECK(problem("node1") == "");
  CHECK(problem("127.0.0.1") == "");
  CHECK(problem("node2") ==
        "its certificate is for node1, 127.0.0.1, and not for node2: name it so, or have that "
        "name put into it");
  CHECK(problem("127.0.0.2") ==
        "its certificate is for node1, 127.0.0.1, and not for 127.0.0.2: name it so, or have that "
        "name put into it");
  CHECK(ends.client->state() == State::failed);
  CHECK(ends.server->state() == State::failed);  // it was told
}

TEST_CASE("who dials believes only what a trusted authority signed, and in its time") {
  Ends ends;
  const auto problem = [&](const TlsServerOptions& of_server, const TlsClientOptions& of_client) {
    ends.open(of_server, of_client);
    return ends.client->problem();
  };
  SECTION("another authority") {
    const TemporaryFolder other;
    const Certificates others(other.path());
    TlsClientOptions options = ends.client_options();
    options.ca = others.file("ca");
    CHECK(problem(ends.server_options(), options) ==
          "its certificate is signed by nobody who is trusted here: the certificate of its CA "
          "belongs into tls-ca");
    CHECK(ends.server->problem().starts_with("it does not accept the certificate of this server"));
  }
  SECTION("the system's authorities") {
    CHECK(problem(ends.server_options(), {}).starts_with("its certificate is signed by nobody"));
  }
  SECTION("expired") {
    ends.certificates().sign("node1", "DNS:node1", -1);
    CHECK(problem(ends.server_options(), ends.client_options())
              .starts_with("its certificate, or its CA's, expired on 20"));
  }
}

TEST_CASE("a server that asks for certificates serves only who shows a good one") {
  Ends ends;
  const auto problem = [&](const TlsServerOptions& of_server, const TlsClientOptions& of_client) {
    ends.open(of_server, of_client);
    return ends.server->problem();
  };
  const std::string version = GENERATE(as<std::string>(), "TLSv1.2", "TLSv1.3");
  CAPTURE(version);
  TlsServerOptions asking = ends.asking_options();
  asking.protocols = version;
  ends.certificates().sign("alice", "DNS:alice");
  CHECK(problem(asking, ends.showing_options("alice")) == "");
  CHECK(problem(asking, ends.client_options()).starts_with("it showed no certificate"));
  CHECK(ends.client->problem().find("wants to see a certificate") != std::string::npos);
  ends.certificates().sign("late", "DNS:late", -1);
  CHECK(problem(asking, ends.showing_options("late")).find("expired on") != std::string::npos);
  CHECK(ends.client->problem().find("does not accept the certificate of this side") !=
        std::string::npos);

  asking.clients = TlsServerOptions::Clients::optional;
  CHECK(problem(asking, ends.client_options()) == "");
  CHECK(problem(asking, ends.showing_options("late")).find("expired on") != std::string::npos);
}

TEST_CASE("plain bytes are no TLS, to either side") {
  Ends ends;
  std::vector<char> plain;
  std::size_t size = 0;
  std::string answer;
  const auto server = TlsServer::make(ends.server_options()).value()->channel();
  CHECK(server->receive("*1\r\n$4\r\nPING\r\n", plain, size, answer) == State::failed);
  CHECK(server->problem().starts_with("it speaks in the clear at a port for TLS"));
  const auto client = TlsClient::make(ends.client_options()).value()->channel("node1");
  client->begin(answer);
  CHECK(client->receive("-ERR unknown command\r\n", plain, size, answer) == State::failed);
  CHECK(client->problem().starts_with("it does not speak TLS at this port"));
}

TEST_CASE("files that cannot be used are named, with what is wrong with them") {
  Ends ends;
  const auto complaint = [](const TlsServerOptions& options) {
    const auto made = TlsServer::make(options);
    return made ? std::string() : made.error().text;
  };
  const auto begins = [&](const TlsServerOptions& options, const std::string& text) {
    INFO(complaint(options));
    return complaint(options).starts_with(text);
  };
  TlsServerOptions options = ends.server_options();
  CHECK(begins(options, ""));
  options.cert_file = "/nowhere/node.pem";
  CHECK(complaint(options) ==
        "tls-cert-file: /nowhere/node.pem cannot be read: No such file or directory");
  const std::string pipe = ends.certificates().key("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  options.cert_file = pipe;
  CHECK(complaint(options) == "tls-cert-file: " + pipe + " is a pipe or a device, and no file");
  options = ends.server_options();
  options.cert_file = options.key_file;
  CHECK(begins(options, "tls-cert-file: " + options.key_file + " holds no certificate in PEM"));
  options = ends.server_options();
  options.key_file = ends.certificates().key("ca");
  CHECK(begins(options, "tls-key-file: " + options.key_file + " is not the key of "));
  options.key_file = options.cert_file;
  CHECK(begins(options, "tls-key-file: " + options.key_file + " holds no key in PEM form"));
  options = ends.server_options();
  options.clients = TlsServerOptions::Clients::optional;
  CHECK(begins(options, "clients are to show certificates, and nobody is named who signs them"));
  options.ca_cert_file = ends.certificates().key("ca");
  CHECK(begins(options, "tls-ca-cert-file: " + options.ca_cert_file + " holds no certificates"));
  options = ends.server_options();
  options.protocols = "TLSv1.1 TLSv1.2";
  CHECK(begins(options, "tls-protocols: 'TLSv1.1' is none of TLSv1.2 and TLSv1.3"));
  options = ends.server_options();
  options.ciphers = "NONE-SUCH";
  CHECK(begins(options, "tls-ciphers: 'NONE-SUCH' names no cipher"));
}

TEST_CASE("an encrypted key is opened by its pass alone, and nobody is asked for it") {
  Ends ends;
  TlsServerOptions options = ends.server_options();
  const std::string encrypted = ends.certificates().key("encrypted");
  REQUIRE(std::system(("openssl pkcs8 -topk8 -passout pass:secret -in " + options.key_file +
                       " -out " + encrypted)
                          .c_str()) == 0);
  options.key_file = encrypted;
  options.key_file_pass = "secret";
  CHECK(TlsServer::make(options));
  for (const char* pass : {"", "wrong"}) {
    options.key_file_pass = pass;
    const auto made = TlsServer::make(options);
    REQUIRE_FALSE(made);
    CHECK(made.error().text.find("is encrypted, and tls-key-file-pass does not open it") !=
          std::string::npos);
  }
}

TEST_CASE("a server whose new certificate is of no use goes on with the old one") {
  Ends ends;
  const TlsServerOptions options = ends.server_options();
  const auto server = TlsServer::make(options).value();
  const std::int64_t end = server->certificate_ends_at();
  std::ofstream(options.cert_file) << "half";
  CHECK_FALSE(server->renew(options));
  CHECK(server->certificate_ends_at() == end);
  ends.certificates().sign("node1", "DNS:node1", 300);
  CHECK(server->renew(options));
  CHECK(server->certificate_ends_at() > end);
}

TEST_CASE("who dials shows the certificate that stands in the file by then") {
  Ends ends;
  ends.certificates().sign("alice", "DNS:alice", -1);
  const auto server = TlsServer::make(ends.asking_options()).value();
  const auto client = TlsClient::make(ends.showing_options("alice")).value();
  const auto dial = [&] {
    ends.server = server->channel();
    ends.client = client->channel("node1");
    ends.client->begin(ends.to_server);
    ends.exchange();
    return ends.server->state();
  };
  CHECK(dial() == State::failed);
  ends.certificates().sign("alice", "DNS:alice");
  CHECK(dial() == State::open);
  std::ofstream(ends.certificates().file("alice")) << "half";
  CHECK(dial() == State::open);
}
