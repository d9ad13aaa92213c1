#include "tests/bench/client_socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::bench {
namespace {

ClientSocket::Moved moved(ssize_t result) {
  using State = ClientSocket::State;
  if (result > 0) return {State::ok, static_cast<std::size_t>(result)};
  const bool full = result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {full ? State::full : State::closed, 0};
}

}  // namespace

ClientSocket::ClientSocket(std::uint16_t port, Blocking blocking)
    : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(std::exchange(descriptor_, -1));
    return;
  }
  const int on = 1;
  setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (blocking == Blocking::no) fcntl(descriptor_, F_SETFL, O_NONBLOCK);
}

ClientSocket::~ClientSocket() {
  if (is_open()) close(descriptor_);
}

ClientSocket::Moved ClientSocket::send(std::string_view bytes) {
  return moved(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

ClientSocket::Moved ClientSocket::receive(char* into, std::size_t room) {
  return moved(recv(descriptor_, into, room, 0));
}

}  // namespace redlock::bench
