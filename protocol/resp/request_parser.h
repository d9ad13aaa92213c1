// Bytes to requests: what a node reads from its clients. RESP arrays and inline lines.
//
// Incremental without reading twice: the parser remembers how far it came, as offsets, so the bytes
// may move between calls. A request that arrived whole is handed out as views into those bytes;
// nothing is copied but the words of an inline line that had quotes in it.
//
//   State state = parser.parse(bytes);
//   for (; state == State::complete; state = parser.parse(bytes)) {
//     handle(parser.request());
//     bytes.remove_prefix(parser.consumed());
//   }
//   if (state == State::broken) …      // answer parser.problem(), close
//                                      // incomplete: keep `bytes`, come back with more behind them
#pragma once

#include "protocol/resp/limits.h"
#include "protocol/resp/request.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

class RequestParser {
 public:
  enum class State { complete, incomplete, broken };

  // What a client that has not given the password may send is less (Redis's bounds).
  void set_authenticated(bool authenticated);

  // `bytes` starts where the last complete request ended.
  // After `complete` the next call begins anew.
  State parse(std::string_view bytes);

  // Whether the beginning of a request is understood, and its end has not come.
  bool is_within_request() const { return under_way_; }

  // After `complete`: views into the bytes of that call; may be empty (an empty line,
  // "*0"): ignore it.
  Request request() const { return words_; }
  std::size_t consumed() const { return position_; }
  // After `broken`: Redis's text, "Protocol error: …".
  const std::string& problem() const { return problem_; }

 private:
  struct Span {
    std::size_t offset;
    std::size_t length;
  };
  enum class Step { done, more, broken };

  State parse_array(std::string_view bytes);
  State parse_inline(std::string_view bytes);
  Step read_header(std::string_view bytes, char type, std::int64_t& number);
  Step read_word(std::string_view bytes);
  State broken(std::string problem);
  void begin();

  std::int64_t words_max_ = kWordsMax;
  std::int64_t bulk_bytes_max_ = kBulkBytesMax;

  bool under_way_ = false;    // words_left_ and spans_ belong to a request that began
  std::size_t position_ = 0;  // bytes of it that are understood
  std::int64_t words_left_ = 0;
  std::int64_t bulk_length_ = -1;  // of the word whose header was read
  std::vector<Span> spans_;
  std::vector<std::string_view> words_;
  std::vector<std::string> inline_words_;
  std::string problem_;
};

}  // namespace redlock::protocol
