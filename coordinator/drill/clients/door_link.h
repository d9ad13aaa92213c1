// DoorLink: a front door as a client of one Redis sees it: a connection, a request on it, its
// answer. Every call waits, but never longer than it is told to.
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"

#include <optional>
#include <string>

namespace redlock::drill {

// Thread safety: none.
class DoorLink {
 public:
  // `path`: of the door's unix socket.
  explicit DoorLink(std::string path) : path_(std::move(path)) {}
  ~DoorLink() { close(); }
  DoorLink(DoorLink&& other) noexcept;
  DoorLink& operator=(DoorLink&&) = delete;

  // nullopt: there was no answer by then, or the door went away. The connection is given up, as the
  // answer may come later; the next call has another one.
  std::optional<protocol::Reply> ask(protocol::Request request, Instant give_up_at);

 private:
  bool is_connected(Instant give_up_at);
  bool send(std::string_view bytes, Instant give_up_at);
  std::optional<protocol::Reply> receive(Instant give_up_at);
  void close();

  std::string path_;
  int socket_ = -1;
};

}  // namespace redlock::drill
