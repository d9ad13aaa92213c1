// Redlock over real nodes, on an event loop: a Group with sockets and a clock.
//
//   net::Loop loop;
//   LockClient client(loop, {.nodes = nodes});
//   client.acquire({.name = "printer", .ttl = 30s}, [&](AcquireResult result) { … });
//   loop.run();
//
// Asynchronous: calls return at once, callbacks come on the loop. Any number of locks at once on
// one connection per node; what a turn of the loop brings together is written once per node, and
// what an operation alone has to say at once.
//
// Thread safety: none, as Loop. A client must not be destroyed inside one of its callbacks. Its
// open connections keep the loop running.
#pragma once

#include "base/net/turn/before_wait.h"
#include "base/net/turn/clock.h"
#include "base/net/turn/timer.h"
#include "coordinator/client/link_socket.h"
#include "coordinator/client/node_address.h"
#include "coordinator/group/group.h"
#include "coordinator/group/suspend_watch.h"

#include <memory>
#include <span>
#include <vector>

namespace redlock::coordinator {

class LockClient : private NodeLink::User {
 public:
  struct Options {
    std::vector<NodeAddress> nodes;
    Duration node_timeout = 500ms;
    double clock_drift = 0.01;
    bool hear_everyone = false;  // errors tell of every node; for people
    bool admit_unfenced = true;
  };

  // Begins to dial. REQUIRES: 1 to kNodesMax nodes.
  LockClient(net::Loop& loop, Options options);
  // The same, with what its timer takes of the system: of this loop, and of a holder's clock.
  LockClient(net::Loop& loop, std::unique_ptr<net::TimerDescriptor> timer, Options options);

  // As Group's, which tells what they do; the time is read here.
  OperationId when_ready(std::function<void()> done);
  OperationId acquire(AcquireRequest request, std::function<void(AcquireResult)> done);
  OperationId extend(const HeldLock& lock, std::function<void(ExtendResult)> done);
  OperationId release(const HeldLock& lock, std::function<void(ReleaseResult)> done);
  OperationId survey(std::span<const RequestKind> questions, std::string name,
                     std::function<void(std::vector<NodeFinding>)> done);
  OperationId admit(OperatorsFloor by_operator, std::function<void(AdmitResult)> done);
  void cancel(OperationId operation) { group_.cancel(operation, now()); }

  const Group& group() const { return group_; }

  // Does now what is done at the end of each turn: writes what is to be written.
  void flush();

  // A holder's clock (rule C3): what valid_until is counted on.
  static Instant now() { return net::read_clock(net::ClockKind::boottime); }

 private:
  void on_connected(NodeIndex node) override { group_.on_connected(node, now()); }
  void on_bytes(NodeIndex node, std::string_view bytes) override;
  void on_end(NodeIndex node, std::string_view reason) override {
    group_.on_end(node, reason, now());
  }
  void write_out();

  Group group_;
  std::vector<std::unique_ptr<NodeLink>> links_;
  net::Timer timer_;
  net::BeforeWait turn_;
};

// A new value for an attempt: 18 random bytes of the system's generator as 24 characters that need
// no quotes anywhere (rule Q6).
std::string new_lock_value();

// Both of a holder's clocks, close enough together for a SuspendWatch.
ClockReading read_holder_clocks();

}  // namespace redlock::coordinator
