#include "base/net/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace redlock::net {

// open(2) takes the lowest free number, which is the closed stream's.
void fill_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    static_cast<void>(open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace redlock::net
