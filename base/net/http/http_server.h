// HttpServer: small pages for browsers and for what collects metrics, on the program's own loop.
//
//   auto server = HttpServer::listen(loop, {"127.0.0.1", 9379},
//                                    [&](const HttpRequest& request, const Address&) {
//     return request.path == "/metrics" ? HttpResponse{.body = metrics()}
//                                       : HttpResponse::not_found();
//   });
//
// HTTP/1.1 and 1.0, GET and HEAD, one request of a connection after the other, and one page between
// two looks at the sockets for those who send many at once. Whoever sends more than a request may
// have, reads nothing or says nothing for long costs a bounded room, and is closed. A page may load
// and ask what comes from here, and nothing else.
//
// A page that a browser has from elsewhere may have a name of its own lead to this machine, and ask
// here as if it were at home (DNS rebinding). So what comes from this machine must name it: by a
// numeric address, or as localhost.
//
// Thread safety: none, as Loop.
#pragma once

#include "base/net/http/http_events.h"
#include "base/net/http/http_reader.h"
#include "base/net/sockets/address.h"
#include "base/net/sockets/listener.h"
#include "base/net/tls/tls_server.h"
#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include <redlock/result.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::net {

struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  HttpEvents* events = nullptr;  // what is told from then on, in place of a body

  // 503 where too many listen already.
  static HttpResponse listen_to(HttpEvents& events);
  // The status's name is the text.
  static HttpResponse failure(int status);
  static HttpResponse not_found() { return failure(404); }
};

class HttpServer {
 public:
  // More than the collectors and browsers of an installation; the one that is silent for longest
  // makes room for the next.
  static constexpr std::size_t kConnectionsMax = 32;
  // For a whole request, and for its answer to be read. A collector that asks once a minute keeps
  // its connection.
  static constexpr Duration kSilenceMax = 90s;

  // To a GET of the path; also whether there is such a page, and whether the request shows the
  // password for it. 401: it is asked for, and the connection closed, so that a guess costs one.
  // Called on the loop.
  using Answer = std::function<HttpResponse(const HttpRequest& request, const Address& peer)>;

  // tls: https; outlives the server. nullptr: http.
  static Result<std::unique_ptr<HttpServer>> listen(Loop& loop, const Address& address,
                                                    Answer answer, const TlsServer* tls = nullptr);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const Address& local() const { return listener_->local(); }
  std::size_t connections() const { return connections_.size(); }

 private:
  class Connection;

  HttpServer(Loop& loop, Answer answer);
  void accept(std::unique_ptr<Stream> stream);
  void forget(const Connection& connection);
  // It has more requests than the one that was answered in this turn.
  void serve_later(Connection& connection);
  void serve_next();
  void close_silent();
  void set_timer();

  Answer answer_;
  Timer silence_;
  Timer next_turn_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<Connection*> waiting_;  // for a turn
};

// Whether what this Host field names may be answered (see above).
bool is_meant_for(std::string_view host, bool is_from_this_machine);

}  // namespace redlock::net
