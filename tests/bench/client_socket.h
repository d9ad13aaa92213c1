// A TCP connection to 127.0.0.1 for the benchmarks' clients; closed by its destructor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace redlock::bench {

enum class Blocking { yes, no };

class ClientSocket {
 public:
  // Connected when is_open(); no delay of small writes.
  ClientSocket(std::uint16_t port, Blocking blocking);
  ~ClientSocket();
  ClientSocket(ClientSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ClientSocket& operator=(ClientSocket&&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  enum class State { ok, full, closed };  // full: nothing can be sent, or nothing is there to read
  struct Moved {
    State state = State::ok;
    std::size_t bytes = 0;
  };
  Moved send(std::string_view bytes);
  Moved receive(char* into, std::size_t room);

 private:
  int descriptor_;
};

}  // namespace redlock::bench
