#include "coordinator/front_door/records/record.h"

#include "base/invariant.h"
#include "server/locks/packed_hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace redlock::coordinator {
namespace {

using server::LockKind;

constexpr std::string_view kMagic("\0rl", 3);
constexpr std::size_t kKindAt = 3;
constexpr std::size_t kIncarnationAt = 4;
constexpr std::size_t kIncarnationBytes = 16;
constexpr std::size_t kNumberAt = kIncarnationAt + kIncarnationBytes;
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kNonceBytes = 8;
static_assert(kNumberAt + kNumberBytes + kNonceBytes == kRecordHeaderBytes,
              "the drawing in record.h");

constexpr char kText = 'T';
constexpr char kHash = 'H';
constexpr char kHashOfOthers = 'h';

// nullopt: these bytes are no record of a front door.
std::optional<LockKind> kind_of(std::string_view value) {
  if (value.size() < kRecordHeaderBytes || !value.starts_with(kMagic)) return std::nullopt;
  if (value[kKindAt] == kText) return LockKind::text;
  const bool says_hash = value[kKindAt] == kHash || value[kKindAt] == kHashOfOthers;
  const bool is_hash = says_hash && server::is_packed_hash(value.substr(kRecordHeaderBytes));
  return is_hash ? std::optional(LockKind::hash) : std::nullopt;
}

void append_random(std::string& to, std::size_t bytes, const RandomBytes& random) {
  std::array<unsigned char, kIncarnationBytes> drawn{};
  random(std::span(drawn).first(bytes));
  to.append(reinterpret_cast<const char*>(drawn.data()), bytes);
}

std::uint32_t number_of(std::string_view value) {
  std::uint32_t number = 0;
  for (const char byte : value.substr(kNumberAt, kNumberBytes)) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

void append_number(std::string& to, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(number >> shift));
}

void append_kind(std::string& to, char kind) {
  to.append(kMagic);
  to.push_back(kind);
}

std::vector<std::string_view> names_of(std::string_view hash) {
  std::vector<std::string_view> names;
  server::PackedHash(hash).for_each(
      [&](const server::HashField& field) { names.push_back(field.name); });
  return names;
}

// Whether this hash is still of whom that lock was given to: a holder's count may be another, which
// leaves the fields in their order.
bool is_of_same_holders(const Record& before, std::string_view hash) {
  return before.kind == LockKind::hash && !before.has_changed_hands &&
         names_of(before.payload) == names_of(hash);
}

}  // namespace

Record read_record(std::string_view value) {
  const auto kind = kind_of(value);
  if (!kind) return {.payload = value, .incarnation = value, .is_foreign = true};
  return {.kind = *kind,
          .payload = value.substr(kRecordHeaderBytes),
          .incarnation = value.substr(kIncarnationAt, kIncarnationBytes),
          .number = number_of(value),
          .has_changed_hands = value[kKindAt] != kHash && number_of(value) > 0};
}

HeldBy held_by(std::string_view value) {
  const Record record = read_record(value);
  return {record.incarnation, record.number};
}

std::string_view unique_part_of(std::string_view value) {
  return read_record(value).is_foreign ? value : value.substr(0, kRecordHeaderBytes);
}

std::string_view lock_prefix(std::string_view value) {
  return read_record(value).is_foreign ? value : value.substr(0, kNumberAt);
}

std::uint64_t lock_number(std::string_view value) {
  const std::string_view incarnation = read_record(value).incarnation;
  std::uint64_t number = 0;
  std::memcpy(&number, incarnation.data(), std::min(incarnation.size(), sizeof number));
  return number;
}

std::string new_record(LockKind kind, std::string_view payload, const RandomBytes& random) {
  std::string value;
  value.reserve(kRecordHeaderBytes + payload.size());
  append_kind(value, kind == LockKind::hash ? kHash : kText);
  append_random(value, kIncarnationBytes, random);
  append_number(value, 0);
  append_random(value, kNonceBytes, random);
  value.append(payload);
  return value;
}

std::string next_record(std::string_view value, LockKind kind, std::string_view payload,
                        const RandomBytes& random) {
  const Record before = read_record(value);
  INVARIANT(!before.is_foreign && has_next_record(value), "a value that has no next");
  std::string next;
  next.reserve(kRecordHeaderBytes + payload.size());
  if (kind == LockKind::text) {
    append_kind(next, kText);
  } else {
    append_kind(next, is_of_same_holders(before, payload) ? kHash : kHashOfOthers);
  }
  next.append(before.incarnation);
  append_number(next, before.number + 1);
  append_random(next, kNonceBytes, random);
  next.append(payload);
  return next;
}

bool has_next_record(std::string_view value) {
  return read_record(value).number < std::numeric_limits<std::uint32_t>::max();
}

}  // namespace redlock::coordinator
