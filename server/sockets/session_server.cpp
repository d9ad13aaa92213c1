#include "server/sockets/session_server.h"

#include "base/invariant.h"
#include "base/net/turn/clock.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Session;

namespace {

// As much as a client can have sent ahead in good faith, one full read.
constexpr std::size_t kWaitingBacklogMax = 64 * 1024;
// The same for a client that is held back until it reads: it may write its whole pipeline first.
constexpr std::size_t kHeldBackBacklogMax = 16 * 1024 * 1024;
// So long a connection that is to end waits for its peer to read what it was told last, as the
// answer to QUIT. A peer that reads nothing would keep its place among maxclients.
constexpr Duration kLastWordsTime = 1s;
// So many wishes of sessions that end are forgotten in a turn: some 2 ms.
constexpr std::size_t kForgottenAtOnce = 2048;
// So long a client may take for its TLS. The slowest honest one needs some round trips and some
// milliseconds of arithmetic; what it says in that time is bounded by the handshake itself.
constexpr Duration kHandshakeTime = 10s;
// More output than this is handed over as it is; less is copied, and its memory used again.
constexpr std::size_t kCopiedBytesMax = 16 * 1024;

}  // namespace

// One client: a stream, and the session behind it.
class SessionServer::Connection final : public net::Stream::User, public protocol::Transport {
 public:
  Connection(SessionServer& server, std::unique_ptr<net::Stream> stream)
      : server_(server),
        stream_(std::move(stream)),
        session_(server.host_.open_session(peer(), net::read_now())) {
    session_.transport = this;
    stream_->set_user(*this);
    stream_->set_keepalive(server.host_.settings().tcp_keepalive);
    if (!session_.is_closing()) stream_->start_reading();
  }

  // Its TLS is open. Nothing that it says was executed before.
  void on_connected() override {
    const std::string name = stream_->peer_name();
    if (!name.empty()) server_.host_.note_certificate(session_, name, net::read_now());
  }

  void on_bytes(std::string_view bytes) override { server_.take(*this, bytes); }

  // REQUIRES: `now` was read after the bytes.
  void execute(std::string_view bytes, Now now) {
    server_.host_.receive(session_, bytes, now);
    if (!may_send_more()) stream_->stop_reading();
  }

  // The session may outlive the stream: see Node::has_unfinished_request.
  void on_end(std::string_view reason) override {
    if (is_opening() && !reason.empty()) tell_unopened(reason);
    server_.execute_held();  // what it sent before it went may be among it
    session_.client_is_gone = true;
    if (!server_.host_.has_unfinished_request(session_)) return server_.forget(*this);
    stream_.reset();
  }

  void on_drained() override { server_.host_.note_unsent(session_, 0); }

  std::size_t unsent_bytes() const override { return stream_ ? stream_->queued_bytes() : 0; }
  std::size_t unsent_pieces() const override { return stream_ ? stream_->queued_pieces() : 0; }

  // The connection may be gone after this.
  void flush() {
    if (!stream_) return flush_to_nobody();
    if (session_.cut() != Session::Cut::no) return cut_off();
    if (const auto end = server_.host_.send_by(session_)) {
      if (!send_output_by(*end)) return cut_off();
    } else {
      send_output();
    }
    if (leaves_too_much_unread()) {
      server_.host_.client_log().log(
          ClientLog::Kind::slow_reader, LogLevel::warning,
          fmt::format("closing {}: it left more than client-output-buffer-limit unread",
                      session_.peer().address),
          net::read_clock(net::ClockKind::monotonic));
      return server_.forget(*this);
    }
    if (session_.is_closing()) return end();
    server_.host_.note_unsent(session_, stream_->queued_bytes());
    if (may_send_more()) stream_->start_reading();
  }

  Session& session() { return session_; }
  bool is_opening() const { return stream_ && stream_->is_opening(); }
  void tell_unopened(std::string_view reason) const {
    server_.host_.client_log().log(ClientLog::Kind::tls, LogLevel::notice,
                                   fmt::format("closing {}: {}", session_.peer().address, reason),
                                   net::read_clock(net::ClockKind::monotonic));
  }

  // The session ends in a later turn, and executes nothing more.
  void leave() {
    stream_.reset();
    is_leaving_ = true;
    session_.close_after_output();
  }
  bool is_leaving() const { return is_leaving_; }

  bool is_held = false;  // something of it stands in the turn's input

 private:
  // A client that waits, or is held back, is read on, so that its end is noticed and takes its
  // waits along. What more it sends than this stays with the kernel.
  bool may_send_more() const {
    const std::size_t bytes_max = session_.is_held_back() ? kHeldBackBacklogMax
                                  : session_.is_waiting() ? kWaitingBacklogMax
                                                          : std::string::npos;
    return session_.backlog_bytes() < bytes_max;
  }

  void send_output() {
    protocol::OutputBuffer& output = session_.output();
    server_.host_.note_sent(session_, output.size());
    if (output.size() > kCopiedBytesMax) return stream_->hand_over(output.take());
    stream_->write(output.view());
    output.clear();
  }

  // Rule D2. What a stopped process has queued the kernel takes whenever it goes on, unlooked at:
  // so nothing of it is queued. False: there are bytes left.
  bool send_output_by(Instant end) {
    protocol::OutputBuffer& output = session_.output();
    const bool is_in_time = net::holder_now() <= end;
    const std::size_t sent = is_in_time ? stream_->send(output.view()) : 0;
    const bool is_all = sent == output.size();
    output.clear();
    server_.host_.note_sent(session_, sent);
    return is_all;
  }

  void end() {
    if (is_ending_) return;
    is_ending_ = true;
    const Instant now = net::read_clock(net::ClockKind::monotonic);
    server_.ending_.push_back({now + kLastWordsTime, session_.id()});
    stream_->end_after_writes();
  }

  // As at its own end: the session may outlive the stream.
  void cut_off() {
    session_.client_is_gone = true;
    if (!server_.host_.has_unfinished_request(session_)) return server_.forget(*this);
    stream_.reset();
  }

  bool leaves_too_much_unread() {
    const std::size_t queued = stream_->queued_bytes();
    if (queued == 0 && !unread_.is_counting()) return false;
    const Settings& settings = server_.host_.settings();
    return unread_.is_too_much(
        queued, session_.is_listening() ? settings.listener_output_limit : settings.output_limit,
        net::read_clock(net::ClockKind::monotonic));
  }

  void flush_to_nobody() {
    session_.output().clear();
    if (!server_.host_.has_unfinished_request(session_)) server_.forget(*this);
  }

  protocol::Peer peer() const {
    const bool is_unix = stream_->peer().host.empty();
    return {is_unix ? server_.host_.settings().unixsocket + ":0" : stream_->peer().text(),
            is_unix ? server_.host_.settings().unixsocket + ":0" : stream_->local().text(),
            stream_->descriptor(), stream_->peer_is_loopback()};
  }

  SessionServer& server_;
  std::unique_ptr<net::Stream> stream_;
  Session& session_;
  UnreadWatch unread_;
  bool is_ending_ = false;
  bool is_leaving_ = false;
};

SessionServer::SessionServer(net::Loop& loop, SessionHost& host, Listeners& listeners, Hooks hooks)
    : host_(host),
      hooks_(std::move(hooks)),
      timer_(loop, net::ClockKind::monotonic, [this] { do_due_work(); }),
      after_wait_(loop, [this] { execute_held(); }),
      before_wait_(loop, [this] { end_turn(); }) {
  listeners.admit_to([this](auto stream) { accept(std::move(stream)); });
}

SessionServer::~SessionServer() = default;

void SessionServer::accept(std::unique_ptr<net::Stream> stream) {
  make_place();
  auto connection = std::make_unique<Connection>(*this, std::move(stream));
  const Session::Id id = connection->session().id();
  if (connection->is_opening()) {
    opening_.push_back({net::read_clock(net::ClockKind::monotonic) + kHandshakeTime, id});
  }
  connections_.emplace(id, std::move(connection));
}

bool SessionServer::is_opening(Session::Id id) const {
  const auto connection = connections_.find(id);
  return connection != connections_.end() && connection->second->is_opening();
}

void SessionServer::forget_opened() {
  while (!opening_.empty() && !is_opening(opening_.front().session)) opening_.pop_front();
}

// REQUIRES: there is one.
void SessionServer::drop_first_opening(std::string_view why) {
  const auto connection = connections_.find(opening_.front().session);
  opening_.pop_front();
  connection->second->tell_unopened(why);
  forget(*connection->second);
}

// Who has yet to open his TLS has shown nothing: where all places are taken, the one of these that
// came first goes. So they keep nobody out, as long as an honest one is faster than all of them.
void SessionServer::make_place() {
  if (host_.sessions().count() < host_.settings().maxclients) return;
  forget_opened();
  if (!opening_.empty()) drop_first_opening("its TLS was not open, and others need the place");
}

// The connection may be gone after this. Many that end together, each with much that it listens to,
// end in pieces.
void SessionServer::forget(Connection& connection) {
  INVARIANT(!connection.is_held, "a connection ends whose input is yet to be executed");
  if (connection.is_leaving()) return;
  const Session::Id id = connection.session().id();
  const std::size_t wishes = host_.wishes_of(connection.session());
  if (wishes == 0 || forgotten_ + wishes <= kForgottenAtOnce) return end_session(id);
  connection.leave();
  leaving_.push_back(id);
}

void SessionServer::end_session(Session::Id id) {
  const auto connection = connections_.find(id);
  forgotten_ += host_.wishes_of(connection->second->session());
  host_.close_session(id);
  connections_.erase(connection);
}

void SessionServer::let_some_leave() {
  while (!leaving_.empty() && forgotten_ < kForgottenAtOnce) {
    Session& session = connections_.find(leaving_.front())->second->session();
    const std::size_t budget = kForgottenAtOnce - forgotten_;
    const bool fits = host_.wishes_of(session) <= budget;
    const std::size_t forgotten = fits ? 0 : host_.forget_some(session, budget);
    forgotten_ += forgotten;
    if (forgotten > 0) continue;
    end_session(leaving_.front());
    leaving_.pop_front();
  }
}

// A connection is held once: what it sends behind comes behind.
// The connection may be gone after this.
void SessionServer::take(Connection& connection, std::string_view bytes) {
  if (connection.is_held) execute_held();
  if (bytes.size() > TurnInput<Connection>::kBytesMax) {
    return connection.execute(bytes, net::read_now());
  }
  held_.add(connection, bytes);
  connection.is_held = true;
  if (!held_.is_full()) return;
  execute_held();
  write_output();
}

void SessionServer::execute_held() {
  if (held_.is_empty()) return;
  if (held_.bytes().size() > 1) host_.expect(held_.bytes());
  const Now now = net::read_now();
  for (std::size_t i = 0; i < held_.bytes().size(); ++i) {
    Connection& connection = *held_.connections()[i];
    connection.is_held = false;
    connection.execute(held_.bytes()[i], now);
  }
  held_.clear();
}

void SessionServer::drop_last_words(Instant now) {
  while (!ending_.empty() && ending_.front().end <= now) {
    const auto connection = connections_.find(ending_.front().session);
    ending_.pop_front();
    if (connection != connections_.end()) connection->second->on_end({});
  }
}

void SessionServer::drop_unopened(Instant now) {
  for (forget_opened(); !opening_.empty() && opening_.front().end <= now; forget_opened()) {
    drop_first_opening("its TLS was not open in time");
  }
}

// What was answered before goes out before: the work may be a script, and take its time. The timer
// may come among the reads, and what was read executes first: a connection that ends in
// write_output() must not stand in the turn's input.
void SessionServer::do_due_work() {
  execute_held();
  write_output();
  const Now now = net::read_now();
  let_some_leave();
  drop_last_words(now.monotonic);
  drop_unopened(now.monotonic);
  host_.do_due_work(now);
}

void SessionServer::write_output() {
  host_.sessions().for_each_touched(
      [](Session& session) { static_cast<Connection*>(session.transport)->flush(); });
}

void SessionServer::end_turn() {
  if (hooks_.before_output) hooks_.before_output();
  write_output();
  if (hooks_.behind_output) {
    hooks_.behind_output();
    write_output();
  }
  if (host_.is_stopped()) return hooks_.stopped();
  forgotten_ = 0;
  set_timer();
}

// An earlier instant sets the timer anew; a later one leaves it: it then fires once for nothing,
// which is cheaper than a system call for every lock that comes and goes.
void SessionServer::set_timer() {
  auto next = host_.next_work();
  if (!ending_.empty()) next = std::min(next.value_or(kNever), ending_.front().end);
  if (!opening_.empty()) next = std::min(next.value_or(kNever), opening_.front().end);
  if (!leaving_.empty()) next = Instant{};
  if (next && (!timer_.when() || *next < *timer_.when())) timer_.set(next);
}

void SessionServer::stop() {
  execute_held();
  host_.stop();
  end_turn();  // what was answered goes out
}

}  // namespace redlock::server
