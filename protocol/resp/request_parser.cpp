#include "protocol/resp/request_parser.h"

#include "base/text/number.h"
#include "base/text/quoted_words.h"

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

// The first byte of whoever speaks TLS, and of no request.
constexpr char kTlsHandshake = '\x16';

// A connection keeps room for a request of this many words; a larger one gives its room back, so
// that one request of a million words does not cost its connection 48 MB for good.
constexpr std::size_t kKeptWords = 64;

}  // namespace

void RequestParser::set_authenticated(bool authenticated) {
  words_max_ = authenticated ? kWordsMax : kWordsMaxUnauthenticated;
  bulk_bytes_max_ = authenticated ? kBulkBytesMax : kBulkBytesMaxUnauthenticated;
}

void RequestParser::begin() {
  position_ = 0;
  bulk_length_ = -1;
  if (spans_.capacity() > kKeptWords) spans_ = {};
  if (words_.capacity() > kKeptWords) words_ = {};
  if (inline_words_.capacity() > kKeptWords) inline_words_ = {};
  spans_.clear();
  words_.clear();
}

RequestParser::State RequestParser::parse(std::string_view bytes) {
  if (!under_way_) begin();
  if (bytes.empty()) return State::incomplete;
  const State state = bytes.front() == '*' ? parse_array(bytes) : parse_inline(bytes);
  if (state != State::incomplete) {
    under_way_ = false;
  } else if (bytes.size() > kRequestBytesMax) {
    return broken("Protocol error: request larger than this server takes");
  }
  return state;
}

RequestParser::State RequestParser::parse_array(std::string_view bytes) {
  if (!under_way_) {
    switch (read_header(bytes, '*', words_left_)) {
      case Step::more:
        return State::incomplete;
      case Step::broken:
        return State::broken;
      case Step::done:
        under_way_ = true;
    }
  }
  for (; words_left_ > 0; --words_left_) {
    switch (read_word(bytes)) {
      case Step::more:
        return State::incomplete;
      case Step::broken:
        return State::broken;
      case Step::done:
        break;
    }
  }
  for (const Span& span : spans_) words_.push_back(bytes.substr(span.offset, span.length));
  return State::complete;
}

// "*3\r\n" or "$5\r\n" at position_. Lengths are checked before a single byte
// is set aside for them.
RequestParser::Step RequestParser::read_header(std::string_view bytes, char type,
                                               std::int64_t& number) {
  const bool is_count = type == '*';
  const std::size_t length = bytes.substr(position_, kInlineBytesMax + 1).find('\r');
  if (length == std::string_view::npos) {
    if (bytes.size() - position_ <= kInlineBytesMax) return Step::more;
    broken(is_count ? "Protocol error: too big mbulk count string"
                    : "Protocol error: too big bulk count string");
    return Step::broken;
  }
  const std::size_t end = position_ + length;
  if (end + 1 >= bytes.size()) return Step::more;
  if (bytes[position_] != type) {
    broken(fmt::format("Protocol error: expected '$', got '{}'", bytes[position_]));
    return Step::broken;
  }
  const auto parsed = parse_int64(bytes.substr(position_ + 1, end - position_ - 1));
  const std::int64_t most = is_count ? words_max_ : bulk_bytes_max_;
  const std::int64_t most_of_all = is_count ? kRedisWordsMax : kBulkBytesMax;
  if (!parsed || *parsed > most_of_all || (!is_count && *parsed < 0)) {
    broken(is_count ? "Protocol error: invalid multibulk length"
                    : "Protocol error: invalid bulk length");
    return Step::broken;
  }
  if (is_count && most == kWordsMax && *parsed > most) {
    broken(fmt::format(
        "Protocol error: a request of {} words, of which {} are taken at once: send several",
        *parsed, kWordsMax));
    return Step::broken;
  }
  if (*parsed > most) {
    broken(is_count ? "Protocol error: unauthenticated multibulk length"
                    : "Protocol error: unauthenticated bulk length");
    return Step::broken;
  }
  number = *parsed;
  position_ = end + 2;
  return Step::done;
}

RequestParser::Step RequestParser::read_word(std::string_view bytes) {
  if (bulk_length_ < 0) {
    if (position_ >= bytes.size()) return Step::more;
    if (const Step step = read_header(bytes, '$', bulk_length_); step != Step::done) return step;
  }
  const auto length = static_cast<std::size_t>(bulk_length_);
  if (bytes.size() - position_ < length + 2) return Step::more;
  spans_.push_back({position_, length});
  position_ += length + 2;
  bulk_length_ = -1;
  return Step::done;
}

RequestParser::State RequestParser::parse_inline(std::string_view bytes) {
  // It waits for an answer, and would not send the end of a line for long.
  if (bytes.front() == kTlsHandshake) return broken("Protocol error: no TLS at this port");
  const std::size_t end = bytes.substr(0, kInlineBytesMax + 1).find('\n');
  if (end == std::string_view::npos) {
    if (bytes.size() > kInlineBytesMax) return broken("Protocol error: too big inline request");
    return State::incomplete;
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  auto split = split_quoted_words(line);
  if (!split) return broken("Protocol error: unbalanced quotes in request");
  inline_words_ = std::move(*split);
  words_.assign(inline_words_.begin(), inline_words_.end());
  position_ = end + 1;
  return State::complete;
}

RequestParser::State RequestParser::broken(std::string problem) {
  problem_ = std::move(problem);
  under_way_ = false;
  return State::broken;
}

}  // namespace redlock::protocol
