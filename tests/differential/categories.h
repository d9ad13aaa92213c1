// ACL CAT, category by category: of the commands that both servers have, both must tell the same.
#pragma once

#include "tests/differential/link.h"

#include <string>

namespace redlock::differential {

// What differs, a line for each command; empty: nothing does.
std::string differing_categories(Link& node, Link& redis);

}  // namespace redlock::differential
