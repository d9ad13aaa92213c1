// EmbeddedNode: a lock node inside this process, on a thread of its own: for tests, for appliances,
// for a program that wants no second one beside it.
//
//   auto node = redlock::EmbeddedNode::start({.settings = {{"max-ttl", "10s"}}});
//   connect(node.value().address());   // redis://127.0.0.1:40123
//
// It is the node that redlock-node runs, with the same settings, the same ledger and the same
// restart delay: a folder that redlock-node left can be opened here, and the other way round. Any
// number of them in one process do not disturb each other.
//
// What it takes of the process: a thread, some ten descriptors, and the real-time signal
// SIGRTMIN + 7, which interrupts scripts that run too long and is delivered to the nodes' threads
// alone. They handle no other signal, and no signal stops a node: that is the caller's. A child
// made by fork() has no node, but holds its sockets and its folder until it executes another
// program or ends.
//
// Nothing here throws, but for std::bad_alloc. Thread safety: one thread at a time may use an
// object; different objects are independent. The node itself serves its clients on its own thread.
#pragma once

#include <redlock/result.h>
#include <redlock/visibility.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

struct EmbeddedNodeOptions {
  // Where it listens for TCP: a numeric address. port 0: one that is free.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  // An absolute path: it listens there, and not for TCP.
  std::string unix_socket = {};
  // Where the ledger and the snapshot are kept; made if missing. Empty: nowhere. Then nothing
  // outlives the node, and each start counts as a new installation in which no lock can be live:
  // for tests.
  std::string folder = {};
  // With a folder: make the ledger of a new node if there is none, as redlock-node --bootstrap
  // does, and grant at once. The caller vouches that no lock of this node can be live; so leave it
  // out where a folder may have been lost, and the node waits.
  // A ledger that is there stays in force.
  bool bootstrap = false;
  // As in redlock-node.conf, by name and value: {"max-ttl", "10s"}. Refused are those that the
  // other members say (port, bind, unixsocket, dir, logfile) and those about a process of its own
  // (pidfile, supervised).
  std::vector<std::pair<std::string, std::string>> settings = {};
  // Each line of its log, without the line's end. Called on the node's thread, also within start()
  // and stop(): it must not block, throw, or use the node.
  std::function<void(std::string_view)> log = {};
};

class REDLOCK_PUBLIC EmbeddedNode {
 public:
  // Blocks until it listens and its run is durable: some milliseconds. It may be recovering then,
  // and grant nothing yet. Fails if a setting is wrong, the address is in use, the folder cannot be
  // used or is another node's, or the process has no thread or descriptor left.
  static Result<EmbeddedNode> start(EmbeddedNodeOptions options);

  // One that was moved from can be assigned to and destroyed, no more.
  EmbeddedNode(EmbeddedNode&&) noexcept;
  EmbeddedNode& operator=(EmbeddedNode&&) noexcept;
  // As stop(), where a failure goes to the log alone.
  ~EmbeddedNode();

  // The port it listens at; 0 with a unix socket.
  std::uint16_t port() const;
  // For redis-cli -u, for ClientOptions::nodes: "redis://127.0.0.1:40123", "unix:///path".
  std::string address() const;

  // Stops cleanly, as SIGTERM stops redlock-node: connections end, locks go to the snapshot. Blocks
  // for some milliseconds; until a script that runs is suspended (busy-reply-threshold). Fails if
  // the snapshot could not be written: the next start then waits. When it has stopped already it
  // does nothing, and says how that stop went.
  Status stop();
  // Stops as a crash would: no snapshot, no word to anybody. Blocks as stop() does. Harmless when
  // it has stopped already.
  void crash();
  // False once it has stopped, by whatever means (SHUTDOWN from a client is one).
  bool running() const;

 private:
  class Thread;
  explicit EmbeddedNode(std::unique_ptr<Thread> thread);

  std::unique_ptr<Thread> thread_;
};

}  // namespace redlock
