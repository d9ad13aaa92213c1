// docs/differences.md, from the tables of the differential test: redlock-differential --document.
// A test holds the file in step.
#pragma once

#include <string>

namespace redlock::differential {

std::string differences_document();

}  // namespace redlock::differential
