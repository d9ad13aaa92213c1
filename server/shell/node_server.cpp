#include "server/shell/node_server.h"

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
// So many wishes of sessions that end are forgotten in a turn: some 4 ms.
constexpr std::size_t kForgottenAtOnce = 4096;
// More output than this is handed over as it is; less is copied, and its memory used again.
constexpr std::size_t kCopiedBytesMax = 16 * 1024;

}  // namespace

// One client: a stream, and the session behind it.
class NodeServer::Connection final : public net::Stream::User, public protocol::UnsentOutput {
 public:
  Connection(NodeServer& server, std::unique_ptr<net::Stream> stream)
      : server_(server),
        stream_(std::move(stream)),
        session_(server.node_.open_session(peer(), net::read_now())) {
    session_.transport = this;
    session_.unsent = this;
    stream_->set_user(*this);
    stream_->set_keepalive_seconds(server.node_.settings().tcp_keepalive_seconds);
    if (!session_.is_closing()) stream_->start_reading();
  }

  void on_bytes(std::string_view bytes) override { server_.take(*this, bytes); }

  // REQUIRES: `now` was read after the bytes.
  void execute(std::string_view bytes, Now now) {
    server_.node_.receive(session_, bytes, now);
    if (!may_send_more()) stream_->stop_reading();
  }

  // The session may outlive the stream: see Node::has_unfinished_request.
  void on_end(std::string_view) override {
    server_.execute_held();  // what it sent before it went may be among it
    if (!server_.node_.has_unfinished_request(session_)) return server_.forget(*this);
    stream_.reset();
  }

  void on_drained() override { server_.node_.note_unsent(session_, 0); }

  std::size_t unsent_bytes() const override { return stream_ ? stream_->queued_bytes() : 0; }
  std::size_t unsent_pieces() const override { return stream_ ? stream_->queued_pieces() : 0; }

  // The connection may be gone after this.
  void flush() {
    if (!stream_) return flush_to_nobody();
    if (session_.cut() != Session::Cut::no) return cut_off();
    send_output();
    if (leaves_too_much_unread()) {
      server_.node_.client_log().log(
          ClientLog::Kind::slow_reader, LogLevel::warning,
          fmt::format("closing {}: it left more than client-output-buffer-limit unread",
                      session_.peer().address),
          net::read_clock(net::ClockKind::monotonic));
      return server_.forget(*this);
    }
    if (session_.is_closing()) return end();
    server_.node_.note_unsent(session_, stream_->queued_bytes());
    if (may_send_more()) stream_->start_reading();
  }

  Session& session() { return session_; }

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
    server_.node_.stats().bytes_out += output.size();
    if (output.size() > kCopiedBytesMax) return stream_->hand_over(output.take());
    stream_->write(output.view());
    output.clear();
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
    if (!server_.node_.has_unfinished_request(session_)) return server_.forget(*this);
    stream_.reset();
  }

  bool leaves_too_much_unread() {
    const std::size_t queued = stream_->queued_bytes();
    if (queued == 0 && !unread_.is_counting()) return false;
    const Settings& settings = server_.node_.settings();
    return unread_.is_too_much(
        queued, session_.is_listening() ? settings.listener_output_limit : settings.output_limit,
        net::read_clock(net::ClockKind::monotonic));
  }

  void flush_to_nobody() {
    session_.output().clear();
    if (!server_.node_.has_unfinished_request(session_)) server_.forget(*this);
  }

  protocol::Peer peer() const {
    const bool is_unix = stream_->peer().host.empty();
    return {is_unix ? server_.node_.settings().unixsocket + ":0" : stream_->peer().text(),
            is_unix ? server_.node_.settings().unixsocket + ":0" : stream_->local().text(),
            stream_->descriptor(), stream_->peer_is_loopback()};
  }

  NodeServer& server_;
  std::unique_ptr<net::Stream> stream_;
  Session& session_;
  UnreadWatch unread_;
  bool is_ending_ = false;
  bool is_leaving_ = false;
};

Result<std::unique_ptr<Listeners>> Listeners::open(net::Loop& loop, const Settings& settings,
                                                   bool any_free_port) {
  auto listeners = std::make_unique<Listeners>();
  std::vector<std::string> bind = settings.bind;
  const std::uint16_t port = any_free_port ? 0 : settings.port;
  if (port == 0 && !any_free_port) bind.clear();
  std::string problems;
  for (const std::string& name : bind) {
    const bool optional = name.starts_with('-');
    const auto added = listeners->add(loop, {name.substr(optional ? 1 : 0), port}, settings);
    if (!added && !optional) return added.error();
    if (!added) problems = added.error().text;
  }
  if (!settings.unixsocket.empty()) {
    const auto added = listeners->add(loop, {settings.unixsocket, 0}, settings);
    if (!added) return added.error();
  }
  if (listeners->listeners_.empty()) {
    return Failure{problems.empty() ? "nowhere to listen: set port or unixsocket" : problems};
  }
  return listeners;
}

Result<bool> Listeners::add(net::Loop& loop, const net::Address& address,
                            const Settings& settings) {
  const auto on_connection = [this](auto stream) {
    if (on_connection_) on_connection_(std::move(stream));
  };
  auto listener = net::Listener::listen(loop, address, settings.tcp_backlog, on_connection,
                                        settings.unixsocketperm);
  if (!listener) return listener.error();
  listeners_.push_back(std::move(listener).value());
  return true;
}

std::uint16_t Listeners::port() const {
  for (const auto& listener : listeners_) {
    if (!listener->local().is_unix()) return listener->local().port;
  }
  return 0;
}

std::string Listeners::addresses() const {
  std::string text;
  for (const auto& listener : listeners_) {
    if (!text.empty()) text += ", ";
    text += listener->local().text();
  }
  return text;
}

NodeServer::NodeServer(net::Loop& loop, Node& node, Listeners& listeners)
    : loop_(loop),
      node_(node),
      timer_(loop, net::ClockKind::monotonic, [this] { do_due_work(); }),
      after_wait_(loop, [this] { execute_held(); }),
      before_wait_(loop, [this] { end_turn(); }) {
  listeners.admit_to([this](auto stream) { accept(std::move(stream)); });
}

NodeServer::~NodeServer() = default;

void NodeServer::accept(std::unique_ptr<net::Stream> stream) {
  auto connection = std::make_unique<Connection>(*this, std::move(stream));
  const Session::Id id = connection->session().id();
  connections_.emplace(id, std::move(connection));
}

// The connection may be gone after this. Many that end together, each with much that it listens to,
// end in pieces.
void NodeServer::forget(Connection& connection) {
  INVARIANT(!connection.is_held, "a connection ends whose input is yet to be executed");
  if (connection.is_leaving()) return;
  const Session::Id id = connection.session().id();
  const std::size_t wishes = node_.subscriptions_of(connection.session());
  if (wishes == 0 || forgotten_ + wishes <= kForgottenAtOnce) return end_session(id);
  connection.leave();
  leaving_.push_back(id);
}

void NodeServer::end_session(Session::Id id) {
  const auto connection = connections_.find(id);
  forgotten_ += node_.subscriptions_of(connection->second->session());
  node_.close_session(id);
  connections_.erase(connection);
}

void NodeServer::let_some_leave() {
  while (!leaving_.empty() && forgotten_ < kForgottenAtOnce) {
    end_session(leaving_.front());
    leaving_.pop_front();
  }
}

// A connection is held once: what it sends behind comes behind. The connection may be gone after
// this.
void NodeServer::take(Connection& connection, std::string_view bytes) {
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

void NodeServer::execute_held() {
  if (held_.is_empty()) return;
  if (held_.bytes().size() > 1) node_.look_ahead().expect_first_of(held_.bytes());
  const Now now = net::read_now();
  for (std::size_t i = 0; i < held_.bytes().size(); ++i) {
    Connection& connection = *held_.connections()[i];
    connection.is_held = false;
    connection.execute(held_.bytes()[i], now);
  }
  held_.clear();
}

void NodeServer::drop_last_words(Instant now) {
  while (!ending_.empty() && ending_.front().end <= now) {
    const auto connection = connections_.find(ending_.front().session);
    ending_.pop_front();
    if (connection != connections_.end()) connection->second->on_end({});
  }
}

// What was answered before goes out before: the work may be a script, and take its time. The timer
// may come among the reads, and what was read executes first: a connection that ends in
// write_output() must not stand in the turn's input.
void NodeServer::do_due_work() {
  execute_held();
  write_output();
  const Now now = net::read_now();
  let_some_leave();
  drop_last_words(now.monotonic);
  const auto last_deadline = node_.do_due_work(now);
  if (!last_deadline) return;
  node_.stats().reclaim_lag = net::read_clock(net::ClockKind::monotonic) - *last_deadline;
}

void NodeServer::write_output() {
  node_.sessions().for_each_touched(
      [](Session& session) { static_cast<Connection*>(session.transport)->flush(); });
}

void NodeServer::end_turn() {
  write_output();
  if (node_.stop_request()) return loop_.stop();
  forgotten_ = 0;
  set_timer();
}

// An earlier instant sets the timer anew; a later one leaves it: it then fires once for nothing,
// which is cheaper than a system call for every lock that comes and goes.
void NodeServer::set_timer() {
  auto next = node_.next_work();
  if (!ending_.empty()) next = std::min(next.value_or(kNever), ending_.front().end);
  if (!leaving_.empty()) next = Instant{};
  if (next && (!timer_.when() || *next < *timer_.when())) timer_.set(next);
}

void NodeServer::stop(StopRequest request) {
  execute_held();
  node_.stop(request);
  end_turn();  // what was answered goes out
}

}  // namespace redlock::server
