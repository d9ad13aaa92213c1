// Replies to bytes.
#pragma once

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/reply.h"

namespace redlock::protocol {

enum class Version { resp2 = 2, resp3 = 3 };

// Appends the reply as this version writes it; types that RESP2 lacks step down as Redis steps them
// down (a map is a flat array, a double and a verbatim string are bulks, a boolean is 1 or 0).
// Line breaks inside a status or an error become blanks. Kinds none, later, postponed and
// too_large write nothing.
void write_reply(const Reply& reply, Version version, OutputBuffer& out);

}  // namespace redlock::protocol
