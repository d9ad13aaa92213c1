// One connection to a node, without waiting: requests out, replies in, in their order.
#pragma once

#include "base/time.h"
#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::kill_storm {

// On CLOCK_MONOTONIC.
Instant now();

class Connection {
 public:
  // Tries to connect to 127.0.0.1; nullopt when nobody listens.
  static std::optional<Connection> dial(std::uint16_t port);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return is_open_; }

  // Collected, and sent by flush(): read the clock in between, or before.
  void add(const std::vector<std::string>& words);
  void flush();
  // Reads what has come. is_open() is false from the moment on at which the node had closed it.
  void receive();
  // The next reply that is complete.
  std::optional<protocol::Reply> next_reply();

 private:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  bool is_open_ = true;
  protocol::OutputBuffer output_;
  std::string input_;
  std::size_t parsed_ = 0;
};

}  // namespace redlock::kill_storm
