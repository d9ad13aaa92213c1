// Values of two characters, of which one holder has many (rule D9): a letter, which is the
// holder's, and a digit.
#pragma once

#include "coordinator/quorum/quorum_read.h"

#include <cstdint>
#include <string_view>

namespace redlock::coordinator {

inline HeldBy letter_and_number(std::string_view value) {
  return {value.substr(0, 1), static_cast<std::uint32_t>(value[1] - '0')};
}

}  // namespace redlock::coordinator
