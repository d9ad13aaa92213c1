// A node as people name it, and what its connections begin with.
#pragma once

#include "coordinator/link/greeting.h"

#include <string>

namespace redlock::coordinator {

struct NamedNode {
  std::string name;  // for people: its address
  Credentials credentials;
};

}  // namespace redlock::coordinator
