#include "base/net/http/http_events.h"

#include "base/invariant.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::net {

// One that is dropped meanwhile takes itself out.
void HttpEvents::send(std::string_view data) {
  INVARIANT(data.find_first_of("\r\n") == std::string_view::npos, "an event of several lines");
  const std::string bytes = fmt::format("data: {}\n\n", data);
  for (Listener* listener : std::vector<Listener*>(listeners_)) {
    const bool is_there =
        std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
    if (is_there) listener->send(bytes);
  }
}

}  // namespace redlock::net
