#include "coordinator/front_door/records/record.h"

#include "server/locks/packed_hash.h"

#include <array>
#include <optional>

namespace redlock::coordinator {
namespace {

using server::LockKind;

constexpr std::string_view kMagic("\0rl", 3);
constexpr std::size_t kKindAt = 3;
constexpr std::size_t kIncarnationAt = 4;
constexpr std::size_t kIncarnationBytes = 16;
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kNonceBytes = 8;
static_assert(kIncarnationAt + kIncarnationBytes + kNumberBytes + kNonceBytes == kRecordHeaderBytes,
              "the drawing in record.h");

constexpr char kText = 'T';
constexpr char kHash = 'H';

// nullopt: these bytes are no record of a front door.
std::optional<LockKind> kind_of(std::string_view value) {
  if (value.size() < kRecordHeaderBytes || !value.starts_with(kMagic)) return std::nullopt;
  if (value[kKindAt] == kText) return LockKind::text;
  const bool is_hash =
      value[kKindAt] == kHash && server::is_packed_hash(value.substr(kRecordHeaderBytes));
  return is_hash ? std::optional(LockKind::hash) : std::nullopt;
}

void append_random(std::string& to, std::size_t bytes, const RandomBytes& random) {
  std::array<unsigned char, kIncarnationBytes> drawn{};
  random(std::span(drawn).first(bytes));
  to.append(reinterpret_cast<const char*>(drawn.data()), bytes);
}

}  // namespace

Record read_record(std::string_view value) {
  const auto kind = kind_of(value);
  if (!kind) return {LockKind::text, value, value, true};
  return {*kind, value.substr(kRecordHeaderBytes), value.substr(kIncarnationAt, kIncarnationBytes),
          false};
}

std::string_view incarnation_of(std::string_view value) {
  return read_record(value).incarnation;
}

std::string_view unique_part_of(std::string_view value) {
  return read_record(value).is_foreign ? value : value.substr(0, kRecordHeaderBytes);
}

std::string new_record(LockKind kind, std::string_view payload, const RandomBytes& random) {
  std::string value;
  value.reserve(kRecordHeaderBytes + payload.size());
  value.append(kMagic);
  value.push_back(kind == LockKind::hash ? kHash : kText);
  append_random(value, kIncarnationBytes, random);
  value.append(kNumberBytes, '\0');
  append_random(value, kNonceBytes, random);
  value.append(payload);
  return value;
}

}  // namespace redlock::coordinator
