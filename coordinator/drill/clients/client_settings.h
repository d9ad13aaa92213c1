// What a client process of a drill is told on its command line.
#pragma once

#include "base/time.h"
#include <redlock/client.h>

#include <cstdint>
#include <string>

namespace redlock::drill {

struct ClientProcessSettings {
  std::string name;  // "client 3"
  std::uint64_t seed = 1;
  ClientOptions client = {};
  Duration ttl = 2s;
  Duration wait = 1s;  // of each attempt
  bool fence = true;
  // Not 0: the nodes are front doors with this reply time (rule D2), and it is no user of the
  // library, but of one Redis (door_user.h).
  Duration reply_time{0};
  int locks = 8;             // "lock 1" and so on
  bool in_line = false;      // it works under "lock 1" alone, briefly, and waits for it for long
  std::string store;         // the path of its socket
  std::string history_file;  // is added to
};

}  // namespace redlock::drill
