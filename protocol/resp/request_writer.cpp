#include "protocol/resp/request_writer.h"

#include "base/invariant.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace redlock::protocol {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

// "$5\r\n", behind the end of what came before it: in one piece, as each append has its price.
void append_size(std::string_view before, char type, std::size_t size, OutputBuffer& out) {
  std::array<char, 32> line;
  char* end = line.data() + before.copy(line.data(), before.size());
  *end++ = type;
  end = std::to_chars(end, line.data() + line.size(), size).ptr;
  end += kLineEnd.copy(end, kLineEnd.size());
  out.append({line.data(), static_cast<std::size_t>(end - line.data())});
}

}  // namespace

void write_request(Request request, OutputBuffer& out) {
  INVARIANT(!request.empty(), "a request without a command");
  append_size("", '*', request.size(), out);
  std::string_view before;
  for (const std::string_view word : request) {
    append_size(before, '$', word.size(), out);
    out.append(word);
    before = kLineEnd;
  }
  out.append(kLineEnd);
}

}  // namespace redlock::protocol
