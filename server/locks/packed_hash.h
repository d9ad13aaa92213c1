// PackedHash: the fields of a hash in one value, behind each other in the order in which they came.
//
//     0         4
//     +---------+-----------+-----------+---------+---------+-----------+---
//     | mark,   | length of | length of | field … | value … | length of | …
//     | count   | the field | the value |         |         | the next  |
//     +---------+-----------+-----------+---------+---------+-----------+---
//      1 + 31    7 bits a byte, the low ones first; the top bit: more follow
//      bits
//
// A hash is few fields: the holders of a reentrant lock, and how often each of them took it. So a
// field is found by looking at one after the other, and a change writes the whole value anew. What
// that may cost is bounded by value-size-limit, which a hash as a whole is held to.
//
// The mark says that the hash was once too large for Redis to keep as a list. OBJECT ENCODING tells
// it, and as in Redis it stays when the hash shrinks.
//
// Pure: bytes in, bytes out. Thread safety: none needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::server {

// Redis's hash-max-listpack-entries and -value: a hash beyond either is no list any more.
inline constexpr std::size_t kListFieldsMax = 512;
inline constexpr std::size_t kListTextBytesMax = 64;

// Views into the packed bytes.
struct HashField {
  std::string_view name;
  std::string_view value;
};

// Whether these are the bytes of a hash with a field or more; others are not to be looked at.
bool is_packed_hash(std::string_view bytes);

// A look at packed bytes, valid as long as they are. REQUIRES: is_packed_hash(bytes).
class PackedHash {
 public:
  explicit PackedHash(std::string_view bytes) : bytes_(bytes) {}

  std::size_t count() const;
  bool was_large() const;  // the mark
  std::optional<std::string_view> find(std::string_view name) const;

  // Every field in order: look(const HashField&).
  template <class Look>
  void for_each(Look look) const {
    for (std::size_t at = kHeadBytes; at < bytes_.size();) look(read_field(at));
  }

 private:
  static constexpr std::size_t kHeadBytes = 4;

  HashField read_field(std::size_t& at) const;  // moves `at` behind it

  std::string_view bytes_;
};

// The same hash unpacked: to look for many fields, or to change them.
//
//   HashFields fields(PackedHash(lock->value()));      // or of nothing, for a new one
//   const bool is_new = fields.set("alice", "1");
//   if (fields.packed_bytes() > bytes_max) …
//   locks.put(key, fields.pack(), …);
//
// Many searches take no longer than the sum of both counts, about: from the ninth on there is a
// map. (A sorted one, as a client could choose names that collide in a hash table.)
//
// REQUIRES: the bytes, and the texts that are set, live as long as it.
class HashFields {
 public:
  HashFields() = default;
  explicit HashFields(const PackedHash& hash);

  std::optional<std::string_view> find(std::string_view name);
  // Whether there was no such field before. One that was there keeps its place.
  bool set(std::string_view name, std::string_view value);
  // Whether there was such a field.
  bool remove(std::string_view name);

  std::size_t count() const { return count_; }
  std::size_t packed_bytes() const;
  // REQUIRES: count() > 0.
  std::string pack() const;

 private:
  using Place = std::size_t;

  std::optional<Place> place_of(std::string_view name);

  std::vector<std::optional<HashField>> fields_;  // nullopt: removed
  std::map<std::string_view, Place> places_;      // of all in fields_, once has_map_
  bool has_map_ = false;
  std::size_t searches_ = 0;
  std::size_t count_ = 0;
  bool was_large_ = false;
};

}  // namespace redlock::server
