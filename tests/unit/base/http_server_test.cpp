// Pages over a loopback socket: what is answered, what is refused, and who is closed.
#include "base/net/http/http_server.h"

#include "base/net/http/http_reader.h"
#include "tests/support/loop_until.h"

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::net;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

constexpr Duration kSoon = 10s;
constexpr std::size_t kLargeBytes = 16 * 1024 * 1024;  // more than sockets hold

struct Browser final : Stream::User {
  void on_connected() override {}
  void on_bytes(std::string_view bytes) override { heard += bytes; }
  void on_end(std::string_view) override { is_closed = true; }

  std::unique_ptr<Stream> stream;
  std::string heard;
  bool is_closed = false;
};

class Site {
 public:
  Site()
      : server_(HttpServer::listen(loop_, {"127.0.0.1", 0},
                                   [this](const HttpRequest& request, const Address&) {
                                     const std::string& path = request.path;
                                     ++asked;
                                     if (path == "/large")
                                       return HttpResponse{.body = std::string(kLargeBytes, 'x')};
                                     if (path == "/mine" && request.authorization != "me") {
                                       return HttpResponse::failure(401);
                                     }
                                     if (path == "/events") return HttpResponse::listen_to(events);
                                     return path == "/page" || path == "/mine"
                                                ? HttpResponse{.body = "hello\n"}
                                                : HttpResponse::not_found();
                                   })
                    .value()) {
    std::signal(SIGPIPE, SIG_IGN);  // as whoever serves others
  }

  Browser& connect() {
    browsers_.push_back(std::make_unique<Browser>());
    Browser& browser = *browsers_.back();
    browser.stream = Stream::connect(loop_, server_->local(), browser);
    const std::size_t before = server_->connections();
    run_until([&] { return server_->connections() != before || browser.is_closed; }, 100ms);
    browser.stream->start_reading();
    return browser;
  }
  // All that comes until the last of it ends so.
  std::string ask(Browser& browser, std::string_view request, std::string_view end = "\n") {
    browser.stream->write(request);
    run_until([&] { return browser.heard.ends_with(end) || browser.is_closed; });
    return std::exchange(browser.heard, {});
  }
  std::string ask(std::string_view request) { return ask(connect(), request); }

  template <class Condition>
  bool run_until(const Condition& is_met, Duration within = kSoon) {
    return run_loop_until(loop_, is_met, within);
  }
  HttpServer& server() { return *server_; }

  int asked = 0;
  HttpEvents events;

 private:
  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::unique_ptr<Browser>> browsers_;
};

}  // namespace

TEST_CASE("a page, its head alone, and no page") {
  Site site;
  Browser& browser = site.connect();
  const std::string page = site.ask(browser, "GET /page?now HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n") && Contains("\r\nContent-Length: 6\r\n") &&
                       EndsWith("\r\n\r\nhello\n"));
  const std::string head =
      site.ask(browser, "HEAD /page HTTP/1.1\r\nHost: localhost\r\n\r\n", "\r\n\r\n");
  CHECK(head + "hello\n" == page);
  CHECK_THAT(site.ask(browser, "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             StartsWith("HTTP/1.1 404 Not Found\r\n"));
  CHECK_FALSE(browser.is_closed);
  CHECK(site.server().connections() == 1);
}

TEST_CASE("who does not say who it is is asked for it") {
  Site site;
  Browser& browser = site.connect();
  CHECK_THAT(site.ask(browser, "GET /mine HTTP/1.1\r\nHost: localhost\r\n\r\n"),
             StartsWith("HTTP/1.1 401 Unauthorized\r\n") &&
                 Contains("\r\nWWW-Authenticate: Basic realm=\"redlock\", charset=\"UTF-8\"\r\n"));
  CHECK(site.run_until([&] { return browser.is_closed; }));
  CHECK_THAT(site.ask("GET /mine HTTP/1.1\r\nAuthorization: me\r\n\r\n"),
             StartsWith("HTTP/1.1 200 OK\r\n") && !Contains("WWW-Authenticate"));
}

TEST_CASE("a connection ends as the client wants it") {
  Site site;
  Browser& browser = site.connect();
  CHECK_THAT(site.ask(browser, "GET /page HTTP/1.0\r\n\r\n"),
             Contains("\r\nConnection: close\r\n"));
  CHECK(site.run_until([&] { return browser.is_closed; }));
  CHECK(site.run_until([&] { return site.server().connections() == 0; }));
}

TEST_CASE("nothing is done for another method, and nothing for what is no request") {
  Site site;
  CHECK_THAT(site.ask("POST /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx"),
             StartsWith("HTTP/1.1 405 ") && Contains("\r\nAllow: GET, HEAD\r\n"));
  CHECK_THAT(site.ask("*1\r\n$4\r\nPING\r\n"), StartsWith("HTTP/1.1 400 "));
  CHECK_THAT(site.ask("GET /" + std::string(HttpReader::kRequestBytesMax, 'x')),
             StartsWith("HTTP/1.1 431 "));
  CHECK(site.asked == 0);
}

TEST_CASE("a name that is not this machine's is refused from it") {
  for (const char* host : {"localhost", "LocalHost:9379", "127.0.0.1", "127.0.0.1:9379", "[::1]",
                           "[::1]:9379", "10.0.0.7:9379"}) {
    CHECK(is_meant_for(host, true));
  }
  for (const char* host : {"evil.example", "evil.example:9379", "127.0.0.1.evil.example", "[::1",
                           "localhost.evil.example", "", ":9379"}) {
    CHECK_FALSE(is_meant_for(host, true));
    CHECK(is_meant_for(host, false));  // collectors name a node as they like
  }
  Site site;
  CHECK_THAT(site.ask("GET /page HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
             StartsWith("HTTP/1.1 421 "));
  CHECK(site.asked == 0);
}

TEST_CASE("requests in a row are answered in their order") {
  Site site;
  const std::string all =
      site.ask(site.connect(),
               "GET /page HTTP/1.1\r\n\r\nGET /none HTTP/1.1\r\n\r\nGET /page HTTP/1.0\r\n\r\n",
               "(its end)");
  CHECK(site.asked == 3);
  CHECK(all.find("404") > all.find("200"));
  CHECK(all.rfind("200") > all.find("404"));
}

TEST_CASE("of many requests at once one is answered between two looks at the sockets") {
  Site site;
  Browser& many = site.connect();
  Browser& other = site.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += "HEAD /page HTTP/1.1\r\n\r\n";
  many.stream->write(requests);
  CHECK(site.run_until([&] { return site.asked > 0; }));
  other.stream->write("GET /page HTTP/1.1\r\n\r\n");
  CHECK(site.run_until([&] { return other.heard.ends_with("hello\n"); }));
  CHECK(site.asked < 1000);
  many.stream.reset();  // also while it waits for its turn
  CHECK(site.run_until([&] { return site.server().connections() == 1; }));
  CHECK_FALSE(site.ask(other, "GET /page HTTP/1.1\r\n\r\n").empty());
}

TEST_CASE("who reads nothing is asked for no more") {
  Site site;
  Browser& browser = site.connect();
  browser.stream->stop_reading();
  std::string requests;
  for (int i = 0; i < 5; ++i) requests += "GET /large HTTP/1.1\r\n\r\n";
  browser.stream->write(requests);
  CHECK_FALSE(site.run_until([&] { return site.asked > 1; }, 200ms));
  browser.stream->start_reading();
  CHECK(site.run_until([&] { return site.asked == 5; }));
}

TEST_CASE("the one that is silent for longest makes room for the next") {
  Site site;
  std::vector<Browser*> browsers;
  for (std::size_t i = 0; i < HttpServer::kConnectionsMax; ++i) {
    browsers.push_back(&site.connect());
  }
  CHECK(site.server().connections() == HttpServer::kConnectionsMax);
  site.ask(*browsers[0], "GET /page HTTP/1.1\r\n\r\n");  // so the second is it
  CHECK_THAT(site.ask("GET /page HTTP/1.1\r\n\r\n"), Contains("200"));
  CHECK(site.run_until([&] { return browsers[1]->is_closed; }));
  CHECK_FALSE(browsers[0]->is_closed);
  CHECK(site.server().connections() == HttpServer::kConnectionsMax);
}

TEST_CASE("who listens is told what happens, for as long as it is there") {
  constexpr const char* kListen = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Site site;
  site.events.send("to nobody");
  Browser& browser = site.connect();
  CHECK_THAT(site.ask(browser, kListen, "\r\n\r\n"),
             Contains("200 OK") && Contains("\r\nContent-Type: text/event-stream\r\n") &&
                 !Contains("Content-Length") && Contains("default-src 'none'"));
  CHECK(site.events.listeners() == 1);
  site.events.send("{}");
  CHECK(site.run_until([&] { return browser.heard == "data: {}\n\n"; }));
  const int asked = site.asked;
  browser.stream->write("GET /page HTTP/1.1\r\n\r\n");  // is not looked at any more
  CHECK_THAT(site.ask("HEAD /events HTTP/1.1\r\n\r\n"), Contains("200 OK"));
  CHECK(site.asked == asked + 1);
  CHECK(site.events.listeners() == 1);
  browser.stream.reset();
  CHECK(site.run_until([&] { return site.events.listeners() == 0; }));
}

TEST_CASE("of those who listen there are so many, and each reads") {
  constexpr const char* kListen = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
  Site site;
  std::vector<Browser*> browsers;
  for (std::size_t i = 0; i < HttpEvents::kListenersMax; ++i) {
    browsers.push_back(&site.connect());
    site.ask(*browsers.back(), kListen, "\r\n\r\n");
  }
  CHECK_THAT(site.ask(kListen), StartsWith("HTTP/1.1 503 "));
  browsers[0]->stream->stop_reading();
  const std::string large(kLargeBytes / 16, 'x');
  for (int i = 0; i < 16; ++i) {
    site.events.send(large);
    site.run_until([&] { return browsers[1]->heard.ends_with("x\n\n"); });
    browsers[1]->heard.clear();
  }
  CHECK(site.events.listeners() == HttpEvents::kListenersMax - 1);
  CHECK_FALSE(browsers[1]->is_closed);
}
