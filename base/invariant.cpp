#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace redlock {

void invariant_failed(const char* file, int line, const char* condition, const char* text) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s (%s)\n", file, line, text, condition);
  std::abort();
}

}  // namespace redlock
