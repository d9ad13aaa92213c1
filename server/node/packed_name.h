// PackedName: a short name in ASCII lower case, as two machine words and its length, so that
// comparing two names in any case is comparing three numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace redlock::server {

class PackedName {
 public:
  static constexpr std::size_t kBytesMax = 16;

  static bool fits(std::string_view name) { return !name.empty() && name.size() <= kBytesMax; }

  // REQUIRES: fits(name). Two loads that may overlap cover a name of any length.
  explicit PackedName(std::string_view name) : size_(name.size()) {
    const char* const first = name.data();
    if (size_ >= 8) {
      front_ = load<std::uint64_t>(first);
      back_ = load<std::uint64_t>(first + size_ - 8);
    } else if (size_ >= 4) {
      front_ = load<std::uint32_t>(first);
      back_ = load<std::uint32_t>(first + size_ - 4);
    } else {
      front_ = load<std::uint8_t>(first);
      back_ = load<std::uint8_t>(first + size_ / 2) |
              std::uint64_t{load<std::uint8_t>(first + size_ - 1)} << 8;
    }
    front_ = in_lower_case(front_);
    back_ = in_lower_case(back_);
  }

  bool operator==(const PackedName&) const = default;

  // Its upper bits are the mixed ones.
  std::uint64_t hash() const {
    return (front_ ^ (back_ << 1) ^ size_) *
           0x9e3779b97f4a7c15u;  // the golden ratio's, as Knuth has it
  }

 private:
  template <class Number>
  static Number load(const char* from) {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
  }

  // Eight letters at a time: a byte that stands between 'A' and 'Z' gets the bit that makes it
  // small. Bytes above 127 stay, as they are no letters of ASCII.
  static std::uint64_t in_lower_case(std::uint64_t letters) {
    constexpr std::uint64_t kEach = 0x0101010101010101u;
    const std::uint64_t low_bits = letters & (0x7f * kEach);
    const std::uint64_t from_a = low_bits + (0x80 - 'A') * kEach;   // bit 7 where it is >= 'A'
    const std::uint64_t above_z = low_bits + (0x7f - 'Z') * kEach;  // bit 7 where it is > 'Z'
    const std::uint64_t is_capital = from_a & ~above_z & ~letters & (0x80 * kEach);
    return letters | is_capital >> 2;
  }

  std::uint64_t front_;
  std::uint64_t back_;
  std::size_t size_;
};

}  // namespace redlock::server
