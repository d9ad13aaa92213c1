// TurnInput: what clients sent in one turn of the loop, until it is executed.
//
// Clients that send a request at a time come many in a turn. Executed one by one, each waits for
// memory to find its lock; held until some are read, memory is asked for all of them at once
// (LookAhead::expect_first_of), as for the requests of one client that pipelines.
//
// One buffer for all connections, so that a connection costs no memory for it. Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace redlock::server {

template <class Connection>
class TurnInput {
 public:
  // More at a time is a batch of its own, or worth no copy.
  static constexpr std::size_t kBytesMax = 1024;
  // Enough for memory to work on many misses at a time. Fewer than the 32 reads with nothing
  // written between after which Linux interrupts the core of a local client for its buffers' sake
  // (net.core.skb_defer_max), which costs this one some microseconds.
  static constexpr std::size_t kHeldMax = 24;

  bool is_empty() const { return count_ == 0; }
  bool is_full() const { return count_ == kHeldMax; }

  // REQUIRES: not full, bytes.size() <= kBytesMax.
  void add(Connection& connection, std::string_view bytes) {
    char* const place = &buffer_[count_ * kBytesMax];
    std::memcpy(place, bytes.data(), bytes.size());
    connections_[count_] = &connection;
    bytes_[count_] = {place, bytes.size()};
    ++count_;
  }

  std::span<const std::string_view> bytes() const { return std::span(bytes_).first(count_); }
  std::span<Connection* const> connections() const { return std::span(connections_).first(count_); }
  void clear() { count_ = 0; }

 private:
  std::size_t count_ = 0;
  std::array<Connection*, kHeldMax> connections_;
  std::array<std::string_view, kHeldMax> bytes_;
  std::array<char, kHeldMax * kBytesMax> buffer_;
};

}  // namespace redlock::server
