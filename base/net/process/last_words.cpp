#include "base/net/process/last_words.h"

#include <climits>
#include <poll.h>
#include <unistd.h>

namespace redlock::net {

void say_last_words(std::string_view text) {
  constexpr int kPatienceMs = 1000;
  pollfd standard_error{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (poll(&standard_error, 1, kPatienceMs) <= 0) return;
  const std::string_view fits = text.substr(0, PIPE_BUF);  // poll's promise is for so much
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, fits.data(), fits.size());
}

}  // namespace redlock::net
