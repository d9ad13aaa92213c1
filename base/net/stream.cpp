#include "base/net/stream.h"

#include "base/invariant.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {
namespace {

// One queued write: libuv keeps the request and the bytes until the callback.
struct PendingWrite {
  uv_write_t request;
  std::string bytes;
};

std::string reason_text(int status) {
  return status == UV_EOF ? std::string() : std::string(uv_strerror(status));
}

}  // namespace

// A dial in progress. It outlives its stream when that is destroyed meanwhile: then `stream` is
// null and the callback only frees.
struct Stream::Dial {
  Stream* stream;
  uv_getaddrinfo_t resolve{};
  uv_connect_t connect{};
};

Stream::Stream(Loop& loop, bool is_unix) : loop_(loop) {
  int status = 0;
  if (is_unix) {
    status = uv_pipe_init(loop.raw(), handle_.emplace<Pipe>().raw(), 0);
    if (status == 0) std::get<Pipe>(handle_).opened(this);
  } else {
    status = uv_tcp_init(loop.raw(), handle_.emplace<Tcp>().raw());
    if (status == 0) std::get<Tcp>(handle_).opened(this);
  }
  INVARIANT(status == 0, "a stream cannot be made");
}

Stream::~Stream() {
  if (dialing_ != nullptr) dialing_->stream = nullptr;
}

uv_stream_t* Stream::raw() const {
  if (const auto* tcp = std::get_if<Tcp>(&handle_)) return tcp->stream();
  return std::get<Pipe>(handle_).stream();
}

bool Stream::is_open() const {
  return !std::holds_alternative<std::monostate>(handle_);
}

std::unique_ptr<Stream> Stream::accept(Loop& loop, uv_stream_t* listening, bool is_unix) {
  std::unique_ptr<Stream> stream(new Stream(loop, is_unix));
  if (uv_accept(listening, stream->raw()) != 0) return nullptr;
  stream->learn_connection();
  return stream;
}

std::unique_ptr<Stream> Stream::connect(Loop& loop, const Address& address, User& user) {
  std::unique_ptr<Stream> stream(new Stream(loop, address.is_unix()));
  stream->user_ = &user;
  stream->peer_ = address;
  auto* dial = new Dial{stream.get()};
  stream->dialing_ = dial;
  dial->connect.data = dial;
  dial->resolve.data = dial;
  if (address.is_unix()) {
    uv_pipe_connect(&dial->connect, std::get<Pipe>(stream->handle_).raw(), address.host.c_str(),
                    [](uv_connect_t* request, int status) {
                      const std::unique_ptr<Dial> done(static_cast<Dial*>(request->data));
                      if (done->stream == nullptr) return;
                      done->stream->dialing_ = nullptr;
                      if (status != 0) return done->stream->finish(status);
                      done->stream->learn_connection();
                      done->stream->user_->on_connected();
                    });
    return stream;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const auto on_resolved = [](uv_getaddrinfo_t* request, int status, addrinfo* found) {
    auto* dial_done = static_cast<Dial*>(request->data);
    Stream* owner = dial_done->stream;
    if (owner == nullptr || status != 0) {
      delete dial_done;
      if (owner != nullptr) {
        owner->dialing_ = nullptr;
        owner->finish(status);
      }
    } else {
      owner->dial(found->ai_addr);
    }
    uv_freeaddrinfo(found);
  };
  if (const auto numeric = numeric_socket_address(address)) {
    sockaddr_storage storage = numeric.value();
    stream->dial(reinterpret_cast<const sockaddr*>(&storage));
    return stream;
  }
  const int status = uv_getaddrinfo(loop.raw(), &dial->resolve, on_resolved, address.host.c_str(),
                                    std::to_string(address.port).c_str(), &hints);
  INVARIANT(status == 0, "a name cannot be looked up");
  return stream;
}

void Stream::dial(const sockaddr* to) {
  const int status = uv_tcp_connect(
      &dialing_->connect, std::get<Tcp>(handle_).raw(), to, [](uv_connect_t* request, int result) {
        const std::unique_ptr<Dial> done(static_cast<Dial*>(request->data));
        if (done->stream == nullptr) return;
        done->stream->dialing_ = nullptr;
        if (result != 0) return done->stream->finish(result);
        done->stream->learn_connection();
        done->stream->user_->on_connected();
      });
  INVARIANT(status == 0, "a connection cannot be begun");
}

void Stream::learn_connection() {
  uv_fileno(reinterpret_cast<const uv_handle_t*>(raw()), &descriptor_);
  if (std::holds_alternative<Pipe>(handle_)) {
    peer_is_loopback_ = true;
    return;
  }
  uv_tcp_t* tcp = std::get<Tcp>(handle_).raw();
  uv_tcp_nodelay(tcp, 1);
  sockaddr_storage storage{};
  int size = sizeof storage;
  auto* generic = reinterpret_cast<sockaddr*>(&storage);
  if (uv_tcp_getpeername(tcp, generic, &size) == 0) {
    peer_is_loopback_ = is_loopback(generic);
    peer_ = address_of(generic);
  }
  size = sizeof storage;
  if (uv_tcp_getsockname(tcp, generic, &size) == 0) local_ = address_of(generic);
}

// libuv would read with libc's read() into the buffer that it is lent (see send()). It is lent
// none, which it tells the second callback (UV_ENOBUFS) and leaves it at that: so the first one
// receives, and the second one, in which a stream may go, hands on what came.
void Stream::start_reading() {
  if (!is_open() || ending_) return;
  const auto lend_buffer = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    *buffer = uv_buf_init(nullptr, 0);
    if (auto* self = static_cast<Stream*>(handle->data)) self->receive();
  };
  const auto on_read = [](uv_stream_t* handle, ssize_t status, const uv_buf_t*) {
    auto* self = static_cast<Stream*>(handle->data);
    if (self == nullptr) return;
    if (status != UV_ENOBUFS) return self->finish(static_cast<int>(status));
    self->take_received();
  };
  uv_read_start(raw(), lend_buffer, on_read);
}

void Stream::receive() {
  auto& buffer = loop_.receive_buffer();
  received_ = syscall(SYS_recvfrom, descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT,
                      nullptr, nullptr);
  if (received_ < 0) received_ = -errno;
}

void Stream::take_received() {
  if (received_ == -EAGAIN || received_ == -EINTR) return;
  if (received_ <= 0) return finish(received_ == 0 ? UV_EOF : static_cast<int>(received_));
  user_->on_bytes({loop_.receive_buffer().data(), static_cast<std::size_t>(received_)});
}

void Stream::stop_reading() {
  if (is_open()) uv_read_stop(raw());
}

// As much as the socket takes at once. Asks the kernel itself, as libc's send() and write() are
// places where a thread can be cancelled, which they look after in every program that has ever had
// a second thread: 40 ns of a request's 4 µs.
std::size_t Stream::send(std::string_view bytes) const {
  if (queued_bytes() > 0) return 0;
  const long sent = syscall(SYS_sendto, descriptor_, bytes.data(), bytes.size(),
                            MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

void Stream::write(std::string_view bytes) {
  if (!is_open() || ending_ || bytes.empty()) return;
  bytes.remove_prefix(send(bytes));
  if (!bytes.empty()) queue(std::string(bytes), 0);
}

void Stream::hand_over(std::string bytes) {
  if (!is_open() || ending_ || bytes.empty()) return;
  const std::size_t sent = send(bytes);
  if (sent < bytes.size()) queue(std::move(bytes), sent);
}

// An error comes back from its callback, outside this call.
void Stream::queue(std::string bytes, std::size_t sent) {
  auto* pending = new PendingWrite{{}, std::move(bytes)};
  pending->request.data = pending;
  const uv_buf_t buffer = uv_buf_init(pending->bytes.data() + sent,
                                      static_cast<unsigned>(pending->bytes.size() - sent));
  const auto on_written = [](uv_write_t* request, int status) {
    const std::unique_ptr<PendingWrite> done(static_cast<PendingWrite*>(request->data));
    auto* self = static_cast<Stream*>(request->handle->data);
    if (self == nullptr) return;
    --self->queued_pieces_;
    if (status < 0) return self->finish(status);
    if (self->queued_bytes() > 0) return;
    if (self->ending_) return self->finish(UV_EOF);
    self->user_->on_drained();
  };
  if (uv_write(&pending->request, raw(), &buffer, 1, on_written) != 0) {
    delete pending;
  } else {
    ++queued_pieces_;
  }
}

std::size_t Stream::queued_bytes() const {
  return is_open() ? uv_stream_get_write_queue_size(raw()) : 0;
}

void Stream::end_after_writes() {
  if (!is_open() || ending_) return;
  ending_ = true;
  uv_read_stop(raw());
  auto* request = new uv_shutdown_t;
  const auto on_shut = [](uv_shutdown_t* done, int) {
    auto* self = static_cast<Stream*>(done->handle->data);
    delete done;
    if (self != nullptr) self->finish(UV_EOF);
  };
  if (uv_shutdown(request, raw(), on_shut) != 0) {
    delete request;
    finish(UV_ENOTCONN);
  }
}

void Stream::finish(int status) {
  if (finished_) return;
  finished_ = true;
  handle_.emplace<std::monostate>();
  descriptor_ = -1;
  user_->on_end(reason_text(status));
}

void Stream::set_keepalive_seconds(unsigned seconds) {
  if (const auto* tcp = std::get_if<Tcp>(&handle_)) {
    uv_tcp_keepalive(tcp->raw(), seconds > 0 ? 1 : 0, seconds);
  }
}

}  // namespace redlock::net
