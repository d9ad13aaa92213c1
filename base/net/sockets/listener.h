// A listening socket: hands each new connection to its owner.
#pragma once

#include "base/net/sockets/address.h"
#include "base/net/sockets/stream.h"
#include "base/net/turn/handle.h"
#include "base/net/turn/loop.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <variant>

namespace redlock::net {

class Listener {
 public:
  using OnConnection = std::function<void(std::unique_ptr<Stream>)>;

  // Binds and listens. Port 0 takes a free one: local() tells which. A unix socket that nobody
  // answers at, left behind by a killed process, is replaced; any other file at its path stays. The
  // error names the address and what the system said. unix_mode: who may connect to a unix socket,
  // from its first moment on; 0: as the umask has it.
  static Result<std::unique_ptr<Listener>> listen(Loop& loop, const Address& address, int backlog,
                                                  OnConnection on_connection, mode_t unix_mode = 0);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const Address& local() const { return local_; }

 private:
  Listener(Loop& loop, OnConnection on_connection);
  int open_tcp(const Address& address, int backlog);
  int open_unix(const Address& address, int backlog, mode_t mode);
  static void on_waiting(uv_stream_t* handle, int status);
  void accept(uv_stream_t* handle);

  Loop& loop_;
  OnConnection on_connection_;
  std::variant<std::monostate, Handle<uv_tcp_t>, Handle<uv_pipe_t>> handle_;
  Address local_;
  std::shared_ptr<void> here_ = std::make_shared<int>();  // until it is gone
};

}  // namespace redlock::net
