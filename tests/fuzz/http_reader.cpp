// The reader of HTTP requests: a connection's requests mean the same in whatever pieces they come,
// and each takes no more room than one may have.
//
// The input: a byte that says how it is cut, then the connection's bytes.
#include "base/net/http/http_reader.h"

#include "base/random.h"
#include "tests/fuzz/target.h"

#include <string>

#include <fmt/format.h>

namespace redlock::fuzz {
namespace {

using net::HttpReader;

// Every request in a line, then what was wrong. piece_max: bytes that come at once; 0: all of them.
std::string told(std::string_view bytes, std::size_t piece_max, Random random) {
  HttpReader reader;
  std::string text;
  std::size_t of_request = 0;
  while (!bytes.empty()) {
    std::string_view piece =
        take(bytes, piece_max == 0 ? bytes.size() : 1 + random.below(piece_max));
    while (!piece.empty()) {
      const std::size_t before = piece.size();
      const HttpReader::State state = reader.read(piece);
      of_request += before - piece.size();
      INVARIANT(of_request <= HttpReader::kRequestBytesMax, "a request of too many bytes");
      if (state == HttpReader::State::broken) return text + "broken";
      if (state == HttpReader::State::too_long) return text + "too long";
      if (state == HttpReader::State::more) {
        INVARIANT(piece.empty(), "bytes are left of a request that wants more");
        break;
      }
      const net::HttpRequest& request = reader.request();
      text += fmt::format("{} {} {} {}\n", request.method, request.path, request.host,
                          request.keeps_alive);
      of_request = 0;
    }
  }
  return text;
}

}  // namespace

void run(std::string_view input) {
  const std::uint8_t cut = take_byte(input);
  const std::string whole = told(input, 0, Random(cut));
  INVARIANT(told(input, 1 + cut % 8, Random(cut)) == whole,
            "requests in pieces are not those of the whole");
}

}  // namespace redlock::fuzz
