// What eight coordinators were told about one key's tokens, and what must be true of it (rule F):
// no two holders share a token, and an acquisition that starts after a token was given gets a
// larger one. A token is given when it is entered here; an acquisition starts when it asks for
// floor(). So an acquisition that overlaps another one is not compared with it.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>

namespace redlock::token_storm {

class TokenRecord {
 public:
  // The largest token given so far: to be asked before the first byte of an acquisition is sent.
  std::uint64_t floor() const;

  // The holder of `token` may rely on the lock until valid_until (CLOCK_BOOTTIME). Returns what is
  // wrong with that, for people; empty: nothing. The clock is read in here: a thread that slept
  // between its acquisition and this call has no valid lock any more.
  std::string give(std::uint64_t floor, std::uint64_t token, Instant valid_until);
  // Its holder begins to release it, and does not rely on it any more.
  void end(std::uint64_t token);

 private:
  mutable std::mutex mutex_;
  std::uint64_t largest_ = 0;
  std::unordered_set<std::uint64_t> given_;
  std::uint64_t holder_ = 0;  // the token given last, until it was ended
  Instant holder_until_;
};

}  // namespace redlock::token_storm
