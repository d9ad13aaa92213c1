// EmbeddedNode: a lock node inside this process, on a thread of its own: for tests, for appliances,
// for a program that wants no second one beside it.
//
//   auto node = redlock::EmbeddedNode::start({.settings = {{"max-ttl", "10s"}}});
//   connect(node.value().address());   // redis://127.0.0.1:40123
//
// It is the node that redlock-node runs, with the same settings, the same ledger and the same
// restart delay: a folder that redlock-node left can be opened here, and the other way round. Any
// number of them in one process do not disturb each other. It installs no handler for the signals
// that end a process: stopping it is the caller's.
//
// Nothing here throws, but for std::bad_alloc. Thread safety: one thread at a time may use an
// object; different objects are independent. The node itself serves its clients on its own thread.
#pragma once

#include <redlock/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

struct EmbeddedNodeOptions {
  // Where it listens for TCP. port 0: one that is free.
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  // A path: it listens there, and not for TCP.
  std::string unix_socket = {};
  // Where the ledger and the snapshot are kept; made if missing. Empty: nowhere. Then nothing
  // outlives the node, and each start counts as a new installation in which no lock can be live:
  // for tests.
  std::string folder = {};
  // With a folder: make the ledger of a new node if there is none, as redlock-node --bootstrap
  // does. The caller vouches that no lock of this node can be live.
  bool bootstrap = false;
  // As in redlock-node.conf, by name and value: {"max-ttl", "10s"}. What the members above say is
  // not repeated here.
  std::vector<std::pair<std::string, std::string>> settings = {};
  // Each line of its log, without the line's end; comes on the node's thread and must not block.
  std::function<void(std::string_view)> log = {};
};

class EmbeddedNode {
 public:
  // Blocks until it listens and its run is durable: some milliseconds. It may be recovering then,
  // and grant nothing yet. Fails if a setting is wrong, the address is in use, or the folder cannot
  // be used or is another node's.
  static Result<EmbeddedNode> start(EmbeddedNodeOptions options);

  EmbeddedNode(EmbeddedNode&&) noexcept;
  EmbeddedNode& operator=(EmbeddedNode&&) noexcept;
  // As stop(), where a failure goes to the log alone.
  ~EmbeddedNode();

  // The port it listens at; 0 with a unix socket.
  std::uint16_t port() const;
  // For redis-cli -u, for ClientOptions::nodes: "redis://127.0.0.1:40123", "unix:///path".
  std::string address() const;

  // Stops cleanly, as SIGTERM stops redlock-node: connections end, locks go to the snapshot. Blocks
  // for some milliseconds. Fails if the snapshot could not be written: the next start then waits.
  // Harmless when it has stopped already.
  Status stop();
  // Stops as a crash would: no snapshot, no word to anybody. Blocks for some milliseconds. Harmless
  // when it has stopped already.
  void crash();
  // False once it has stopped, by whatever means (SHUTDOWN from a client is one).
  bool running() const;

 private:
  class Thread;
  explicit EmbeddedNode(std::unique_ptr<Thread> thread);

  std::unique_ptr<Thread> thread_;
};

}  // namespace redlock
