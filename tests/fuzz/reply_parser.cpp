// The reply parser: a stream of replies means the same in whatever pieces it comes.
//
// The input: a byte that says how it is cut, then the stream.
#include "protocol/resp/reply_parser.h"

#include "base/random.h"
#include "tests/fuzz/target.h"

#include <algorithm>
#include <string>

namespace redlock::fuzz {
namespace {

using protocol::ReplyParser;

// Every reply in a line, then what was wrong. piece_max: bytes that come at once; 0: all of them.
std::string told(std::string_view bytes, std::size_t piece_max, Random random) {
  ReplyParser parser;
  std::string text;
  std::string received;
  while (true) {
    const ReplyParser::State state = parser.parse(received);
    if (state == ReplyParser::State::broken) return text + parser.problem();
    if (state == ReplyParser::State::complete) {
      INVARIANT(parser.consumed() > 0 && parser.consumed() <= received.size(),
                "a reply of no bytes, or of more than came");
      text += parser.take_reply().to_string() + '\n';
      received.erase(0, parser.consumed());
      continue;
    }
    if (bytes.empty()) return text + "incomplete";
    received += take(bytes, piece_max == 0 ? bytes.size() : 1 + random.below(piece_max));
  }
}

}  // namespace

void run(std::string_view input) {
  const std::uint8_t cut = take_byte(input);
  const std::string whole = told(input, 0, Random(cut));
  INVARIANT(told(input, 1 + cut % 8, Random(cut)) == whole,
            "replies in pieces are not those of the whole");
}

}  // namespace redlock::fuzz
