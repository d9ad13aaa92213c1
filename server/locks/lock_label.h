// Who holds a lock, in the holder's own words, and since when. It is told and never compared.
#pragma once

#include "base/label.h"
#include "base/time.h"

#include <cstddef>
#include <string_view>

namespace redlock::server {

// What a record has beside its text: since when, and the text's length.
inline constexpr std::size_t kLabelTailBytes = sizeof(Instant) + 1;

struct LockLabel {
  std::string_view text = {};  // empty: there is none
  Instant since{};

  std::size_t bytes() const { return text.empty() ? 0 : text.size() + kLabelTailBytes; }
};

}  // namespace redlock::server
