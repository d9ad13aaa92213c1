#include "base/net/listener.h"

#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {
namespace {

// Whether somebody accepts at this path. A socket file that a killed process left behind refuses.
bool is_answered(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return true;
  const bool answered =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return answered;
}

}  // namespace

Listener::Listener(Loop& loop, OnConnection on_connection)
    : loop_(loop), on_connection_(std::move(on_connection)) {}

Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::listen(Loop& loop, const Address& address, int backlog,
                                                   OnConnection on_connection) {
  std::unique_ptr<Listener> listener(new Listener(loop, std::move(on_connection)));
  const int status = address.is_unix() ? listener->open_unix(address, backlog)
                                       : listener->open_tcp(address, backlog);
  if (status != 0) {
    return Failure{fmt::format("cannot listen at {}: {}", address.text(), uv_strerror(status))};
  }
  return listener;
}

int Listener::open_tcp(const Address& address, int backlog) {
  const auto numeric = numeric_socket_address(address);
  if (!numeric) return UV_EADDRNOTAVAIL;
  sockaddr_storage storage = numeric.value();
  auto* generic = reinterpret_cast<sockaddr*>(&storage);
  auto& tcp = handle_.emplace<Handle<uv_tcp_t>>();
  if (const int status = uv_tcp_init(loop_.raw(), tcp.raw()); status != 0) return status;
  tcp.opened(this);
  const unsigned flags = storage.ss_family == AF_INET6 ? UV_TCP_IPV6ONLY : 0;
  if (const int status = uv_tcp_bind(tcp.raw(), generic, flags); status != 0) return status;
  if (const int status = uv_listen(tcp.stream(), backlog, on_waiting); status != 0) return status;
  int size = sizeof storage;
  uv_tcp_getsockname(tcp.raw(), generic, &size);
  local_ = address_of(generic);
  return 0;
}

int Listener::open_unix(const Address& address, int backlog) {
  if (!is_answered(address.host)) unlink(address.host.c_str());
  auto& pipe = handle_.emplace<Handle<uv_pipe_t>>();
  if (const int status = uv_pipe_init(loop_.raw(), pipe.raw(), 0); status != 0) return status;
  pipe.opened(this);
  local_ = address;
  if (const int status = uv_pipe_bind(pipe.raw(), address.host.c_str()); status != 0) return status;
  return uv_listen(pipe.stream(), backlog, on_waiting);
}

void Listener::on_waiting(uv_stream_t* handle, int status) {
  auto* self = static_cast<Listener*>(handle->data);
  if (self == nullptr || status != 0) return;
  const bool is_unix = std::holds_alternative<Handle<uv_pipe_t>>(self->handle_);
  if (auto stream = Stream::accept(self->loop_, handle, is_unix)) {
    self->on_connection_(std::move(stream));
  }
}

}  // namespace redlock::net
