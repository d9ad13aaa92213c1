// A lock's label: who its holder says it is, in words for people. Nodes keep it,
// and never compare it.
#pragma once

#include <cstddef>

namespace redlock {

// Enough for user@host:pid and a command's name, and little beside a lock's record.
inline constexpr std::size_t kLabelBytesMax = 128;

}  // namespace redlock
