// TLS as the settings of a node, or of a front door, have it. A failure names the setting.
#pragma once

#include "base/log.h"
#include "base/net/tls/tls_server.h"
#include "server/settings/settings.h"
#include <redlock/result.h>

#include <memory>

namespace redlock::server {

Result<std::unique_ptr<net::TlsServer>> make_tls(const Settings& settings);
// nullptr where no port is to speak it: then nothing of TLS is set up, and nothing paid for.
Result<std::unique_ptr<net::TlsServer>> open_tls(const Settings& settings);

// From now on by these settings, whose files are read anew; a failure leaves all as it was. tls:
// nullptr has nothing to do.
Status renew_tls(net::TlsServer* tls, const Settings& settings);
// The same by a signal: the log says what came of it. REQUIRES: tls is not nullptr.
void renew_tls_and_tell(net::TlsServer& tls, const Settings& settings, LogSink& log);

}  // namespace redlock::server
