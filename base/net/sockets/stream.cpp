#include "base/net/sockets/stream.h"

#include "base/invariant.h"
#include "base/net/sockets/name_lookup.h"
#include "base/net/turn/costly_work.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <uv.h>

namespace redlock::net {
namespace {

constexpr std::string_view kEndedWhileOpening =
    "it closed the connection instead of speaking TLS: does it at this port?";

// One queued write: libuv keeps the request and the bytes until the callback.
struct PendingWrite {
  uv_write_t request;
  std::string bytes;
};

std::string reason_text(int status) {
  return status == UV_EOF ? std::string() : std::string(uv_strerror(status));
}

}  // namespace

// A dial in progress: where to, and what it waits for.
class Stream::Dial {
 public:
  explicit Dial(Stream& stream) : stream_(stream) {}
  ~Dial() {
    if (attempt_ != nullptr) attempt_->dial = nullptr;
  }
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  void connect_to_path(const std::string& path) {
    auto* attempt = begin_attempt();
    uv_pipe_connect(&attempt->request, std::get<Pipe>(stream_.handle_).raw(), path.c_str(),
                    on_connected);
  }

  void connect_to_name(const Address& address, std::size_t nth) {
    const auto on_found = [this, nth](const Result<NameLookup::Addresses>& found) {
      if (!found) return stream_.finish(found.error().text);
      connect_to(found.value(), nth);
    };
    lookup_ = std::make_unique<NameLookup>(stream_.loop_, address, on_found);
  }

  // REQUIRES: not empty.
  void connect_to(NameLookup::Addresses addresses, std::size_t nth) {
    addresses_ = std::move(addresses);
    next_ = nth % addresses_.size();
    left_ = addresses_.size();
    try_next();
  }

 private:
  // It outlives its dial when that is given up meanwhile: then `dial` is null
  // and the callback only frees.
  struct Attempt {
    Dial* dial;
    uv_connect_t request{};
  };

  Attempt* begin_attempt() {
    attempt_ = new Attempt{this};
    attempt_->request.data = attempt_;
    return attempt_;
  }

  // A route that is not there, and much else, is told at once, and leaves nothing to wait for.
  void try_next() {
    int status = 0;
    for (; left_ > 0; --left_, next_ = (next_ + 1) % addresses_.size()) {
      const auto* to = reinterpret_cast<const sockaddr*>(&addresses_[next_]);
      auto* attempt = begin_attempt();
      status =
          uv_tcp_connect(&attempt->request, std::get<Tcp>(stream_.handle_).raw(), to, on_connected);
      if (status == 0) return;
      delete std::exchange(attempt_, nullptr);
      stream_.open();
    }
    fail_later(status);
  }

  static void on_connected(uv_connect_t* request, int status) {
    const std::unique_ptr<Attempt> done(static_cast<Attempt*>(request->data));
    if (done->dial != nullptr) done->dial->on_connected(status);
  }

  // The dial may be gone after this.
  void on_connected(int status) {
    attempt_ = nullptr;
    if (status == 0) return stream_.connected();
    if (left_ <= 1) return stream_.finish(reason_text(status));
    --left_;
    next_ = (next_ + 1) % addresses_.size();
    stream_.open();
    try_next();
  }

  // In the loop's next turn, as whoever dials is told nothing from inside that call.
  void fail_later(int status) {
    failure_ = status;
    uv_timer_init(stream_.loop_.raw(), later_.raw());
    later_.opened(this);
    const auto on_time = [](uv_timer_t* timer) {
      auto* self = static_cast<Dial*>(timer->data);
      if (self != nullptr) self->stream_.finish(reason_text(self->failure_));
    };
    uv_timer_start(later_.raw(), on_time, 0, 0);
  }

  Stream& stream_;
  std::unique_ptr<NameLookup> lookup_;
  NameLookup::Addresses addresses_;
  std::size_t next_ = 0;        // of addresses_
  std::size_t left_ = 0;        // to be tried, with the present one
  Attempt* attempt_ = nullptr;  // freed by its own callback
  int failure_ = 0;
  Handle<uv_timer_t> later_;
};

Stream::Stream(Loop& loop, bool is_unix) : loop_(loop) {
  if (is_unix) handle_.emplace<Pipe>();
  open();
}

Stream::~Stream() {
  if (!protection_) return;
  protection_->is_gone = true;
  say_last_word();
}

// A handle that was never used: one that failed to connect cannot be used again.
void Stream::open() {
  int status = 0;
  if (std::holds_alternative<Pipe>(handle_)) {
    Pipe& pipe = std::get<Pipe>(handle_);
    status = uv_pipe_init(loop_.raw(), pipe.raw(), 0);
    if (status == 0) pipe.opened(this);
  } else {
    Tcp& tcp = handle_.emplace<Tcp>();
    status = uv_tcp_init(loop_.raw(), tcp.raw());
    if (status == 0) tcp.opened(this);
  }
  INVARIANT(status == 0, "a stream cannot be made");
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

std::unique_ptr<Stream> Stream::connect(Loop& loop, const Address& address, User& user,
                                        std::size_t nth) {
  std::unique_ptr<Stream> stream(new Stream(loop, address.is_unix()));
  stream->user_ = &user;
  stream->peer_ = address;
  stream->dial_ = std::make_unique<Dial>(*stream);
  if (address.is_unix()) {
    stream->dial_->connect_to_path(address.host);
  } else if (const auto numeric = numeric_socket_address(address)) {
    stream->dial_->connect_to({numeric.value()}, 0);
  } else {
    stream->dial_->connect_to_name(address, nth);
  }
  return stream;
}

void Stream::connected() {
  dial_.reset();
  learn_connection();
  if (protection_) return open_channel();
  user_->on_connected();
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
  if (is_open() && !ending_) read_raw();
}

void Stream::read_raw() {
  const auto lend_buffer = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    *buffer = uv_buf_init(nullptr, 0);
    if (auto* self = static_cast<Stream*>(handle->data)) self->receive();
  };
  const auto on_read = [](uv_stream_t* handle, ssize_t status, const uv_buf_t*) {
    auto* self = static_cast<Stream*>(handle->data);
    if (self == nullptr) return;
    if (status != UV_ENOBUFS) return self->finish(reason_text(static_cast<int>(status)));
    self->take_received();
  };
  uv_read_start(raw(), lend_buffer, on_read);
}

void Stream::receive() {
  if (is_asked_to_open() && !loop_.costly_work().has_time()) {
    received_ = -EBUSY;
    return;
  }
  auto& buffer = loop_.receive_buffer();
  received_ = syscall(SYS_recvfrom, descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT,
                      nullptr, nullptr);
  if (received_ < 0) received_ = -errno;
}

void Stream::take_received() {
  if (received_ == -EBUSY) return open_later();
  if (received_ == -EAGAIN || received_ == -EINTR) return;
  if (received_ == 0 && is_opening() && protection_->is_dialling) return finish(kEndedWhileOpening);
  if (received_ <= 0)
    return finish(reason_text(received_ == 0 ? UV_EOF : static_cast<int>(received_)));
  const std::string_view came(loop_.receive_buffer().data(), static_cast<std::size_t>(received_));
  if (protection_) return take_sealed(came);
  user_->on_bytes(came);
}

void Stream::stop_reading() {
  if (is_open() && !is_opening()) uv_read_stop(raw());
}

// As much as the socket takes at once. Asks the kernel itself, as libc's send() and write() are
// places where a thread can be cancelled, which they look after in every program that has ever had
// a second thread: 40 ns of a request's 4 µs.
std::size_t Stream::send_raw(std::string_view bytes) const {
  if (queued_raw() > 0) return 0;
  const long sent = syscall(SYS_sendto, descriptor_, bytes.data(), bytes.size(),
                            MSG_DONTWAIT | MSG_NOSIGNAL, nullptr, 0);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

std::size_t Stream::send(std::string_view bytes) {
  if (!is_open() || ending_) return 0;
  if (!protection_) return send_raw(bytes);
  return send_sealed(bytes);
}

void Stream::write(std::string_view bytes) {
  if (!is_open() || ending_ || bytes.empty()) return;
  if (protection_) return write_sealed(bytes);
  write_raw(bytes);
}

void Stream::write_raw(std::string_view bytes) {
  bytes.remove_prefix(send_raw(bytes));
  if (!bytes.empty()) queue(std::string(bytes), 0);
}

void Stream::hand_over(std::string bytes) {
  if (!is_open() || ending_ || bytes.empty()) return;
  if (protection_) return write_sealed(bytes);
  hand_over_raw(std::move(bytes));
}

void Stream::hand_over_raw(std::string bytes) {
  const std::size_t sent = send_raw(bytes);
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
    if (status < 0) return self->finish(reason_text(status));
    if (self->queued_bytes() > 0) return;
    if (self->ending_ && self->is_opening()) return;
    if (self->ending_) return self->finish(reason_text(UV_EOF));
    self->user_->on_drained();
  };
  if (uv_write(&pending->request, raw(), &buffer, 1, on_written) != 0) {
    delete pending;
  } else {
    ++queued_pieces_;
  }
}

std::size_t Stream::queued_raw() const {
  return is_open() ? uv_stream_get_write_queue_size(raw()) : 0;
}

std::size_t Stream::queued_bytes() const {
  return queued_raw() + (protection_ ? protection_->unsealed.size() : 0);
}

// Of a channel that is not open yet, the peer hears the last words once it is.
void Stream::end_after_writes() {
  if (!is_open() || ending_) return;
  ending_ = true;
  if (!is_opening()) shut_down();
}

void Stream::shut_down() {
  uv_read_stop(raw());
  if (protection_) say_last_word();
  auto* request = new uv_shutdown_t;
  const auto on_shut = [](uv_shutdown_t* done, int) {
    auto* self = static_cast<Stream*>(done->handle->data);
    delete done;
    if (self != nullptr) self->finish(reason_text(UV_EOF));
  };
  if (uv_shutdown(request, raw(), on_shut) != 0) {
    delete request;
    finish(reason_text(UV_ENOTCONN));
  }
}

void Stream::finish(std::string_view reason) {
  if (finished_) return;
  finished_ = true;
  const std::string kept(reason);  // it may be the dial's
  dial_.reset();
  handle_.emplace<std::monostate>();
  descriptor_ = -1;
  user_->on_end(kept);
}

void Stream::set_keepalive(Duration idle) {
  if (const auto* tcp = std::get_if<Tcp>(&handle_)) {
    const auto seconds =
        static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(idle).count());
    uv_tcp_keepalive(tcp->raw(), seconds > 0 ? 1 : 0, seconds);
  }
}

}  // namespace redlock::net
