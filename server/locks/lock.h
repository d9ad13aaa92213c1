// Lock: one lock in memory. A fixed head, then the key's bytes, then the value's, in one piece.
//
//     0          8          16         20         24            28           30
//     +----------+----------+----------+----------+-------------+------------+-------+---------+
//     | deadline | token    | wheel    | wheel    | length of   | length of  | key … | value … |
//     | ns       |          | next     | previous | the value*  | the key    |       |         |
//     +----------+----------+----------+----------+-------------+------------+-------+---------+
//
// A 17-byte key with a 40-byte value is 87 bytes, 88 in the arena; no pointer, no padding, no
// second allocation. The neighbours on the wheel are 32-bit references into the arena.
//
// * The top bit of the value's length tells a hash from a text. A hash is one value too, its fields
// packed behind each other (packed_hash.h), so that a key of either kind is one record.
//
// The bit below it says that a label stands behind the value, of which the length counts all: who
// the holder says it is, and since when. So a lock without one, as most are where a lock library
// takes them, costs not a byte for what it does not have.
//
//     +---------+---------+-------+-----------+
//     | value … | label … | since | length of |
//     |         |         | ns    | the label |
//     +---------+---------+-------+-----------+
//
// The third bit says that somebody has acted on the lock since it was granted: its deadline was set
// again. The undo of its grant leaves it alone then (rule D5).
#pragma once

#include "base/time.h"
#include "server/locks/lock_kind.h"
#include "server/locks/lock_label.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace redlock::server {

// Where a record is in the arena. 0 is none.
using LockRef = std::uint32_t;

// The head counts a key's bytes in 16 bits; no lock has a longer name.
inline constexpr std::size_t kKeyBytesMax = 65'535;
// It counts a value's bytes, and those of a label behind it, in 29 bits, and keeps three for what
// they are. No request brings one as long (protocol/resp/limits.h).
inline constexpr std::size_t kValueBytesMax =
    (std::size_t{1} << 29) - 1 - kLabelBytesMax - kLabelTailBytes;

class Lock {
 public:
  Instant deadline;     // kNever: none
  std::uint64_t token;  // its fencing token or proposal (rules F); 0: none
  LockRef wheel_next;
  LockRef wheel_previous;         // or its list's number, see expiry_wheel.h
  std::uint32_t bits_and_length;  // of value and label
  std::uint16_t key_length;

  static constexpr std::size_t kHeadBytes = 30;

  static std::size_t bytes_for(std::size_t key, std::size_t value, std::size_t label = 0) {
    return kHeadBytes + key + value + label;
  }
  std::size_t bytes() const { return bytes_for(key_length, length()); }

  LockKind kind() const {
    return (bits_and_length & kHashBit) != 0 ? LockKind::hash : LockKind::text;
  }
  bool is_hash() const { return kind() == LockKind::hash; }
  // Whether it is held by this value; nobody's value holds a hash.
  bool holds(std::string_view wanted) const { return !is_hash() && value() == wanted; }

  // Valid until the lock is changed or given back. The value of a hash is its packed fields.
  std::string_view key() const { return {tail(), key_length}; }
  std::string_view value() const { return {tail() + key_length, length() - label_bytes()}; }
  LockLabel label() const {
    if (!has_label()) return {};
    const char* const end = tail() + key_length + length();
    LockLabel label{{end - label_bytes(), label_bytes() - kLabelTailBytes}, {}};
    std::memcpy(&label.since, end - kLabelTailBytes, sizeof label.since);
    return label;
  }

  // REQUIRES: the record has room for all, value.size() <= kValueBytesMax, the label's text is not
  // longer than kLabelBytesMax.
  void set(LockKind kind, std::string_view key, std::string_view value, const LockLabel& label) {
    key_length = static_cast<std::uint16_t>(key.size());
    bits_and_length = static_cast<std::uint32_t>(value.size() + label.bytes()) |
                      (kind == LockKind::hash ? kHashBit : 0) |
                      (label.text.empty() ? 0 : kLabelBit);
    std::memcpy(tail(), key.data(), key.size());
    char* end = tail() + key.size();
    std::memcpy(end, value.data(), value.size());
    if (label.text.empty()) return;
    end += value.size();
    std::memcpy(end, label.text.data(), label.text.size());
    end += label.text.size();
    std::memcpy(end, &label.since, sizeof label.since);
    end[sizeof label.since] = static_cast<char>(label.text.size());
  }

  // Whether its deadline was set again since it was granted, or it is of an earlier run.
  bool is_extended() const { return (bits_and_length & kExtendedBit) != 0; }
  void mark_extended() { bits_and_length |= kExtendedBit; }

  bool has_deadline() const { return deadline != kNever; }
  // Gone for whoever looks, in exact units (rule C5).
  bool is_over(Instant now) const { return now >= deadline; }

 private:
  static constexpr std::uint32_t kHashBit = 1u << 31;
  static constexpr std::uint32_t kLabelBit = 1u << 30;
  static constexpr std::uint32_t kExtendedBit = 1u << 29;

  bool has_label() const { return (bits_and_length & kLabelBit) != 0; }
  std::uint32_t length() const { return bits_and_length & (kExtendedBit - 1); }
  std::size_t label_bytes() const {
    if (!has_label()) return 0;
    return static_cast<unsigned char>(tail()[key_length + length() - 1]) + kLabelTailBytes;
  }
  const char* tail() const { return reinterpret_cast<const char*>(this) + kHeadBytes; }
  char* tail() { return reinterpret_cast<char*>(this) + kHeadBytes; }
};

inline bool is_hash(const Lock* lock) {
  return lock != nullptr && lock->is_hash();
}

static_assert(offsetof(Lock, key_length) + sizeof(Lock::key_length) == Lock::kHeadBytes,
              "the drawing above");

}  // namespace redlock::server
