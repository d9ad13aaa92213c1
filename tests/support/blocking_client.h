// A client over a plain blocking socket: words out, the answer in. A test's client needs no loop.
//
//   BlockingClient client(port);
//   CHECK(client.ask({"PING"}) == "+PONG");
#pragma once

#include "protocol/resp/reply_parser.h"
#include "protocol/resp/request_writer.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace redlock {

class BlockingClient {
 public:
  // At 127.0.0.1.
  explicit BlockingClient(std::uint16_t port) : BlockingClient(AF_INET) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    dial(&address, sizeof address);
  }
  // At a unix socket.
  explicit BlockingClient(const std::string& path) : BlockingClient(AF_UNIX) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    dial(&address, sizeof address);
  }
  ~BlockingClient() { close(socket_); }
  BlockingClient(const BlockingClient&) = delete;
  BlockingClient& operator=(const BlockingClient&) = delete;

  bool is_connected() const { return connected_; }

  // The answer in Reply::to_string's form, "(closed)", or "(none)" when none came for long.
  std::string ask(const std::vector<std::string>& words) {
    send(words);
    return receive();
  }

  void send(const std::vector<std::string>& words) {
    protocol::OutputBuffer bytes;
    const std::vector<std::string_view> views(words.begin(), words.end());
    protocol::write_request(views, bytes);
    std::string_view rest = bytes.view();
    while (!rest.empty()) {
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0) return;  // receive() tells it
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  // So many bytes are sent, or fewer, if the kernel takes no more of them for a moment.
  std::size_t send_at_most(std::size_t bytes_max) {
    const std::string piece(16 * 1024, '\n');
    std::size_t sent = 0;
    pollfd room{.fd = socket_, .events = POLLOUT, .revents = 0};
    while (sent < bytes_max && poll(&room, 1, 100) == 1) {
      const ssize_t taken =
          ::send(socket_, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (taken < 0) break;
      sent += static_cast<std::size_t>(taken);
    }
    return sent;
  }

  // At a unix socket: from now on the server's writes fail (EPIPE).
  void stop_listening() { shutdown(socket_, SHUT_RD); }

  std::string receive() {
    for (;;) {
      auto parsed = protocol::parse_reply(pending_);
      if (parsed.state == protocol::ParsedReply::State::broken) return "(broken) " + parsed.problem;
      if (parsed.state == protocol::ParsedReply::State::complete) {
        pending_.erase(0, parsed.consumed);
        return parsed.reply.to_string();
      }
      char buffer[16 * 1024];
      const ssize_t received = recv(socket_, buffer, sizeof buffer, 0);
      if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return "(none)";
      if (received <= 0) return "(closed)";
      pending_.append(buffer, static_cast<std::size_t>(received));
    }
  }

 private:
  explicit BlockingClient(int family) : socket_(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    constexpr timeval kAnswerTime{.tv_sec = 10, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &kAnswerTime, sizeof kAnswerTime);
  }

  void dial(const void* address, std::size_t size) {
    connected_ =
        connect(socket_, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0;
  }

  int socket_;
  bool connected_ = false;
  std::string pending_;
};

}  // namespace redlock
