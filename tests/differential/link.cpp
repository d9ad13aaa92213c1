#include "tests/differential/link.h"

#include "protocol/resp/reply_parser.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::differential {
namespace {

constexpr timeval kPatience{.tv_sec = 60, .tv_usec = 0};
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kShortReadBytes = 8 * 1024;  // behind which no more is waiting

}  // namespace

std::string Answer::to_string() const {
  switch (state) {
    case State::reply:
      return reply.to_string();
    case State::closed:
      return "(closed)";
    case State::silent:
      return "(none)";
    case State::broken:
      break;
  }
  return "(broken) " + problem;
}

std::string texts_of(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers) text += (text.empty() ? "" : "  ") + answer.to_string();
  return text.empty() ? "(none)" : text;
}

Link::Link(const std::string& socket_path)
    : socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  [[maybe_unused]] const int refused =  // then the first answer says so
      connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Link::~Link() {
  close(socket_);
}

void Link::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // next() tells it
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Link::end_sending() {
  shutdown(socket_, SHUT_WR);
}

bool Link::receive() {
  if (taken_ == received_.size()) {
    received_.clear();
    taken_ = 0;
  }
  char buffer[kReadBytes];
  ssize_t count = recv(socket_, buffer, sizeof buffer, 0);
  is_silent_ = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  if (count <= 0) return false;
  // A long reply is read whole before it is parsed again.
  while (count > 0) {
    received_.append(buffer, static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < kShortReadBytes) break;
    count = recv(socket_, buffer, sizeof buffer, MSG_DONTWAIT);
  }
  return true;
}

Answer Link::next() {
  for (;;) {
    auto parsed = protocol::parse_reply(pending());
    if (parsed.state == protocol::ParsedReply::State::broken) {
      return {Answer::State::broken, std::string(pending()), {}, std::move(parsed.problem)};
    }
    if (parsed.state == protocol::ParsedReply::State::complete) {
      std::string bytes(pending().substr(0, parsed.consumed));
      taken_ += parsed.consumed;
      return {Answer::State::reply, std::move(bytes), std::move(parsed.reply), {}};
    }
    if (!receive()) {
      const auto state = is_silent_ ? Answer::State::silent : Answer::State::closed;
      return {state, std::string(pending()), {}, {}};
    }
  }
}

std::string Link::rest() {
  while (receive()) {
  }
  std::string bytes(pending());
  taken_ = received_.size();
  return is_silent_ ? bytes + "(none)" : bytes + "(closed)";
}

}  // namespace redlock::differential
