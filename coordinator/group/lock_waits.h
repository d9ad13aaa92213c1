// LockWaits: which operations wait for which lock, and what the nodes have promised to tell of it
// (rule Q7). This is the bookkeeping alone: what is to be sent comes out as orders, and who has to
// look again as a list. A wake is a notification that a node owes for a LOCK.WAIT.
//
// For each name that somebody waits for there is one queue of waiters, and one wake at each node,
// however many wait:
//
//   idle --order--> asked --OK--> armed --push 1--> free        a link that breaks: idle again
//     ^               | error       | push 0, or its deadline
//     '--- after a while, refused   '--> idle
//
// No wake is lost. A wake is armed when an attempt has failed, behind the attempt's undo on the
// same link. That is as good as before the attempt: a node looks at the key when the wake is armed,
// and tells if the key is free. So whatever ended between the node's answer to the attempt and the
// arming is told, and whatever ends later is told because the wake is armed. A node that was armed
// before and has not told yet still will: that wake need not be armed again. What nodes told before
// or during an attempt is forgotten with the attempt, and they are armed anew.
//
// A node tells the coordinator whose ticket is the smallest, and the next only after a while. So
// the queue shows each node the ticket of its first. When is it this queue's turn?
//
//   - When a quorum says that the key is free, at once; whoever denied what.
//   - When one of the nodes that denied the last attempt says so, and the others have said nothing
//     for a moment (kWakeWindow). N - quorum + 1 denied it: no attempt can succeed before one of
//     these has freed the key, and the first that did has called nobody else. The moment is for a
//     release that is on its way to the others, and for locks that end one after the other: who
//     tried at the first word would find the rest still held, and have it all to undo. What nodes
//     say that denied nothing is no news: they were free all the time.
//
// So the nodes need not agree on who is first, and one that lost its memory denied nothing.
// Then the first of the queue tries; the others wait for what becomes of that attempt. Where
// somebody else makes it, the operation is over and its place stands on, as attempting (WaitPlace).
//
// A node of an earlier version knows no tickets: it tells everybody at once, and refuses the words.
// It is asked without, and what it says counts in the quorum alone.
//
// Nobody polls while it is of no use: with N nodes, an attempt cannot succeed while N - quorum + 1
// of them are armed, for these hold the lock, or are about to tell. In between, when nodes are
// missing that could make a quorum with those that are free, everybody polls as with plain Redis.
//
// Thread safety: none. Invariant: a queue has waiters; its number and its name find it.
#pragma once

#include "base/wait_ticket.h"
#include "coordinator/link/node_request.h"
#include "coordinator/quorum/quorum.h"
#include "protocol/resp/reply.h"

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// A LOCK.WAIT lasts so long at most, then it is armed anew: a node that forgot it, or hangs without
// its connection breaking, costs its waiters no more. As long as a link may be silent.
inline constexpr Duration kWakeMax = 10s;
// A node that refused to be armed, or did not answer, is asked again after it.
inline constexpr Duration kRearmDelay = 1s;

// What an attempt that failed leaves behind.
struct FailedAttempt {
  NodeSet denied = {};                   // the nodes at which it found the lock held
  std::optional<WaitTicket> shown = {};  // of who made it; nullopt: nodes go by when it comes
};

class LockWaits {
 public:
  // An operation's place in the queue for its lock; 0: none. Not to be mixed up with the ticket
  // that nodes are shown.
  using Ticket = std::uint64_t;

  // LOCK.WAIT to be sent; its answer comes with `number`. Timeout 0: a cancel,
  // whose answer nobody needs.
  struct Order {
    NodeIndex node;
    WaitNumber number;
    SharedClaim claim;
    Duration timeout;
    std::optional<WaitTicket> ticket = {};
  };

  LockWaits(std::size_t nodes, Duration node_timeout);

  // --- Operations. `until`: when its caller's wait is over.
  // An attempt failed and the caller waits on: at the end of the queue, or where it stood before.
  Ticket wait(const std::string& name, Ticket ticket, OperationId operation, Instant until,
              Instant now, const FailedAttempt& attempt = {});
  // The same for one that made no attempt, behind those that wait.
  // REQUIRES: has_waiters(name).
  Ticket stand_behind(const std::string& name, OperationId operation, Instant until,
                      std::optional<WaitTicket> shown, Instant now);
  // It begins an attempt, keeping its place. wait() or leave() follows.
  void attempt(const std::string& name, Ticket ticket);
  // It has the lock, which these nodes granted; or does not want it any more: none.
  void leave(const std::string& name, Ticket ticket, Instant now, NodeSet granted = {});
  bool has_waiters(const std::string& name) const { return find(name) != nullptr; }
  // The lock seems to be free, and this is the first who may try.
  bool is_turn(const std::string& name, Ticket ticket) const;
  // Those that say so have told nobody else.
  bool is_called_alone(const std::string& name) const;
  // Nobody has to poll: a wake will come, or has come.
  bool is_covered(const std::string& name) const;

  // --- Nodes.
  // The link was made or broke. can_push: it leads to a redlock-node and is ready.
  void on_link(NodeIndex node, bool can_push, Instant now);
  void on_answer(NodeIndex node, WaitNumber number, const Answer& answer, Instant now);
  // ["lock.free", name, 1 or 0]; anything else is nothing to us.
  void on_push(NodeIndex node, const protocol::Reply& push, Instant now);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;
  // There are so many from now on, and none is linked.
  void change_nodes(std::size_t nodes);

  // --- What came of it, since the last look.
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }
  // Operations that have their turn now, or for which is_covered() has changed.
  std::vector<OperationId> take_changed() { return std::exchange(changed_, {}); }
  bool has_news() const { return !orders_.empty() || !changed_.empty(); }

  // How many waiters were looked at up to now, beside the one that an operation or a turn is about:
  // the measure of what a long queue costs. It grows when is_covered() changes for all alone.
  std::uint64_t waiters_seen() const { return waiters_seen_; }

 private:
  struct NodeWait {
    enum class State : std::uint8_t { idle, asked, armed, free, refused };
    State state = State::idle;
    bool doubtful = false;     // it refused the last time
    bool in_line = false;      // asked, armed, free: by a ticket
    Instant until = kNever;    // asked, armed, refused: how long that lasts
    Instant told_by = kNever;  // asked, armed: when the node has to have told
  };
  struct Waiter {
    OperationId operation;
    Instant until;
    std::optional<WaitTicket> shown;
    bool is_attempting = false;
  };
  struct Queue {
    SharedClaim claim;  // the name
    WaitNumber number;
    std::vector<NodeWait> node_waits = {};  // by node
    std::map<Ticket, Waiter> waiters = {};
    std::multiset<Instant> untils = {};  // of the waiters: the last is the most patient's
    std::size_t attempting = 0;
    NodeSet denied = {};  // the last attempt, or hold the lock since the last that succeeded
    bool covered = false;
    Ticket turn = 0;            // who was told
    Instant check_at = kNever;  // no node_wait's `until` comes before it
  };
  struct Deadline {
    Instant when;
    WaitNumber number;
    friend auto operator<=>(const Deadline& a, const Deadline& b) = default;
  };

  Ticket stand(Queue& queue, Ticket ticket, OperationId operation, Instant until,
               std::optional<WaitTicket> shown);
  Queue& queue_of(const std::string& name);
  const Queue* find(const std::string& name) const;
  void set(Queue& queue, NodeIndex node, NodeWait::State state, Instant until);
  void check(Queue& queue, Instant when);
  void time_out(Queue& queue, NodeIndex node, Instant now);
  void end_attempt(Queue& queue, Waiter& waiter);
  void arm_idle(Queue& queue, Instant now);
  void cancel_armed(Queue& queue, bool has_taken);
  void look(Queue& queue);
  bool computes_covered(const Queue& queue) const;
  bool is_free(const Queue& queue) const;
  static bool is_called(const Queue& queue, bool a_while_ago);
  static std::size_t count(const Queue& queue, NodeWait::State state);

  std::size_t nodes_;
  const Duration node_timeout_;
  NodeSet can_push_;
  NodeSet without_tickets_;  // of an earlier version
  std::unordered_map<std::string, Queue> queues_;
  std::unordered_map<WaitNumber, Queue*> by_number_;
  // When to look at a queue's node_waits. Entries that an earlier one replaced, and those of lines
  // that are gone, stay until their time comes; there are few, however often the node_waits change.
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::uint64_t queues_made_ = 0;
  std::uint64_t waiters_seen_ = 0;
  Ticket last_ticket_ = 0;
  std::vector<Order> orders_;
  std::vector<OperationId> changed_;
};

}  // namespace redlock::coordinator
