// Each client needs a descriptor: the process's limit is raised to what maxclients asks for.
#pragma once

#include "base/log.h"
#include "server/settings/settings.h"

#include <cstdint>

namespace redlock::server {

// own: for what is no client's. Where the system allows fewer, maxclients becomes what is possible,
// and a line says so.
void raise_descriptor_limit(Settings& settings, LogSink& log, std::uint32_t own);

}  // namespace redlock::server
