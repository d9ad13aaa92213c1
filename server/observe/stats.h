// What a node counts, for INFO. CONFIG RESETSTAT sets all of it to zero.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace redlock::server {

struct CommandStats {
  std::uint64_t calls = 0;
  std::uint64_t rejected = 0;  // before it ran: words, password, busy
  std::uint64_t failed = 0;    // it ran and answered an error
};

struct Stats {
  // Scripts make up their own error words, so only so many are told apart, as Redis does.
  static constexpr std::size_t kErrorWordsMax = 128;
  static constexpr std::size_t kErrorWordBytesMax = 64;

  std::uint64_t connections_received = 0;
  std::uint64_t connections_rejected = 0;
  std::uint64_t passwords_refused = 0;
  std::uint64_t newcomers_closed = 0;  // that gave no password
  std::uint64_t clients_evicted = 0;   // maxmemory-clients
  std::uint64_t commands_processed = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t error_replies = 0;
  std::map<std::string, std::uint64_t, std::less<>> errors;  // by the first word of the text

  // Locks.
  std::uint64_t granted = 0;           // another value under a key (rule L4)
  std::uint64_t granted_in_group = 0;  // of them, to coordinators that say which roster they go by
  std::uint64_t extended = 0;          // the same value, a new deadline
  std::uint64_t refused_held = 0;      // asked for with NX and held
  std::uint64_t released = 0;
  std::uint64_t refused_recovering = 0;
  std::uint64_t ttl_imposed = 0;  // keys that got max-ttl because nobody set a TTL (rule L2)
  Duration max_ttl_granted{};
  Duration reclaim_lag{};  // of the lock given back last: from its deadline to that moment

  void count_error(std::string_view text) {
    ++error_replies;
    const std::string_view word = text.substr(0, std::min(text.find(' '), kErrorWordBytesMax));
    const auto known = errors.find(word);
    if (known != errors.end()) {
      ++known->second;
    } else if (errors.size() < kErrorWordsMax) {
      errors.emplace(word, 1);
    }
  }
};

}  // namespace redlock::server
