// One run of a front door on a loop: its listeners, its clients' sockets, and its links to the
// nodes, to each one for locks and one for messages (rule D11).
//
//   DoorRun door(loop, std::move(settings), std::move(nodes), log);
//   if (const Status opened = door.open(); !opened) …   // the address is in use
//   door.serve({.ended = [&] { loop.stop(); }});        // after stop(), or a client's SHUTDOWN
//   loop.run();
//
// In a turn of the loop what clients sent is executed, then goes out what the nodes are asked, then
// what clients are answered.
//
// Thread safety: none; all of it on the thread that runs the loop.
#pragma once

#include "base/log.h"
#include "base/net/process/system_random.h"
#include "base/net/turn/loop.h"
#include "coordinator/client/group_sockets.h"
#include "coordinator/client/parsed_options.h"
#include "coordinator/front_door/front_door.h"
#include "coordinator/page/status_page.h"
#include "server/metrics/metrics_port.h"
#include "server/shell/acl_file.h"
#include "server/shell/script_watchdog.h"
#include "server/sockets/listeners.h"
#include "server/sockets/session_server.h"
#include "server/sockets/tls_settings.h"
#include <redlock/client.h>
#include <redlock/result.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct DoorSettings {
  std::vector<net::Address> listen = {};      // empty, as listen_tls is: those of door.settings
  std::vector<net::Address> listen_tls = {};  // by TLS, with the certificates of door.settings
  std::optional<net::Address> http = {};      // a page, and /metrics; nullopt: nowhere
  bool http_tls = false;                      // it is at https
  StatusPage::Names names = StatusPage::Names::no;  // of locks, on the page
  ClientOptions page_client = {};  // what the page asks the nodes by, while somebody looks at it
  FrontDoor::Options door = {};
  std::string config_file = {};  // for INFO
};

class DoorRun {
 public:
  enum class Met : std::uint8_t {
    quorum,
    none,
    other_group,  // the nodes named are not those of the group of one that answers
  };
  struct Hooks {
    // The nodes have answered, or had their time. Once.
    std::function<void(Met)> met = {};
    std::function<void()> ended;  // nothing is under way any more, and all answers are out
  };

  // Log lines are the door's own. Loop and logs outlive the run.
  // audit_file: where the setting `audit` names one.
  DoorRun(net::Loop& loop, DoorSettings settings, ParsedOptions nodes, LogSink& log,
          LogSink* audit_file = nullptr);
  ~DoorRun();
  DoorRun(const DoorRun&) = delete;
  DoorRun& operator=(const DoorRun&) = delete;

  // Listens, and accepts nobody yet.
  Status open();
  // Dials the nodes, and admits clients. A failure: the file of users cannot be read.
  Status serve(Hooks hooks);
  // The files of TLS are read anew: those that are shown to clients. Those that are shown to nodes
  // are read when a node is dialled.
  void reload();
  // Accepts nobody more, undoes what is under way, waits for releases at most for the node timeout.
  void stop();

  std::string addresses() const { return listeners_->addresses(); }

 private:
  Status open_page();
  net::HttpResponse page(const net::HttpRequest& request, const net::Address& peer);
  bool may_look(const net::HttpRequest& request, const net::Address& peer);
  JsonObject figures() const;
  void reach_nodes();
  void act(void (FrontDoor::*what)(Now now, Instant holders_now));
  JsonArray votes() const;
  void tell_met();

  net::Loop& loop_;
  DoorSettings settings_;
  ParsedOptions nodes_;
  LogSink& log_;
  LogSink* const audit_file_;
  Hooks hooks_;
  server::ScriptWatchdog watchdog_;
  std::unique_ptr<net::TlsServer> tls_;
  std::unique_ptr<server::Listeners> listeners_;
  net::RandomPool random_;
  std::optional<GroupSockets> sockets_;
  std::optional<GroupSockets> message_sockets_;
  std::optional<server::AclFile> acl_file_;
  std::optional<FrontDoor> door_;
  std::optional<server::SessionServer> server_;
  std::optional<StatusPage> page_;
  server::MetricsPort http_;  // ends before what it tells of
};

}  // namespace redlock::coordinator
