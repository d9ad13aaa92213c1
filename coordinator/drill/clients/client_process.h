// A client of a drill: a process of its own, `redlock drill client`, that works under locks as any
// program would, by the public library, until SIGTERM ends it or anything else does.
//
//     asks -> acquired -> works: [ valid? -> thinks -> writes to the store ] … -> releases
//                            \-> lost: told by the guard, by the clock, or by the store
//
// A lock that another holds it waits for, by the nodes' word (rule Q7), and writes down since when.
// One client in four (in_line) does nothing else: again and again it stands in line for "lock 1".
//
// It writes down what it believes, and when, in a history of its own. It holds in three ways, drawn
// from its seed: briefly; for long, under a guard that extends; and without extension, until the
// validity is nearly over. Between the look at valid() and the write it thinks for a while, as
// programs do: a client that is stopped there writes late, and the store has to refuse it.
#pragma once

#include "coordinator/drill/clients/client_settings.h"
#include <redlock/result.h>

namespace redlock::drill {

// Until SIGTERM. The error is for people: the drill cannot go on without this client.
Status run_client_process(const ClientProcessSettings& settings);

}  // namespace redlock::drill
