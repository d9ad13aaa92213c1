// What an admission came to, as the library tells it: a sentence per node, and the error.
#pragma once

#include "coordinator/group/group.h"
#include <redlock/client.h>

#include <vector>

namespace redlock::coordinator {

// REQUIRES: it was done.
Admitted admitted(const std::vector<Group::Node>& nodes, const AdmitResult& result);

// REQUIRES: it was not. is_new_group: an operator's, which changes nothing unless all are ready.
Error admission_error(const std::vector<Group::Node>& nodes, const AdmitResult& result,
                      bool is_new_group);

}  // namespace redlock::coordinator
