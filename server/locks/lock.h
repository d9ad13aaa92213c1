// Lock: one lock in memory. A head, then the key's bytes, then the value's, in one piece.
//
//     0              8          12         16             24
//     +--------------+----------+----------+--------------+-------+---------+
//     | deadline, ns | wheel    | wheel    | token        | key … | value … |
//     | and 2 flags  | next     | previous | and lengths* |       |         |
//     +--------------+----------+----------+--------------+-------+---------+
//
// A 17-byte key with a 40-byte value is 81 bytes: no pointer, no padding, no second allocation. The
// neighbours on the wheel are 32-bit references into the arena. A record stands at any address, so
// the struct is packed.
//
// * A token has 53 bits (rule F1), and the 11 bits below it hold the lengths of a key up to 31
// bytes and a value up to 63. What is longer, and what is not just a text, has the long form: a
// flag beside the deadline says so, and 6 bytes more of head hold the lengths.
//
//     24            28           30
//     +-------------+------------+-------+---------+---------+-------+-----------+
//     | length of   | length of  | key … | value … | label … | since | length of |
//     | the value** | the key    |       |         |         | ns    | the label |
//     +-------------+------------+-------+---------+---------+-------+-----------+
//
// ** Its top bit tells a hash from a text. A hash is one value too, its fields packed behind each
// other (packed_hash.h), so that a key of either kind is one record. The bit below it says that a
// label stands behind the value, of which the length counts all: who the holder says it is, and
// since when. So a lock without one, as most are where a lock library takes them, costs not a byte
// for what it does not have.
//
// The other flag beside the deadline says that somebody has acted on the lock since it was granted:
// its deadline was set again. The undo of its grant leaves it alone then (rule D5).
//
// The deadline itself has 62 bits, exact nanoseconds (rule C5) for 146 years from the machine's
// start: a later one ends then.
#pragma once

#include "base/time.h"
#include "base/token.h"
#include "server/locks/lock_kind.h"
#include "server/locks/lock_label.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace redlock::server {

// Where a record is in the arena. 0 is none.
using LockRef = std::uint32_t;

// The long form counts a key's bytes in 16 bits; no lock has a longer name.
inline constexpr std::size_t kKeyBytesMax = 65'535;
// It counts a value's bytes, and those of a label behind it, in 30 bits, and keeps two for what
// they are. No request brings one as long (protocol/resp/limits.h).
inline constexpr std::size_t kValueBytesMax =
    (std::size_t{1} << 30) - 1 - kLabelBytesMax - kLabelTailBytes;

class [[gnu::packed]] Lock {
 public:
  // What a record takes.
  static std::size_t bytes_for(LockKind kind, std::size_t key, std::size_t value,
                               std::size_t label = 0) {
    return head_bytes(is_long(kind, key, value, label)) + key + value + label;
  }
  std::size_t bytes() const { return head_bytes(is_long()) + key_length() + length(); }

  LockKind kind() const {
    return is_long() && (long_length() & kHashBit) != 0 ? LockKind::hash : LockKind::text;
  }
  bool is_hash() const { return kind() == LockKind::hash; }
  // Whether it is held by this value; nobody's value holds a hash.
  bool holds(std::string_view wanted) const { return !is_hash() && value() == wanted; }

  // Valid until the lock is changed or given back. The value of a hash is its packed fields.
  std::string_view key() const { return {tail(), key_length()}; }
  std::string_view value() const { return {tail() + key_length(), length() - label_bytes()}; }
  LockLabel label() const {
    if (!has_label()) return {};
    const char* const end = tail() + key_length() + length();
    LockLabel label{{end - label_bytes(), label_bytes() - kLabelTailBytes}, {}};
    std::memcpy(&label.since, end - kLabelTailBytes, sizeof label.since);
    return label;
  }

  // All but the links of the wheel. REQUIRES: the record has bytes_for() all of it,
  // key.size() <= kKeyBytesMax, value.size() <= kValueBytesMax, token <= kTokenMax, the label's
  // text is not longer than kLabelBytesMax.
  void set(LockKind kind, std::string_view key, std::string_view value, const LockLabel& label,
           Instant deadline, Token token) {
    const std::size_t length = value.size() + label.bytes();
    const bool is_long = Lock::is_long(kind, key.size(), value.size(), label.bytes());
    deadline_and_flags_ = packed(deadline) | (is_long ? kLongBit : 0);
    token_and_lengths_ = token << kLengthsBits;
    if (is_long) {
      const std::uint32_t bits_and_length = static_cast<std::uint32_t>(length) |
                                            (kind == LockKind::hash ? kHashBit : 0) |
                                            (label.text.empty() ? 0 : kLabelBit);
      const auto key_length = static_cast<std::uint16_t>(key.size());
      std::memcpy(behind_head(), &bits_and_length, sizeof bits_and_length);
      std::memcpy(behind_head() + sizeof bits_and_length, &key_length, sizeof key_length);
    } else {
      token_and_lengths_ |= key.size() << kShortValueBits | length;
    }
    char* end = tail();
    std::memcpy(end, key.data(), key.size());
    end += key.size();
    std::memcpy(end, value.data(), value.size());
    if (label.text.empty()) return;
    end += value.size();
    std::memcpy(end, label.text.data(), label.text.size());
    end += label.text.size();
    std::memcpy(end, &label.since, sizeof label.since);
    end[sizeof label.since] = static_cast<char>(label.text.size());
  }

  // Its fencing token or proposal (rules F); 0: none.
  Token token() const { return token_and_lengths_ >> kLengthsBits; }
  // REQUIRES: token <= kTokenMax.
  void set_token(Token token) {
    token_and_lengths_ = token << kLengthsBits | (token_and_lengths_ & kLengthsMask);
  }

  // Whether its deadline was set again since it was granted, or it is of an earlier run.
  bool is_extended() const { return (deadline_and_flags_ & kExtendedBit) != 0; }
  void mark_extended() { deadline_and_flags_ |= kExtendedBit; }

  // kNever: none.
  Instant deadline() const {
    return has_deadline() ? Instant(Duration(deadline_and_flags_ >> kFlagBits)) : kNever;
  }
  void set_deadline(Instant deadline) {
    deadline_and_flags_ = packed(deadline) | (deadline_and_flags_ & kFlags);
  }
  bool has_deadline() const { return deadline_and_flags_ >> kFlagBits != kNoDeadline; }
  // Gone for whoever looks, in exact units (rule C5).
  bool is_over(Instant now) const { return now >= deadline(); }

  // The wheel's own (expiry_wheel.h).
  LockRef wheel_next() const { return wheel_next_; }
  LockRef wheel_previous() const { return wheel_previous_; }  // or its list's number
  void set_wheel_next(LockRef ref) { wheel_next_ = ref; }
  void set_wheel_previous(LockRef ref) { wheel_previous_ = ref; }

 private:
  static constexpr std::uint32_t kHashBit = 1u << 31;
  static constexpr std::uint32_t kLabelBit = 1u << 30;

  static constexpr unsigned kFlagBits = 2;
  static constexpr std::uint64_t kLongBit = 1;
  static constexpr std::uint64_t kExtendedBit = 2;
  static constexpr std::uint64_t kFlags = kLongBit | kExtendedBit;
  static constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0} >> kFlagBits;

  static constexpr unsigned kShortKeyBits = 5;
  static constexpr unsigned kShortValueBits = 6;
  static constexpr unsigned kLengthsBits = kShortKeyBits + kShortValueBits;
  static constexpr std::uint64_t kLengthsMask = (std::uint64_t{1} << kLengthsBits) - 1;
  static_assert(kTokenMax <= ~std::uint64_t{0} >> kLengthsBits);

  static constexpr std::size_t kHeadBytes = 24;
  static constexpr std::size_t kLongHeadBytes =
      kHeadBytes + sizeof(std::uint32_t) + sizeof(std::uint16_t);

  static std::size_t head_bytes(bool is_long) { return is_long ? kLongHeadBytes : kHeadBytes; }
  static bool is_long(LockKind kind, std::size_t key, std::size_t value, std::size_t label) {
    return key >> kShortKeyBits != 0 || value >> kShortValueBits != 0 || label != 0 ||
           kind == LockKind::hash;
  }
  static std::uint64_t packed(Instant deadline) {
    const std::int64_t ns = deadline.time_since_epoch().count();
    if (static_cast<std::uint64_t>(ns) < kNoDeadline) [[likely]]
      return static_cast<std::uint64_t>(ns) << kFlagBits;
    if (ns < 0) return 0;
    return (deadline == kNever ? kNoDeadline : kNoDeadline - 1) << kFlagBits;
  }

  bool is_long() const { return (deadline_and_flags_ & kLongBit) != 0; }
  bool has_label() const { return is_long() && (long_length() & kLabelBit) != 0; }
  std::uint32_t long_length() const {
    std::uint32_t bits_and_length;
    std::memcpy(&bits_and_length, behind_head(), sizeof bits_and_length);
    return bits_and_length;
  }
  std::size_t key_length() const {
    if (!is_long()) return (token_and_lengths_ & kLengthsMask) >> kShortValueBits;
    std::uint16_t key_length;
    std::memcpy(&key_length, behind_head() + sizeof(std::uint32_t), sizeof key_length);
    return key_length;
  }
  // Of value and label.
  std::size_t length() const {
    if (is_long()) return long_length() & (kLabelBit - 1);
    return token_and_lengths_ & ((std::uint64_t{1} << kShortValueBits) - 1);
  }
  std::size_t label_bytes() const {
    if (!has_label()) return 0;
    return static_cast<unsigned char>(tail()[key_length() + length() - 1]) + kLabelTailBytes;
  }
  const char* behind_head() const { return reinterpret_cast<const char*>(this) + kHeadBytes; }
  char* behind_head() { return reinterpret_cast<char*>(this) + kHeadBytes; }
  const char* tail() const { return reinterpret_cast<const char*>(this) + head_bytes(is_long()); }
  char* tail() { return reinterpret_cast<char*>(this) + head_bytes(is_long()); }

  std::uint64_t deadline_and_flags_;
  LockRef wheel_next_;
  LockRef wheel_previous_;
  std::uint64_t token_and_lengths_;

  friend struct LockLayout;
};

inline bool is_hash(const Lock* lock) {
  return lock != nullptr && lock->is_hash();
}

struct LockLayout {
  static_assert(sizeof(Lock) == Lock::kHeadBytes && alignof(Lock) == 1, "the drawing above");
};

}  // namespace redlock::server
