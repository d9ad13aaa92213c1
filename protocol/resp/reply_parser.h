// Bytes to replies: what a client of a node reads. RESP2 and RESP3.
//
// Incremental without reading twice: the parser keeps what it has understood, so that a reply costs
// time by its bytes, in whatever pieces they come; and where it stands, as an offset, so that the
// bytes may move between calls.
//
//   while (parser.parse(bytes) == State::complete) {
//     handle(parser.take_reply());
//     bytes.remove_prefix(parser.consumed());
//   }
//   // incomplete: keep `bytes`, come back with more behind them; broken: parser.problem(), close
//
// Attributes (RESP3 '|') are skipped. Streamed types are refused: no server sends them.
#pragma once

#include "protocol/resp/reply.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::protocol {

struct ParsedReply {
  enum class State { complete, incomplete, broken };

  State state;
  std::size_t consumed = 0;  // bytes of `complete`
  Reply reply;               // of `complete`; owns its text
  std::string problem;       // of `broken`: what was wrong, for people
};

class ReplyParser {
 public:
  using State = ParsedReply::State;

  // `bytes` starts where the last complete reply ended. After `complete` and `broken` the next call
  // begins anew.
  State parse(std::string_view bytes);

  // After `complete`; owns its text.
  Reply take_reply() { return std::move(reply_); }
  std::size_t consumed() const { return position_; }
  // After `incomplete`: a part of a reply is understood.
  bool is_within_reply() const { return is_within_reply_; }
  // After `broken`: what was wrong, for people.
  const std::string& problem() const { return problem_; }

 private:
  class Reader;
  // An aggregate some of whose elements are yet to come.
  struct Open {
    char type;
    std::int64_t left;
    std::vector<Reply> items;
  };

  void begin();
  State broken(std::string why);
  void open(char type, std::int64_t count);
  bool close_with(Reply value);

  bool is_within_reply_ = false;
  std::size_t position_ = 0;   // bytes of the reply that are understood
  std::size_t searched_ = 0;   // the line at position_ does not end before it
  std::int64_t elements_ = 0;  // promised by all heads so far
  std::vector<Open> open_;     // from the outermost on
  Reply reply_;
  std::string problem_;
};

// The one reply that the bytes begin with, for who has them all.
ParsedReply parse_reply(std::string_view bytes);

}  // namespace redlock::protocol
