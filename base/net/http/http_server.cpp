#include "base/net/http/http_server.h"

#include "base/net/turn/clock.h"
#include "base/text/words.h"

#include <algorithm>
#include <http_parser.h>
#include <utility>

#include <fmt/format.h>

namespace redlock::net {
namespace {

constexpr int kBacklog = 16;
// What a page may do: scripts and styles of its own server, and questions to that.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Browsers ask for a user, too: whatever is said there will do.
constexpr std::string_view kPasswordWanted =
    "WWW-Authenticate: Basic realm=\"redlock\", charset=\"UTF-8\"\r\n";

Instant now() {
  return read_clock(ClockKind::monotonic);
}

std::string bytes_of(const HttpResponse& response, bool has_body, bool keeps_alive) {
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: {}\r\n",
      response.status, http_status_str(static_cast<http_status>(response.status)), response.type,
      kContentPolicy);
  const bool is_endless = response.events != nullptr;
  if (!is_endless) bytes += fmt::format("Content-Length: {}\r\n", response.body.size());
  if (response.status == 405) bytes += "Allow: GET, HEAD\r\n";
  if (response.status == 401) bytes += kPasswordWanted;
  bytes += keeps_alive ? "\r\n" : "Connection: close\r\n\r\n";
  if (has_body) bytes += response.body;
  return bytes;
}

// "127.0.0.1:9379" and "[::1]:9379" without their ports.
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

}  // namespace

HttpResponse HttpResponse::listen_to(HttpEvents& events) {
  if (events.is_full()) return failure(503);
  return {.type = "text/event-stream", .events = &events};
}

HttpResponse HttpResponse::failure(int status) {
  return {.status = status,
          .body = fmt::format("{}\n", http_status_str(static_cast<http_status>(status)))};
}

bool is_meant_for(std::string_view host, bool is_from_this_machine) {
  if (!is_from_this_machine) return true;
  const std::string name(without_port(host));
  return equals_ignoring_case(name, "localhost") || numeric_socket_address({name, 0});
}

class HttpServer::Connection final : public Stream::User, private HttpEvents::Listener {
 public:
  Connection(HttpServer& server, std::unique_ptr<Stream> stream)
      : server_(server), stream_(std::move(stream)), silent_since_(now()) {
    stream_->set_user(*this);
    stream_->start_reading();
  }

  ~Connection() {
    if (events_ != nullptr) events_->remove(*this);
  }

  Instant silent_since() const { return silent_since_; }
  bool is_listening() const { return events_ != nullptr; }

  // While an answer is on its way nothing more is read, so that what is kept stays bounded.
  void on_bytes(std::string_view bytes) override {
    if (is_ending_ || events_ != nullptr) return;
    input_ += bytes;
    if (!waits_) serve();
  }
  void on_end(std::string_view) override { server_.forget(*this); }
  void on_drained() override {
    if (!is_ending_ && !waits_ && events_ == nullptr) serve();
  }
  void go_on() {
    waits_ = false;
    serve();
  }

 private:
  // One request. Behind an answer that is on its way, or where more are to be read first, nothing
  // is read from the peer.
  void serve() {
    std::string_view rest = input_;
    const HttpReader::State state = reader_.read(rest);
    input_.erase(0, input_.size() - rest.size());
    if (state != HttpReader::State::more) answer(state);
    if (events_ != nullptr) return stream_->start_reading();  // to know when it goes away
    if (is_ending_) return stream_->end_after_writes();  // the last: it may be forgotten in there
    const bool is_drained = stream_->queued_bytes() == 0;
    if (is_drained && input_.empty()) return stream_->start_reading();
    stream_->stop_reading();
    if (!is_drained) return;
    waits_ = true;
    server_.serve_later(*this);
  }

  void answer(HttpReader::State state) {
    const bool is_whole = state == HttpReader::State::whole;
    const HttpRequest& request = reader_.request();
    const HttpResponse response = is_whole ? response_to(request)
                                  : state == HttpReader::State::too_long
                                      ? HttpResponse::failure(431)
                                      : HttpResponse::failure(400);
    const bool keeps_alive =
        is_whole && request.keeps_alive && response.events == nullptr && response.status != 401;
    const bool has_body = !is_whole || request.method != "HEAD";
    silent_since_ = now();
    stream_->write(bytes_of(response, has_body, keeps_alive));
    const bool listens = response.events != nullptr && has_body;
    is_ending_ = !keeps_alive && !listens;
    if (!listens) return;
    events_ = response.events;
    events_->add(*this);
  }

  // HttpEvents::Listener
  void send(std::string_view bytes) override {
    const std::size_t unread = stream_->queued_bytes();
    if (unread == 0) silent_since_ = now();
    const bool is_behind = now() - silent_since_ >= HttpEvents::kBehindMax;
    const bool is_too_much = unread > 0 && unread + bytes.size() > HttpEvents::kUnreadBytesMax;
    if (is_behind || is_too_much) return server_.forget(*this);
    stream_->write(bytes);
  }

  // By whichever of its addresses.
  bool is_from_this_machine() const {
    return stream_->peer_is_loopback() || stream_->peer().host == stream_->local().host;
  }

  HttpResponse response_to(const HttpRequest& request) const {
    if (request.method != "GET" && request.method != "HEAD") return HttpResponse::failure(405);
    const bool has_host = !request.host.empty();  // as every browser's request
    if (has_host && !is_meant_for(request.host, is_from_this_machine())) {
      return HttpResponse::failure(421);
    }
    return server_.answer_(request, stream_->peer());
  }

  HttpServer& server_;
  std::unique_ptr<Stream> stream_;
  HttpReader reader_;
  std::string input_;
  Instant silent_since_;
  bool is_ending_ = false;
  bool waits_ = false;            // for its next turn
  HttpEvents* events_ = nullptr;  // that it listens to
};

HttpServer::HttpServer(Loop& loop, Answer answer)
    : answer_(std::move(answer)),
      silence_(loop, ClockKind::monotonic, [this] { close_silent(); }),
      next_turn_(loop, ClockKind::monotonic, [this] { serve_next(); }) {
  silence_.keep_loop_alive(false);
}

HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, const Address& address,
                                                       Answer answer, const TlsServer* tls) {
  std::unique_ptr<HttpServer> server(new HttpServer(loop, std::move(answer)));
  auto listener = Listener::listen(loop, address, kBacklog, [raw = server.get(), tls](auto stream) {
    if (tls != nullptr) stream->protect(tls->channel());
    raw->accept(std::move(stream));
  });
  if (!listener) return listener.error();
  server->listener_ = std::move(listener).value();
  return server;
}

void HttpServer::accept(std::unique_ptr<Stream> stream) {
  if (connections_.size() >= kConnectionsMax) {
    // Who listens has nothing more to say, and goes after all others.
    const auto longest = std::min_element(connections_.begin(), connections_.end(),
                                          [](const auto& a, const auto& b) {
                                            return std::pair(a->is_listening(), a->silent_since()) <
                                                   std::pair(b->is_listening(), b->silent_since());
                                          });
    forget(**longest);
  }
  connections_.push_back(std::make_unique<Connection>(*this, std::move(stream)));
  set_timer();
}

void HttpServer::serve_later(Connection& connection) {
  waiting_.push_back(&connection);
  next_turn_.set(now());
}

void HttpServer::serve_next() {
  if (waiting_.empty()) return;
  Connection& connection = *waiting_.front();
  waiting_.pop_front();
  if (!waiting_.empty()) next_turn_.set(now());
  connection.go_on();
}

void HttpServer::forget(const Connection& connection) {
  std::erase(waiting_, &connection);
  std::erase_if(connections_, [&](const auto& one) { return one.get() == &connection; });
}

void HttpServer::close_silent() {
  const Instant since = now() - kSilenceMax;
  const auto is_silent = [&](const auto& one) { return one->silent_since() <= since; };
  while (true) {
    const auto found = std::find_if(connections_.begin(), connections_.end(), is_silent);
    if (found == connections_.end()) break;
    forget(**found);
  }
  set_timer();
}

void HttpServer::set_timer() {
  std::optional<Instant> next;
  for (const auto& one : connections_) {
    next = earlier(next, later(one->silent_since(), kSilenceMax));
  }
  silence_.set(next);
}

}  // namespace redlock::net
