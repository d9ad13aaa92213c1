// What a subcommand of `redlock` was asked for: its options, checked, with every default filled in.
#pragma once

#include "base/net/sockets/address.h"
#include "base/time.h"
#include "coordinator/cli/exit_code.h"
#include <redlock/client.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

enum class Subcommand {
  run,
  hold,
  acquire,
  extend,
  release,
  holder,
  list,
  status,
  admit,
  group,
  up,
  drill,
  bench,
  serve
};
enum class GroupDeed { show, create, replace, add, remove, rescue };
enum class Drill { restart, chaos, partition, clock, run, check, client, command };

struct RunOptions {
  std::vector<std::string> command;
  std::optional<Duration> max_hold;
  bool wait_all = false;  // for all that descends from the command
  int signal = SIGTERM;
  Duration kill_after = 3s;
  int exit_if_not_got = exit_code::kHeld;
  int exit_if_lost = exit_code::kLost;
};

struct BenchOptions {
  Duration length = 10s;
  int in_flight = 50;
  std::string html_file;
};

struct DrillOptions {
  Drill which = Drill::restart;
  std::string node_program;   // of its own nodes
  std::string kill_command;   // restart
  std::string start_command;  // restart
  // Those with clients at work.
  Duration length = 1min;
  int minutes = 0;  // as it was given; counts as `length`
  std::uint64_t seed = 1;
  int clients = 16;
  int locks = 8;
  bool replace = false;  // chaos: the group changes meanwhile
  int doors = 0;         // chaos: front doors between clients and nodes
  bool naive = false;    // with doors: no client has a token
  std::string out_folder = "redlock-drill";
  // check
  std::vector<std::string> history_files;
  std::string html_file;
  // client, command
  std::string store;
  std::string history_file;  // client
  bool in_line = false;      // client
  Duration reply_time{0};    // client: of the front doors that it is at; 0: it is at nodes
  // command
  std::string kind;
  std::string board;
  std::size_t run = 0;
};

struct GroupCommandOptions {
  GroupDeed deed = GroupDeed::show;
  std::string old_node;  // an address, or a node id
  std::string new_node;  // an address
  // rescue
  std::vector<std::string> gone;  // addresses, or node ids
  std::optional<std::uint64_t> floor;
};

struct UpOptions {
  static constexpr std::uint16_t kDoorPort = 6379;  // or the next free one
  int count = 5;
  std::uint16_t door_port = 0;  // 0: kDoorPort, or the next free one
  bool no_door = false;
  std::uint16_t first_port = 7001;
  std::string folder;  // empty: the default of LocalNodes
  std::string node_program;
};

struct ServeOptions {
  // A setting of redlock-node that the sessions of a front door go by, not looked at yet.
  struct OfSessions {
    std::string name;
    std::string value;
    std::string origin;  // for complaints
    bool is_flag;
  };
  std::vector<net::Address> listen;      // empty: as a node's default, unless listen_tls is not
  std::vector<net::Address> listen_tls;  // by TLS
  bool http_tls = false;
  Duration acquire_time = 500ms;    // B of rule D2
  Duration reply_time = 1s;         // R
  std::optional<Duration> max_ttl;  // nullopt: as long as the nodes allow
  bool require_quorum = false;
  std::vector<OfSessions> of_sessions;
};

// What several subcommands have; and what one alone has, under its name.
struct Options {
  // Of all subcommands but up: checked. The nodes stand in one string, as they were named; a drill
  // without nodes has its own.
  ClientOptions client;
  std::size_t node_count = 0;
  bool json = false;

  std::string name;           // of the lock
  std::string pattern = "*";  // list: of the names
  std::string value;          // extend, release
  Duration ttl = 30s;         // acquire, extend, hold, run; release: how long it is tried at most
  std::optional<Duration> wait = Duration(0);  // acquire, hold, run: nullopt: for ever
  bool fence = true;                           // acquire, hold, run: with a fencing token
  bool quiet = false;                          // acquire, hold, run: nothing on standard error
  bool verbose = false;                        // the same: every attempt and every missing node

  RunOptions run;
  bool watch = false;                // status
  std::optional<net::Address> http;  // status: where it is shown as a page; serve: with metrics
  std::string http_names;            // no, hash or yes; empty: by the address
  AdmitOptions admit;
  GroupCommandOptions group;
  BenchOptions bench;
  DrillOptions drill;
  UpOptions up;
  ServeOptions serve;
};

struct CommandLine {
  // Without a subcommand there is nothing to run: `text` is help, a version or a complaint.
  std::optional<Subcommand> subcommand;
  Options options;
  std::vector<std::string> warnings;
  int exit_code = exit_code::kDone;
  std::string text;
  // For standard output: what makes an `eval` of it fail as well (shell_lines.h).
  std::string for_shell;
};

}  // namespace redlock::coordinator
