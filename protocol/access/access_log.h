// AccessLog: what was refused to whom, and wrong passwords (ACL LOG). The same refusal again within
// a minute is counted with the one before.
//
// Thread safety: none.
#pragma once

#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace redlock::protocol {

class AccessLog {
 public:
  enum class Reason : std::uint8_t { command, key, channel, auth };
  enum class Context : std::uint8_t { toplevel, multi, lua };

  struct Entry {
    Reason reason;
    Context context;
    std::string object;  // the command, key or channel
    std::string username;
    std::string client;  // its line in CLIENT LIST
    Instant when{};      // the last time
    std::uint64_t count = 1;
  };

  // More than so many are not kept: the oldest goes.
  void set_entries_max(std::size_t entries) {
    entries_max_ = entries;
    if (entries_.size() > entries) entries_.resize(entries);
  }
  void add(Entry entry);
  void clear() { entries_.clear(); }
  const std::deque<Entry>& entries() const { return entries_; }  // the newest first
  // How often in all; wrong passwords are counted where they are given.
  std::uint64_t refused(Reason reason) const { return refused_[static_cast<std::size_t>(reason)]; }

 private:
  static constexpr Duration kSameWithin = 60s;
  static constexpr std::size_t kLookedAt = 10;

  std::deque<Entry> entries_;
  std::size_t entries_max_ = 128;
  std::array<std::uint64_t, 4> refused_{};  // by reason
};

std::string_view reason_name(AccessLog::Reason reason);
std::string_view context_name(AccessLog::Context context);

}  // namespace redlock::protocol
