#include "tests/process/kill_storm/connection.h"

#include "base/invariant.h"
#include "base/net/turn/clock.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace redlock::kill_storm {

Instant now() {
  return net::read_clock(net::ClockKind::monotonic);
}

std::optional<Connection> Connection::dial(std::uint16_t port) {
  Connection connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  INVARIANT(connection.descriptor_ >= 0, "no more descriptors");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  // On this machine, so it is made or refused at once.
  if (connect(connection.descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return std::nullopt;
  }
  const int on = 1;
  setsockopt(connection.descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connection.descriptor_, F_SETFL, O_NONBLOCK);
  return connection;
}

Connection::Connection(Connection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      is_open_(other.is_open_),
      output_(std::move(other.output_)),
      input_(std::move(other.input_)),
      parsed_(other.parsed_) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(is_open_, other.is_open_);
  std::swap(output_, other.output_);
  std::swap(input_, other.input_);
  std::swap(parsed_, other.parsed_);
  return *this;
}

Connection::~Connection() {
  if (descriptor_ >= 0) close(descriptor_);
}

void Connection::add(const std::vector<std::string>& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  protocol::write_request(views, output_);
}

void Connection::flush() {
  std::string_view rest = output_.view();
  while (!rest.empty() && is_open_) {
    const ssize_t sent = send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // Few and small requests are on their way at a time, so they fit a socket's buffer.
    INVARIANT(sent >= 0 || errno != EAGAIN, "the node does not read");
    if (sent < 0) is_open_ = false;
    if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  output_.clear();
}

void Connection::receive() {
  std::array<char, 16 * 1024> bytes{};
  for (;;) {
    const ssize_t received = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (received > 0) {
      input_.append(bytes.data(), static_cast<std::size_t>(received));
      continue;
    }
    if (received < 0 && errno == EINTR) continue;
    if (received == 0 || errno != EAGAIN) is_open_ = false;
    return;
  }
}

std::optional<protocol::Reply> Connection::next_reply() {
  auto parsed = protocol::parse_reply(std::string_view(input_).substr(parsed_));
  INVARIANT(parsed.state != protocol::ParsedReply::State::broken, "a node's reply is no RESP");
  if (parsed.state == protocol::ParsedReply::State::incomplete) {
    input_.erase(0, parsed_);
    parsed_ = 0;
    return std::nullopt;
  }
  parsed_ += parsed.consumed;
  return std::move(parsed.reply);
}

}  // namespace redlock::kill_storm
