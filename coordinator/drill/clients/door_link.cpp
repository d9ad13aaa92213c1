#include "coordinator/drill/clients/door_link.h"

#include "base/net/sockets/address.h"
#include "base/net/turn/clock.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace redlock::drill {
namespace {

// A door that is stopped takes a connection all the same, until its backlog is full.
constexpr Duration kTryAgain = 5ms;

// False: not by then. A process that was stopped itself goes on waiting.
bool wait_for(int socket, short what, Instant give_up_at) {
  for (;;) {
    const Duration left = give_up_at - net::holder_now();
    if (left <= Duration::zero()) return false;
    pollfd polled{.fd = socket, .events = what, .revents = 0};
    const int ready = poll(&polled, 1, static_cast<int>(ceil_ms(left)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

DoorLink::DoorLink(DoorLink&& other) noexcept
    : path_(std::move(other.path_)), socket_(std::exchange(other.socket_, -1)) {}

std::optional<protocol::Reply> DoorLink::ask(protocol::Request request, Instant give_up_at) {
  protocol::OutputBuffer bytes;
  protocol::write_request(request, bytes);
  std::optional<protocol::Reply> reply;
  if (is_connected(give_up_at) && send(bytes.view(), give_up_at)) reply = receive(give_up_at);
  if (!reply) close();
  return reply;
}

bool DoorLink::is_connected(Instant give_up_at) {
  if (socket_ >= 0) return true;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() > net::kUnixPathBytesMax) return false;
  path_.copy(address.sun_path, path_.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto* raw = reinterpret_cast<const sockaddr*>(&address);
  while (connect(socket_, raw, sizeof address) != 0) {
    if (errno != EAGAIN && errno != EINTR) return false;
    if (later(net::holder_now(), kTryAgain) > give_up_at) return false;
    poll(nullptr, 0, static_cast<int>(ceil_ms(kTryAgain)));
  }
  return true;
}

bool DoorLink::send(std::string_view bytes, Instant give_up_at) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    } else if (!wait_for(socket_, POLLOUT, give_up_at)) {
      return false;
    }
  }
  return true;
}

// One request is under way at a time, so its answer is all that can come.
std::optional<protocol::Reply> DoorLink::receive(Instant give_up_at) {
  protocol::ReplyParser parser;
  std::string bytes;
  while (wait_for(socket_, POLLIN, give_up_at)) {
    std::array<char, 4096> piece;
    const ssize_t got = ::recv(socket_, piece.data(), piece.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return std::nullopt;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    const auto state = parser.parse(bytes);
    if (state == protocol::ReplyParser::State::complete) return parser.take_reply();
    if (state == protocol::ReplyParser::State::broken) return std::nullopt;
  }
  return std::nullopt;
}

void DoorLink::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

}  // namespace redlock::drill
