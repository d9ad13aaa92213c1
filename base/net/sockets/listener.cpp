#include "base/net/sockets/listener.h"

#include "base/net/turn/clock.h"
#include "base/net/turn/costly_work.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {
namespace {

// Whether the file is a socket that a killed process left behind: nobody listens at it. A listener
// whose backlog is full, or which does not let this user in, is one all the same.
bool is_left_behind(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool refused =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  close(probe);
  return refused;
}

// Makes the path free for a unix socket, if it is free but for a dead one.
Status make_way(const std::string& path) {
  if (Status fits = check_unix_path(path); !fits) return fits;
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return Done{};  // bind tells what else is wrong
  if (!S_ISSOCK(file.st_mode)) {
    return Failure{
        fmt::format("{} is there already and is no socket: it stays; name another path", path)};
  }
  if (is_left_behind(path)) unlink(path.c_str());
  return Done{};
}

}  // namespace

Listener::Listener(Loop& loop, OnConnection on_connection)
    : loop_(loop), on_connection_(std::move(on_connection)) {}

Listener::~Listener() = default;

Result<std::unique_ptr<Listener>> Listener::listen(Loop& loop, const Address& address, int backlog,
                                                   OnConnection on_connection, mode_t unix_mode) {
  std::unique_ptr<Listener> listener(new Listener(loop, std::move(on_connection)));
  if (address.is_unix()) {
    if (Status way = make_way(address.host); !way) return way.error();
  }
  const int status = address.is_unix() ? listener->open_unix(address, backlog, unix_mode)
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

// The mode is set between bind and listen, as nobody can connect in between.
int Listener::open_unix(const Address& address, int backlog, mode_t mode) {
  auto& pipe = handle_.emplace<Handle<uv_pipe_t>>();
  if (const int status = uv_pipe_init(loop_.raw(), pipe.raw(), 0); status != 0) return status;
  pipe.opened(this);
  local_ = address;
  if (const int status = uv_pipe_bind(pipe.raw(), address.host.c_str()); status != 0) return status;
  if (mode != 0 && chmod(address.host.c_str(), mode) != 0) return uv_translate_sys_error(errno);
  return uv_listen(pipe.stream(), backlog, on_waiting);
}

void Listener::on_waiting(uv_stream_t* handle, int status) {
  auto* self = static_cast<Listener*>(handle->data);
  if (self != nullptr && status == 0) self->accept(handle);
}

// libuv takes no further connection from the system until this one is accepted.
void Listener::accept(uv_stream_t* handle) {
  CostlyWork& work = loop_.costly_work();
  if (!work.has_time()) {
    return work.do_later([this, handle, here = std::weak_ptr<void>(here_)] {
      if (!here.expired()) accept(handle);
    });
  }
  const Instant began = read_clock(ClockKind::monotonic);
  const bool is_unix = std::holds_alternative<Handle<uv_pipe_t>>(handle_);
  if (auto stream = Stream::accept(loop_, handle, is_unix)) on_connection_(std::move(stream));
  work.note(read_clock(ClockKind::monotonic) - began);
}

}  // namespace redlock::net
