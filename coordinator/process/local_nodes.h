// LocalNodes: N lock nodes as processes on this machine, for development: `redlock up`.
//
// Node P lives in FOLDER/node-P and logs to FOLDER/node-P/node.log. The folder stays between runs,
// so a next start in it is a real restart: after a clean stop the locks are there again, after a
// kill the nodes wait out what they may have granted, and both can be watched. The default is
// redlock-up in the current directory: with the project that is being worked on, easy to see, and
// removed by rm -r.
//
// start() first looks for everything that can be wrong (program, ports, folders) and starts nothing
// if something is. A group that is wholly new is bootstrapped (rule R1): whoever makes the folders
// of all nodes knows that no lock is live. A node whose folder is missing in a group that exists is
// a replaced one; it is started without, waits, and is admitted by whoever meets it (rule F6).
// notes() tells of both: in a new group tokens begin anew, which surprises whoever lost the folder.
//
// The nodes have process groups of their own, so that Ctrl-C reaches us alone and we stop them; if
// we die they get SIGTERM from the kernel.
//
// Thread safety: none; all on the loop's thread, which must be the process's main thread.
#pragma once

#include "base/net/turn/loop.h"
#include "base/net/turn/timer.h"
#include "base/time.h"
#include "coordinator/process/local_node.h"
#include <redlock/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::coordinator {

struct LocalNodesSettings {
  int count = 5;
  std::uint16_t first_port = 7001;  // node i listens on first_port + i
  std::string folder = "redlock-up";
  std::string node_program;               // empty: find_node_program()
  std::vector<std::string> node_options;  // further options for every node: "--max-ttl", "10s"
  Duration ready_within = 10s;            // each node, to its first answer
  Duration killed_after = 10s;            // a node that does not stop
};

class LocalNodes {
 public:
  // No call comes from inside start() or stop().
  class User {
   public:
    virtual ~User() = default;
    // Every node has answered INFO. Once.
    virtual void on_ready() = 0;
    // A node ended without being told to, or does not become ready. The others go on: it is for the
    // user to call stop(). Must not destroy the group.
    virtual void on_node_failed(const NodeFailure& failure) = 0;
    // After stop(): no process is left. `unclean` has a sentence for each node that had to be
    // killed or did not exit with 0. May destroy the group.
    virtual void on_stopped(const std::vector<std::string>& unclean) = 0;
  };

  LocalNodes(net::Loop& loop, LocalNodesSettings settings, User& user);
  // Kills what still runs: call stop() and wait for on_stopped, if the nodes are to stop cleanly.
  ~LocalNodes() = default;
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  // Once. If it fails nothing was started, and no folder of a node was made.
  Status start();
  void stop();

  // For REDLOCK_NODES: "redis://127.0.0.1:7001,redis://127.0.0.1:7002,…".
  std::string addresses() const;
  // After start(): what its user should know, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::unique_ptr<LocalNode>>& nodes() const { return nodes_; }

 private:
  Status check_settings() const;
  Status check_ports();
  void make_nodes(const std::string& program);
  Status make_folders();
  void note_new_nodes(const std::vector<std::string>& names);
  void remove_made_folders();
  void look();
  void settle_soon();
  bool all_are(LocalNode::State state) const;
  bool any_runs() const;

  net::Loop& loop_;
  LocalNodesSettings settings_;
  User& user_;
  net::Timer settle_;
  std::vector<std::unique_ptr<LocalNode>> nodes_;
  std::vector<std::string> made_folders_;  // by this start, and not yet served from
  std::vector<std::string> notes_;
  bool ready_told_ = false;
  bool stopping_ = false;
  bool stop_told_ = false;
};

// As a shell finds it: a name with a '/' is a path, others are looked for in PATH. Absolute.
Result<std::string> find_program(const std::string& name);

// redlock-node beside the program that runs, else in PATH; the error says what to do.
Result<std::string> find_node_program();

}  // namespace redlock::coordinator
