// Bytes on their way out: appended by the writers, taken by the shell in one piece.
//
// Keeps its memory between uses, so a warm connection allocates nothing.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::protocol {

class OutputBuffer {
 public:
  // Room for so much more, if it is more than grows by itself at little cost.
  void reserve_large(std::size_t bytes) {
    if (bytes > kKeptBytes) bytes_.reserve(bytes_.size() + bytes);
  }
  void append(std::string_view bytes) { bytes_.append(bytes); }
  void append(char byte) { bytes_.push_back(byte); }
  // In one piece, as almost every reply begins with such a line.
  void append_line(char type, std::int64_t number) {
    char line[23];
    line[0] = type;
    char* end = std::to_chars(line + 1, line + sizeof line - 2, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    bytes_.append(line, end);
  }

  std::string_view view() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  // Hands over all of it: what is large is not copied.
  std::string take() { return std::exchange(bytes_, {}); }

  // Empties it; memory beyond what a connection usually needs is given back.
  void clear() {
    bytes_.clear();
    if (bytes_.capacity() > kKeptBytes) bytes_.shrink_to_fit();
  }

 private:
  static constexpr std::size_t kKeptBytes = 16 * 1024;

  std::string bytes_;
};

}  // namespace redlock::protocol
