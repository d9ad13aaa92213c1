// A client of a drill: a process of its own, `redlock drill client`, that works under locks as any
// program would, by the public library, until SIGTERM ends it or anything else does.
//
//     asks -> acquired -> works: [ valid? -> thinks -> writes to the store ] … -> releases
//                            \-> lost: told by the guard, by the clock, or by the store
//
// It writes down what it believes, and when, in a history of its own. It holds in three ways, drawn
// from its seed: briefly; for long, under a guard that extends; and without extension, until the
// validity is nearly over. Between the look at valid() and the write it thinks for a while, as
// programs do: a client that is stopped there writes late, and the store has to refuse it.
#pragma once

#include "base/time.h"
#include <redlock/client.h>
#include <redlock/result.h>

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
  int locks = 8;             // "lock 1" and so on
  std::string store;         // the path of its socket
  std::string history_file;  // is added to
};

// Until SIGTERM. The error is for people: the drill cannot go on without this client.
Status run_client_process(const ClientProcessSettings& settings);

}  // namespace redlock::drill
