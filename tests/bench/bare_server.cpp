// bare_server PORT SIZE REPLY [PORT SIZE REPLY...]: the least that a server over libuv can do.
// bare_server --keep PORT SIZE REPLY [...]: the least that one can do which keeps what it receives.
//
// It parses nothing: what a port receives counts as one request for every SIZE bytes, and each is
// answered with the same REPLY (in which \r and \n stand for themselves). One loop, one read
// buffer, one write for each read. No server that looks at its requests costs less, so it is the
// limit that the node's costs are told beside. With --keep it copies what it receives to memory
// that nobody has used yet, as a table does that grows: what the machine adds there is seen beside
// it. It listens at 127.0.0.1 until it is ended.
#include "base/memory/block_pool.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <uv.h>

namespace redlock::bench {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
std::vector<char> read_buffer(kReadBytes);

// What was received, in blocks of one read: all that it will ever be used for is to be kept.
class Kept {
 public:
  void add(std::size_t bytes) {
    if (!is_on) return;
    if (room_ < bytes) {
      blocks_.push_back(pool_.take());
      room_ = kReadBytes;
    }
    if (blocks_.back() == nullptr) std::abort();  // no memory: a control that keeps less is none
    std::memcpy(blocks_.back() + kReadBytes - room_, read_buffer.data(), bytes);
    room_ -= bytes;
  }

  bool is_on = false;

 private:
  static_assert(kReadBytes == BlockPool::kBlockBytes);

  BlockPool pool_;
  std::vector<char*> blocks_;
  std::size_t room_ = 0;
};

Kept kept;

struct Service {
  uv_tcp_t listener{};
  int port = 0;
  std::size_t request_size = 1;
  std::string reply;
  std::string replies;  // as many as one read can ask for
};

struct Connection {
  uv_tcp_t stream{};
  Service* service = nullptr;
  std::size_t partial = 0;  // bytes of a request that is not whole
};

void close_connection(Connection* connection) {
  uv_close(reinterpret_cast<uv_handle_t*>(&connection->stream),
           [](uv_handle_t* handle) { delete static_cast<Connection*>(handle->data); });
}

// What the kernel does not take at once is sent when it can.
void write_later(Connection* connection, std::string bytes) {
  struct Write {
    uv_write_t request{};
    std::string bytes;
  };
  auto* write = new Write{.bytes = std::move(bytes)};
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  uv_write(&write->request, reinterpret_cast<uv_stream_t*>(&connection->stream), &buffer, 1,
           [](uv_write_t* done, int) { delete static_cast<Write*>(done->data); });
}

void answer(Connection* connection, std::size_t requests) {
  Service& service = *connection->service;
  const std::size_t size = requests * service.reply.size();
  const uv_buf_t buffer = uv_buf_init(service.replies.data(), static_cast<unsigned>(size));
  const int written = uv_try_write(reinterpret_cast<uv_stream_t*>(&connection->stream), &buffer, 1);
  const std::size_t sent = written < 0 ? 0 : static_cast<std::size_t>(written);
  if (sent < size) write_later(connection, service.replies.substr(sent, size - sent));
}

void on_read(uv_stream_t* stream, ssize_t got, const uv_buf_t*) {
  auto* connection = static_cast<Connection*>(stream->data);
  if (got == 0) return;
  if (got < 0) return close_connection(connection);
  kept.add(static_cast<std::size_t>(got));
  const std::size_t bytes = connection->partial + static_cast<std::size_t>(got);
  const std::size_t size = connection->service->request_size;
  connection->partial = bytes % size;
  if (bytes >= size) answer(connection, bytes / size);
}

void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto* connection = new Connection{.service = static_cast<Service*>(listener->data)};
  uv_tcp_init(listener->loop, &connection->stream);
  connection->stream.data = connection;
  auto* stream = reinterpret_cast<uv_stream_t*>(&connection->stream);
  if (uv_accept(listener, stream) != 0) return close_connection(connection);
  uv_tcp_nodelay(&connection->stream, 1);
  const auto lend = [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
    *buffer = uv_buf_init(read_buffer.data(), kReadBytes);
  };
  uv_read_start(stream, lend, on_read);
}

bool listen_at(uv_loop_t* loop, Service& service) {
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", service.port, &address);
  uv_tcp_init(loop, &service.listener);
  service.listener.data = &service;
  uv_tcp_bind(&service.listener, reinterpret_cast<const sockaddr*>(&address), 0);
  return uv_listen(reinterpret_cast<uv_stream_t*>(&service.listener), 512, on_connection) == 0;
}

// "\r\n" as it can be typed.
std::string unescape(std::string text) {
  for (const auto& [escaped, byte] : {std::pair{"\\r", '\r'}, std::pair{"\\n", '\n'}}) {
    for (std::size_t at = text.find(escaped); at != std::string::npos; at = text.find(escaped)) {
      text.replace(at, 2, 1, byte);
    }
  }
  return text;
}

std::unique_ptr<Service> service_of(const char* port, const char* size, const char* reply) {
  auto service = std::make_unique<Service>();
  service->port = std::atoi(port);
  service->request_size = std::strtoul(size, nullptr, 10);
  service->reply = unescape(reply);
  if (service->request_size == 0) return nullptr;
  for (std::size_t i = 0; i <= kReadBytes / service->request_size; ++i) {
    service->replies += service->reply;
  }
  return service;
}

int run(int argc, char** argv) {
  kept.is_on = argc > 1 && std::string_view(argv[1]) == "--keep";
  const int first = kept.is_on ? 2 : 1;
  if (argc == first || (argc - first) % 3 != 0) {
    std::fprintf(stderr, "usage: bare_server [--keep] PORT SIZE REPLY [PORT SIZE REPLY...]\n");
    return 64;
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::unique_ptr<Service>> services;
  for (int i = first; i < argc; i += 3) {
    services.push_back(service_of(argv[i], argv[i + 1], argv[i + 2]));
    if (!services.back() || !listen_at(uv_default_loop(), *services.back())) {
      std::fprintf(stderr, "bare_server: cannot serve port %s\n", argv[i]);
      return 1;
    }
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}

}  // namespace
}  // namespace redlock::bench

int main(int argc, char** argv) {
  return redlock::bench::run(argc, argv);
}
