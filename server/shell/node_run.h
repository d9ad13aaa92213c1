// One run of a node, from its open listeners to its clean stop: what redlock-node does, and what a
// node inside another program does on its thread.
//
//   NodeRun run(loop, settings, log, {});
//   if (const Status opened = run.open(); !opened) …
//   const Status served = run.serve({.begun = …});   // until stop(), SHUTDOWN, the loop's stop
//   if (served) … run.finish();                      // left out, it was a crash
//
// The order of a start matters (recovery.h): first the addresses, so that one in use leaves the
// state folder untouched; then the folder's lock; only then the clock from which a restart delay
// counts; and the new run is durable before the first request that touches a lock.
//
// Thread safety: none; all of it on the thread that runs the loop.
#pragma once

#include "base/log.h"
#include "base/net/turn/background_task.h"
#include "base/net/turn/loop.h"
#include "server/node/node.h"
#include "server/shell/acl_file.h"
#include "server/shell/script_watchdog.h"
#include "server/shell/state_folder.h"
#include "server/sockets/listeners.h"
#include "server/sockets/session_server.h"
#include "server/sockets/tls_settings.h"
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace redlock::server {

// For a node, and for a run: 40 hex digits of the system's randomness.
std::string random_node_id();
// Of a node that is made now: the setting, or a random one.
std::string new_node_id(const Settings& settings);

// The writes of the ledger's durable part that have ended.
struct LedgerWrites {
  std::uint64_t ended = 0;
  std::uint64_t failed = 0;
  Duration took{};  // all together
};

class NodeRun {
 public:
  struct Options {
    std::string config_file = {};  // for INFO; empty: none
    bool owns_process = true;      // false: within another program
    bool any_free_port = false;    // instead of the setting `port`, which then tells which it is
    // Without one nothing outlives the node, and each start is a new installation's: for tests.
    bool has_folder = true;
    LogSink* audit_file = nullptr;  // where the setting `audit` names one
    bool bootstrap = false;         // make the folder's ledger first, if there is none (rule R1)
  };
  // Called on the loop. Either may be empty.
  struct Hooks {
    std::function<void()> begun = {};  // requests are executed from now on; it may be recovering
    std::function<void()> recovered = {};  // the restart delay is over
  };

  // CONFIG SET changes the settings while it runs. All outlive the run.
  // Log lines are the node's own.
  NodeRun(net::Loop& loop, Settings& settings, LogSink& log, Options options);

  // TLS, where a port is to speak it; open() does it otherwise.
  Status open_tls();
  // Addresses, folder, decision, the locks of the last run.
  Status open();
  // Runs the loop. A failure: the run could not be made durable, nothing was granted.
  Status serve(const Hooks& hooks);
  // From the loop, while it serves: finishes the turn, then serve() returns.
  void stop();
  // From the loop, while it serves: what other programs have written into the files of TLS is read.
  void reload();
  // The snapshot of a clean stop (rule R9). A stop within the restart delay leaves none, and so
  // does SHUTDOWN NOSAVE: the next start then waits (rule R3).
  Status finish();

  const Listeners& listeners() const { return *listeners_; }
  const net::TlsServer* tls() const { return tls_.get(); }  // nullptr: no port speaks it
  const Node& node() const { return *node_; }
  const LedgerWrites& ledger_writes() const { return ledger_writes_; }

 private:
  Status open_folder();
  Status restore();
  void tell_start();
  void look_after_ledger();

  net::Loop& loop_;
  Settings& settings_;
  LogSink& log_;
  const Options options_;
  ScriptWatchdog watchdog_;
  std::unique_ptr<net::TlsServer> tls_;
  std::unique_ptr<Listeners> listeners_;
  std::optional<StateFolder> folder_;
  std::optional<AclFile> acl_file_;
  Decision decision_;
  std::optional<Node> node_;
  SessionServer* server_ = nullptr;  // while it serves
  // The write to the ledger's durable part that is under way, or the last one (rule R7).
  std::optional<net::BackgroundTask> ledger_write_;
  LedgerWrites ledger_writes_;
};

}  // namespace redlock::server
