#include "protocol/request_writer.h"

#include "base/invariant.h"

namespace redlock::protocol {

void write_request(Request request, OutputBuffer& out) {
  INVARIANT(!request.empty(), "a request without a command");
  out.append_line('*', static_cast<std::int64_t>(request.size()));
  for (const std::string_view word : request) {
    out.append_line('$', static_cast<std::int64_t>(word.size()));
    out.append(word);
    out.append("\r\n");
  }
}

}  // namespace redlock::protocol
