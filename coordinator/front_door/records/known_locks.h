// KnownLocks: what this door believes of keys, from what it did and read: the guess that a command
// is first run on (rule D4).
//
// It makes the door quicker, never right (rule D6): each write has the exact bytes as its
// condition, and what only reads is read. So an entry may be lost or wrong at any time. There are
// so many at most, and the one that was used longest ago goes first.
//
// Thread safety: none.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace redlock::coordinator {

// A million locks of usual length take some 250 MB; of long ones there are fewer.
inline constexpr std::size_t kKnownLocksMax = 1'000'000;
inline constexpr std::size_t kKnownBytesMax = 256 * 1024 * 1024;

class KnownLocks {
 public:
  struct Known {
    std::optional<std::string> value;  // the whole record; nullopt: another's, not known
    Instant deadline;                  // as clients are told it
    Duration ttl = 0ns;                // that this door gave it last; 0: another did, or not known
  };

  explicit KnownLocks(std::size_t locks_max = kKnownLocksMax,
                      std::size_t bytes_max = kKnownBytesMax)
      : locks_max_(locks_max), bytes_max_(bytes_max) {}
  KnownLocks(const KnownLocks&) = delete;
  KnownLocks& operator=(const KnownLocks&) = delete;

  // nullptr: nothing is known, or it is over. Valid until the next call.
  const Known* find(const std::string& key, Instant now) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    if (now >= found->second->known.deadline) {
      erase(found);
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->known;
  }

  void remember(const std::string& key, Known known, Instant now) {
    forget(key);
    drop_old(now);
    entries_.push_front({key, std::move(known)});
    bytes_ += bytes_of(entries_.front());
    by_key_.emplace(entries_.front().key, entries_.begin());
  }

  void forget(const std::string& key) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) erase(found);
  }

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Believed {
    std::string key;
    Known known;
  };
  // With what the list and the map take for it.
  static std::size_t bytes_of(const Believed& believed) {
    constexpr std::size_t kOverhead = sizeof(Believed) + 96;
    const std::size_t value = believed.known.value ? believed.known.value->size() : 0;
    return believed.key.size() + value + kOverhead;
  }
  using ByKey = std::unordered_map<std::string_view, std::list<Believed>::iterator>;

  void erase(ByKey::iterator found) {
    const auto entry = found->second;
    bytes_ -= bytes_of(*entry);
    by_key_.erase(found);  // first: its key is a view into the entry
    entries_.erase(entry);
  }
  void drop_last() { erase(by_key_.find(entries_.back().key)); }
  // Two of the oldest for each that comes: so what is over goes without a timer.
  void drop_old(Instant now) {
    for (int i = 0; i < 2 && !entries_.empty(); ++i) {
      if (now < entries_.back().known.deadline) break;
      drop_last();
    }
    while (!entries_.empty() && (entries_.size() >= locks_max_ || bytes_ > bytes_max_)) drop_last();
  }

  std::size_t locks_max_;
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Believed> entries_;  // the last used first
  ByKey by_key_;
};

}  // namespace redlock::coordinator
