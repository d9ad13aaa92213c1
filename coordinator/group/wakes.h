// Wakes: which operations wait for which lock, and what the nodes have promised to tell of it (rule
// Q7). The bookkeeping alone: what is to be sent comes out as orders, who has to look again as a
// list.
//
// For each name that somebody waits for there is one line of waiters, and one wake at each node,
// however many wait:
//
//   idle --order--> asked --OK--> armed --push 1--> free        a link that breaks: idle again
//     ^               | error       | push 0, or its deadline
//     '--- after a while, refused   '--> idle
//
// None is lost. A wake is armed when an attempt has failed, behind its undo on the same link, and
// that is as good as before the attempt: a node looks at the key when it is armed, and tells at
// once if it is free. So whatever ended between the node's answer to the attempt and the arming is
// told, and whatever ends later is told because it is armed. A node that was armed before and has
// not told yet still will: it need not be armed again. What nodes told before or during an attempt
// is forgotten with it, and they are armed anew.
//
// Nobody polls while it is of no use: with N nodes, an attempt cannot succeed while N - quorum + 1
// of them are armed, for these hold the lock. When a quorum said that it is free, the first of the
// line tries; the others wait for what becomes of it. In between, when nodes are missing that could
// make a quorum with those that are free, everybody polls as with plain Redis.
//
// Thread safety: none. Invariant: a line has waiters; its number and its name find it.
#pragma once

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
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// A LOCK.WAIT lasts so long at most, then it is armed anew: a node that forgot it, or hangs without
// its connection breaking, costs its waiters no more. As long as a link may be silent.
inline constexpr Duration kWakeMax = 10s;
// A node that refused to be armed, or did not answer, is asked again after it.
inline constexpr Duration kRearmDelay = 1s;

class Wakes {
 public:
  // An operation's place in the line for its lock; 0: none.
  using Place = std::uint64_t;

  // LOCK.WAIT to be sent; its answer comes with `number`. Timeout 0: a cancel, whose answer nobody
  // needs.
  struct Order {
    NodeIndex node;
    WaitNumber number;
    SharedClaim claim;
    Duration timeout;
  };

  Wakes(std::size_t nodes, Duration node_timeout);

  // --- Operations. `until`: when its caller's wait is over.
  // An attempt failed and the caller waits on: at the end of the line, or where it stood before.
  Place wait(const std::string& name, Place place, OperationId operation, Instant until,
             Instant now);
  // It begins an attempt, keeping its place. wait() or leave() follows.
  void attempt(const std::string& name, Place place);
  // It has the lock, or does not want it any more.
  void leave(const std::string& name, Place place, Instant now);
  // A quorum says that it is free, and this is the first who may try.
  bool is_turn(const std::string& name, Place place) const;
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

  // --- What came of it, since the last look.
  std::vector<Order> take_orders() { return std::exchange(orders_, {}); }
  // Operations that have their turn now, or for which is_covered() has changed.
  std::vector<OperationId> take_stirred() { return std::exchange(stirred_, {}); }
  bool has_news() const { return !orders_.empty() || !stirred_.empty(); }

  // How many waiters were looked at up to now, beside the one that an operation or a turn is about:
  // the measure of what a long line costs. It grows when is_covered() changes for all alone.
  std::uint64_t waiters_seen() const { return waiters_seen_; }

 private:
  struct Mark {
    enum class State : std::uint8_t { idle, asked, armed, free, refused };
    State state = State::idle;
    bool doubtful = false;     // it refused the last time
    Instant until = kNever;    // asked, armed, refused: how long that lasts
    Instant told_by = kNever;  // asked, armed: when the node has to have told
  };
  struct Waiter {
    OperationId operation;
    Instant until;
    bool is_attempting = false;
  };
  struct Line {
    SharedClaim claim;  // the name
    WaitNumber number;
    std::vector<Mark> marks = {};  // by node
    std::map<Place, Waiter> waiters = {};
    std::multiset<Instant> untils = {};  // of the waiters: the last is the most patient's
    std::size_t attempting = 0;
    bool covered = false;
    Place turn = 0;             // who was told
    Instant check_at = kNever;  // no mark's `until` comes before it
  };
  struct Deadline {
    Instant when;
    WaitNumber number;
    friend auto operator<=>(const Deadline& a, const Deadline& b) = default;
  };

  Line& line_of(const std::string& name);
  const Line* find(const std::string& name) const;
  void set(Line& line, NodeIndex node, Mark::State state, Instant until);
  void check(Line& line, Instant when);
  void time_out(Line& line, NodeIndex node, Instant now);
  void end_attempt(Line& line, Waiter& waiter);
  void arm_idle(Line& line, Instant now);
  void cancel_armed(Line& line);
  void look(Line& line);
  bool computes_covered(const Line& line) const;
  static std::size_t count(const Line& line, Mark::State state);

  const std::size_t nodes_;
  const Duration node_timeout_;
  NodeSet can_push_;
  std::unordered_map<std::string, Line> lines_;
  std::unordered_map<WaitNumber, Line*> by_number_;
  // When to look at a line's marks. Entries that an earlier one replaced, and those of lines that
  // are gone, stay until their time comes; there are few, however often the marks change.
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::uint64_t lines_made_ = 0;
  std::uint64_t waiters_seen_ = 0;
  Place last_place_ = 0;
  std::vector<Order> orders_;
  std::vector<OperationId> stirred_;
};

}  // namespace redlock::coordinator
