#include "protocol/resp/request_batch.h"

namespace redlock::protocol {
namespace {

constexpr std::size_t kDigitsMax = 7;  // less than kBulkBytesMax, whatever they are

// What is left of the bytes. Every step returns false when the request is not plain.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  const char* at() const { return at_; }

  // "*3\r\n" or "$5\r\n". A number with zeros in front is no number. Nearly all have one digit or
  // two. Of the line's end the second byte is not looked at, as by RequestParser.
  bool read_header(char type, std::size_t& number) {
    if (end_ - at_ < 5 || *at_ != type) return read_long_header(type, number);
    const std::size_t first = digit(at_[1]);
    const std::size_t second = digit(at_[2]);
    if (first <= 9 && at_[2] == '\r') {
      number = first;
      at_ += 4;
      return true;
    }
    if (first - 1 < 9 && second <= 9 && at_[3] == '\r') {
      number = first * 10 + second;
      at_ += 5;
      return true;
    }
    return read_long_header(type, number);
  }

  bool read_word(std::string_view& word) {
    std::size_t length = 0;
    if (!read_header('$', length)) return false;
    if (static_cast<std::size_t>(end_ - at_) < length + 2) return false;
    word = {at_, length};
    at_ += length + 2;
    return true;
  }

 private:
  // Beyond 9 for what is none.
  static std::size_t digit(char c) { return static_cast<std::size_t>(c) - '0'; }

  bool read_long_header(char type, std::size_t& number) {
    const char* at = at_;
    if (end_ - at < 4 || *at != type) return false;
    const char* const first = ++at;
    std::size_t value = 0;
    while (at < end_ && *at >= '0' && *at <= '9') value = value * 10 + digit(*at++);
    const auto digits = static_cast<std::size_t>(at - first);
    if (digits == 0 || digits > kDigitsMax || (*first == '0' && digits > 1)) return false;
    if (!read_line_end(at)) return false;
    number = value;
    at_ = at;
    return true;
  }

  bool read_line_end(const char*& at) const {
    if (end_ - at < 2 || at[0] != '\r') return false;
    at += 2;
    return true;
  }

  const char* at_;
  const char* end_;
};

}  // namespace

std::size_t RequestBatch::read(std::string_view bytes, std::size_t requests_max) {
  size_ = 0;
  Cursor cursor(bytes);
  std::size_t words_used = 0;
  while (size_ < requests_max) {
    std::size_t count = 0;
    if (!cursor.read_header('*', count)) break;
    if (count == 0 || count > kWordsMax - words_used) break;
    std::string_view* const words = &words_[words_used];
    std::size_t read = 0;
    while (read < count && cursor.read_word(words[read])) ++read;
    if (read < count) break;
    requests_[size_] = {words, count};
    ends_[size_] = static_cast<std::size_t>(cursor.at() - bytes.data());
    words_used += count;
    ++size_;
  }
  return size_;
}

}  // namespace redlock::protocol
