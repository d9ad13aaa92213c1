// The file of the audit (server/observe/audit.h), of a node and of a front door.
#pragma once

#include "base/net/log_file.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <optional>

namespace redlock::server {

// nullopt: there is none, or the log has it. The log is told when the file begins to lose lines.
Result<std::optional<net::LogFile>> open_audit(const Settings& settings, const net::LogFile& log);

}  // namespace redlock::server
