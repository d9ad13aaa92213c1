// The store that a drill's clients write to: the last line of defence, as a user's own would be
// (safety.md F). It remembers the largest token that it saw of each lock, refuses a write with a
// smaller one, and accepts an equal one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace redlock::drill {

class TokenStore {
 public:
  // Token 0: the writer has none, as with plain Redis. Whoever has none is believed, and nothing
  // is learnt from it: that is what such users live with.
  bool accepts(std::string_view lock, std::uint64_t token) {
    if (token == 0) return true;
    std::uint64_t& largest = largest_[std::string(lock)];
    if (token < largest) return false;
    largest = token;
    return true;
  }

 private:
  std::map<std::string, std::uint64_t> largest_;
};

}  // namespace redlock::drill
