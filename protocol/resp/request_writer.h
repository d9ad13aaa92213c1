// Requests to bytes: what a client of a node sends.
#pragma once

#include "protocol/resp/output_buffer.h"
#include "protocol/resp/request.h"

namespace redlock::protocol {

// An array of bulk strings, as every Redis client writes it. REQUIRES: at least one word.
void write_request(Request request, OutputBuffer& out);

}  // namespace redlock::protocol
