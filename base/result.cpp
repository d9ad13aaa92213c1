#include "base/invariant.h"
#include <redlock/result.h>

namespace redlock {

void value_of_failure(const std::string& text) {
  invariant_failed(__FILE__, __LINE__, "value() of a failed Result", text.c_str());
}

}  // namespace redlock
