#include "server/locks/packed_hash.h"

#include "base/byte_order.h"
#include "base/invariant.h"
#include "server/locks/lock.h"

#include <algorithm>

namespace redlock::server {
namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr std::uint32_t kLargeMark = 1u << 31;

constexpr unsigned kBitsPerByte = 7;
constexpr unsigned char kMoreFollow = 0x80;
constexpr unsigned kLengthBitsMax = 28;  // far more than a value has

// So many go from the first field on; for more of them a map is worth its making.
constexpr std::size_t kSearchesWithoutMap = 8;

std::size_t length_bytes(std::size_t length) {
  std::size_t bytes = 1;
  for (; length > 0x7f; length >>= kBitsPerByte) ++bytes;
  return bytes;
}

std::size_t packed_bytes_of(const HashField& field) {
  return length_bytes(field.name.size()) + length_bytes(field.value.size()) + field.name.size() +
         field.value.size();
}

void append_length(std::string& out, std::size_t length) {
  for (; length > 0x7f; length >>= kBitsPerByte) {
    out += static_cast<char>((length & 0x7f) | kMoreFollow);
  }
  out += static_cast<char>(length);
}

// These two move `at` behind what they read. False: the bytes end within it, or no length is that
// long. Nearly every length is one byte.
bool read_length(std::string_view bytes, std::size_t& at, std::size_t& length) {
  length = 0;
  for (unsigned bits = 0; bits < kLengthBitsMax && at < bytes.size(); bits += kBitsPerByte) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= static_cast<std::size_t>(byte & 0x7f) << bits;
    if ((byte & kMoreFollow) == 0) [[likely]]
      return true;
  }
  return false;
}

bool read_field_of(std::string_view bytes, std::size_t& at, HashField& field) {
  std::size_t name = 0;
  std::size_t value = 0;
  if (!read_length(bytes, at, name) || !read_length(bytes, at, value)) return false;
  if (name + value > bytes.size() - at) return false;
  field = {{bytes.data() + at, name}, {bytes.data() + at + name, value}};
  at += name + value;
  return true;
}

std::uint32_t head(std::string_view bytes) {
  return read_little_endian<std::uint32_t>(bytes, 0);
}

}  // namespace

bool is_packed_hash(std::string_view bytes) {
  if (bytes.size() <= kHeadBytes || bytes.size() > kValueBytesMax) return false;
  std::size_t count = 0;
  HashField field;
  for (std::size_t at = kHeadBytes; at < bytes.size(); ++count) {
    if (!read_field_of(bytes, at, field)) return false;
  }
  return (head(bytes) & ~kLargeMark) == count;
}

std::size_t PackedHash::count() const {
  return head(bytes_) & ~kLargeMark;
}

bool PackedHash::was_large() const {
  return (head(bytes_) & kLargeMark) != 0;
}

HashField PackedHash::read_field(std::size_t& at) const {
  HashField field;
  INVARIANT(read_field_of(bytes_, at, field), "a hash whose bytes are none");
  return field;
}

std::optional<std::string_view> PackedHash::find(std::string_view name) const {
  for (std::size_t at = kHeadBytes; at < bytes_.size();) {
    const HashField field = read_field(at);
    if (field.name == name) return field.value;
  }
  return std::nullopt;
}

HashFields::HashFields(const PackedHash& hash)
    : count_(hash.count()), was_large_(hash.was_large()) {
  fields_.reserve(count_ + 1);
  hash.for_each([this](const HashField& field) { fields_.emplace_back(field); });
}

std::optional<HashFields::Place> HashFields::place_of(std::string_view name) {
  if (!has_map_ && ++searches_ <= kSearchesWithoutMap) {
    const auto found = std::find_if(fields_.begin(), fields_.end(), [name](const auto& field) {
      return field && field->name == name;
    });
    if (found == fields_.end()) return std::nullopt;
    return static_cast<Place>(found - fields_.begin());
  }
  if (!has_map_) {
    for (Place place = 0; place < fields_.size(); ++place) {
      if (fields_[place]) places_[fields_[place]->name] = place;
    }
    has_map_ = true;
  }
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string_view> HashFields::find(std::string_view name) {
  const auto place = place_of(name);
  if (!place) return std::nullopt;
  return fields_[*place]->value;
}

bool HashFields::set(std::string_view name, std::string_view value) {
  was_large_ = was_large_ || std::max(name.size(), value.size()) > kListTextBytesMax;
  if (const auto place = place_of(name)) {
    fields_[*place]->value = value;
    return false;
  }
  if (has_map_) places_[name] = fields_.size();
  fields_.emplace_back(HashField{name, value});
  ++count_;
  was_large_ = was_large_ || count_ > kListFieldsMax;
  return true;
}

bool HashFields::remove(std::string_view name) {
  const auto place = place_of(name);
  if (!place) return false;
  if (has_map_) places_.erase(name);
  fields_[*place].reset();
  --count_;
  return true;
}

std::size_t HashFields::packed_bytes() const {
  std::size_t bytes = kHeadBytes;
  for (const auto& field : fields_) {
    if (field) bytes += packed_bytes_of(*field);
  }
  return bytes;
}

std::string HashFields::pack() const {
  INVARIANT(count_ > 0, "a hash without fields, which is none");
  std::string bytes;
  bytes.reserve(packed_bytes());
  append_little_endian(bytes, static_cast<std::uint32_t>(count_) | (was_large_ ? kLargeMark : 0));
  for (const auto& field : fields_) {
    if (!field) continue;
    append_length(bytes, field->name.size());
    append_length(bytes, field->value.size());
    bytes += field->name;
    bytes += field->value;
  }
  return bytes;
}

}  // namespace redlock::server
