// What a node tells those who collect metrics: as INFO and LOCK.STATUS, in the format of
// metrics_text.h. No lock's name and no client's is among it.
#pragma once

#include "base/net/tls/tls_server.h"
#include "base/text/metrics_text.h"
#include "base/time.h"
#include "server/node/node.h"
#include "server/shell/node_run.h"

#include <string>

namespace redlock::server {

// tls: nullptr where no port speaks it.
std::string metrics_text(const Node& node, const LedgerWrites& writes, const net::TlsServer* tls,
                         Now now);

// The parts that a front door has as well, whose sessions are a node's.
void tell_sessions(MetricsText& text, const Node& node);
void tell_certificate(MetricsText& text, const net::TlsServer* tls);
void tell_process(MetricsText& text, const Node& node, Now now);

}  // namespace redlock::server
