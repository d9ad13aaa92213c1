// The standard streams of a process that somebody started without them.
#pragma once

namespace redlock::net {

// A standard stream that is closed would have the next file or socket take its number: a log line
// would then be written into a ledger. To be called before any is opened. What stands in for
// standard output refuses to be written to, so that a lock that is lost does not look printed;
// complaints that nobody wants to see just go.
void fill_closed_streams();

}  // namespace redlock::net
