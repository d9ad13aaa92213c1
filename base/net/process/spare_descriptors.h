// A loop without descriptors is a broken invariant to a program of ours, which ends then. A program
// around a client or an embedded node must not: so they are tried beforehand.
#pragma once

#include <redlock/result.h>

#include <string_view>

namespace redlock::net {

// Fails if the process may not open so many more. `what` needs them: "an embedded node".
Status try_descriptors(int count, std::string_view what);

}  // namespace redlock::net
