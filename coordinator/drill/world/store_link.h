// What the store and its clients say to each other, on a unix socket: a line for each write, and a
// line with the answer.
//
//   client 3 <tab> hold <tab> lock <tab> token <newline>          1 or 0 <newline>
#pragma once

#include <redlock/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::drill {

struct StoreWrite {
  std::string client;
  std::string hold;
  std::string lock;
  std::uint64_t token = 0;
};

std::string line_of(const StoreWrite& write);
// Of a line without its end; nullopt if it is none.
std::optional<StoreWrite> parse_store_write(std::string_view line);

// A client's connection to the store. Every call waits.
class StoreLink {
 public:
  static Result<StoreLink> connect(const std::string& path);
  ~StoreLink();
  StoreLink(StoreLink&& other) noexcept;
  StoreLink& operator=(StoreLink&&) = delete;

  // Whether it was accepted; an error when the store is gone.
  Result<bool> write(const StoreWrite& write);

 private:
  explicit StoreLink(int socket) : socket_(socket) {}

  int socket_;
};

}  // namespace redlock::drill
