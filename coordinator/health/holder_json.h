// A lock's holder for programs that read JSON, as `redlock holder` and `redlock list` tell of it.
#pragma once

#include "base/text/json.h"
#include <redlock/client.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace redlock::coordinator {

// Of what never ends, as a key that somebody set without a time to live: none.
std::optional<std::int64_t> left_ms(const Holder& holder);

// nodes: of the group. What a group without tokens does not have is null; the label and since when
// it is held are there where the holder says who it is.
JsonObject holder_json(const std::string& name, const Holder& holder, std::size_t nodes);

}  // namespace redlock::coordinator
