// Numbers in a node's files: little endian, of fixed width, written and read byte by byte, so
// that a file means the same on every machine and no struct's layout ever reaches a disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock {

template <class Unsigned>
void append_little_endian(std::string& out, Unsigned number) {
  for (std::size_t i = 0; i < sizeof number; ++i) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(number >> (8 * i))));
  }
}

// REQUIRES: bytes holds sizeof(Unsigned) bytes from `at` on.
template <class Unsigned>
Unsigned read_little_endian(std::string_view bytes, std::size_t at) {
  Unsigned number = 0;
  for (std::size_t i = sizeof number; i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bytes[at + i]);
    number = static_cast<Unsigned>(number << 8 | byte);
  }
  return number;
}

}  // namespace redlock
