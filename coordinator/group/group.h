// Redlock over N nodes: many locks at once on one set of links, without sockets and clocks.
//
//   Group group(options, values, seed);
//   group.start(now);
//   group.acquire({.name = "printer", .ttl = 30s}, now, [](AcquireResult result) { … });
//
// It owns the links' state (Link) and the state machines of every operation under way. Whoever
// drives it (group_sockets.h over sockets, a simulator over nothing) hands in what happened on the
// connections and the time, and after each event asks the links what to dial, write and hang up.
// So the simulator runs this very code.
//
// Callbacks are called from inside on_bytes, on_end and on_time, never from inside the call that
// began the operation; they may begin and cancel operations.
//
// An operation costs one record and a few words on each link; what it costs does not depend on how
// many others there are. Times are the holder's: CLOCK_BOOTTIME (rule C3).
#pragma once

#include "coordinator/group/group_parts.h"
#include "coordinator/group/requests.h"
#include "coordinator/group/timing/deadlines.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace redlock::coordinator {

class Operation;

class Group {
 public:
  using Options = GroupOptions;
  using Node = GroupOptions::Node;
  using ValueSource = GroupParts::ValueSource;

  // REQUIRES: 1 to kNodesMax nodes.
  Group(Options options, ValueSource values, std::uint64_t seed);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Begins to dial all nodes.
  void start(Instant now);

  // Calls back when the links are made as far as they will be: all of them, or a quorum and a short
  // grace, or when the node timeout has passed. Operations need not wait for that: their requests
  // wait in the links. But the first operation of a process reaches more nodes after it.
  OperationId when_ready(Instant now, std::function<void()> done);

  OperationId acquire(AcquireRequest request, Instant now, std::function<void(AcquireResult)> done);
  // The extension leaves `lock` as it was: the result has the new end of validity.
  OperationId extend(const HeldLock& lock, Instant now, std::function<void(ExtendResult)> done);
  // Another deadline for whoever holds exactly this value.
  OperationId extend(ExtendRequest request, Instant now, std::function<void(ExtendResult)> done);
  // The release goes on in the background at the nodes that did not answer: releases_pending().
  OperationId release(const HeldLock& lock, Instant now, std::function<void(ReleaseResult)> done);
  // The same for a lock that nobody was told of. A node where somebody has extended it since, and
  // was told so, keeps it (rule D5); a plain Redis cannot know.
  void undo(const HeldLock& lock, Instant now);
  // Whatever nodes still have of a lock that is released: every value that begins with the lock's,
  // also one that a node gets by what is on its way to it (rule D9).
  void release_prefix(const HeldLock& lock, Instant now);
  OperationId read(ReadRequest request, Instant now, std::function<void(ReadResult)> done);
  // What nodes are shown of whoever begins to wait now; nullopt: nothing.
  std::optional<WaitTicket> new_ticket() const {
    return parts_.tickets ? parts_.tickets() : std::nullopt;
  }
  OperationId wait_for_free(const WaitRequest& request, Instant now,
                            std::function<void(WaitResult)> done);
  // Whoever has it has tried, or does not want to any more.
  void leave_place(const std::string& name, WaitPlace place, Instant now);
  // Asks every node these questions (a name for those about a lock) and waits for all,
  // at most for the node timeout.
  OperationId survey(std::span<const RequestKind> questions, std::string name, Instant now,
                     std::function<void(std::vector<NodeFinding>)> done);
  // What the nodes hold under every name that matches the glob-style pattern. Waits for all walks,
  // at most for the node timeout between two answers of a node.
  OperationId list(std::string pattern, Instant now, std::function<void(ListResult)> done);
  // Admits every unfenced node (rule F6), by the floor that is read, or by an operator's word.
  // Looks at all nodes, waits for each at most for the node timeout, and longer for floors. The
  // group begins an admission by the floor itself, in the background, when it meets such a node.
  OperationId admit(OperatorsFloor by_operator, Instant now, std::function<void(AdmitResult)> done);
  // Brings the group to its next roster, the one that is wanted or one that others have begun. The
  // group goes by it at the end of the event that the callback comes with.
  OperationId change(const Roster& wanted, Instant now, std::function<void(ChangeResult)> done);
  // The same by an operator's word, where no quorum of the roster will answer again: the nodes take
  // the wanted one over, of whatever later epoch, as they are told it. All of them must.
  OperationId rescue(const Roster& wanted, Instant now, std::function<void(ChangeResult)> done);
  // A group that asks for no votes is refused none, and so hears of no change by itself. Of one
  // that is over another group of the same nodes may tell it, whose roster it goes by from the next
  // on_time on if that is newer; its first one it takes from the nodes that it meets.
  void follow(const ChosenRoster& roster);
  // Or it asks the nodes: one that tells a newer roster is greeted anew.
  void look_for_newer_roster(Instant now);
  // Ends an operation without its callback. An attempt to acquire is undone (a rollback). Harmless
  // when the operation is over already.
  void cancel(OperationId id, Instant now);

  // What happened on node's connection, in the order of it.
  void on_connected(NodeIndex node, Instant now);
  void on_bytes(NodeIndex node, std::string_view bytes, Instant now);
  void on_end(NodeIndex node, std::string_view reason, Instant now);
  void on_time(Instant now);
  // When on_time wants to be called. It may be in the past: at once, then.
  std::optional<Instant> next_deadline() const;

  std::size_t size() const { return parts_.links.size(); }
  // How many operations are under way.
  std::size_t operations() const { return slots_.size() - free_slots_.size(); }
  const Options& options() const { return parts_.options; }
  // What the links lead to, by node. It changes with the group's roster;
  // the count of changes grows.
  const std::vector<Node>& nodes() const { return parts_.rosters.nodes(); }
  std::uint64_t node_changes() const { return parts_.rosters.changes(); }
  const ChosenRoster& roster() const { return *parts_.rosters.chosen(); }
  // Why no node is asked for its vote (rule G1), or empty.
  const std::string& votes_refused() const { return parts_.rosters.refusal(); }
  const GroupFigures& figures() const { return parts_.figures; }
  // Of the links, too.
  void forget_figures();
  Link& link(NodeIndex node) { return parts_.links[node]; }
  const Link& link(NodeIndex node) const { return parts_.links[node]; }
  // How many lead to a node that is known, and answers.
  std::size_t ready_links() const { return parts_.ready_links(); }
  // Undos and releases that have not been answered, over all nodes.
  std::size_t releases_pending() const;
  // The same without those at nodes that are not connected: nothing can be done for them now.
  std::size_t releases_under_way() const;

 private:
  struct Slot {
    std::uint32_t generation = 0;
    std::unique_ptr<Operation> operation;
  };
  OperationId begin(std::unique_ptr<Operation> operation, Instant now);
  Operation* find(OperationId id);
  void want_call(Operation& operation, Instant when);
  void identify(NodeIndex node, Instant now);
  void identify_all(Instant now);
  bool meet_member(NodeIndex node, Instant now);
  bool has_said_nothing() const;
  void begin_with_roster(Instant now);
  void adopt_roster(Instant now);
  RosterChange::Plan plan_of_change(Roster wanted);
  OperationId begin_change(std::function<RosterChange::Plan()> plan, Instant now,
                           std::function<void(ChangeResult)> done);
  void look_after_roster(Instant now);
  void look_again(Instant now);
  void schedule_roster_work(Duration least, Instant now);
  void admit_unfenced(Instant now);
  void admission_ended(const Admission& admission, Instant now);
  bool lead_elsewhere(NodeIndex node, Instant now);
  void hasten(NodeIndex node, Instant now);
  void link_changed(NodeIndex node, Instant now);
  void deliver(Instant now);
  void deliver_to_asker(NodeIndex node, Completion&& completion, Instant now);
  void deliver_late(NodeIndex node, const Completion& completion, Instant now);
  void after_event(Operation& operation);
  void run_deadlines(Instant now);
  void carry_out_waits(Instant now);
  // It is out of the books, and its slot free.
  std::unique_ptr<Operation> remove(OperationId id);

  GroupParts parts_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  Deadlines deadlines_;
  std::vector<OperationId> readiness_;  // the few that wait until the links have led somewhere
  std::vector<Completion> completions_;
  std::optional<ChosenRoster> newer_roster_;  // to be taken over at the end of the event
  std::optional<Instant> roster_work_at_;     // kNever: it is under way
  std::optional<Instant> look_again_at_;      // the list was refused
  std::size_t looks_again_ = 0;
};

}  // namespace redlock::coordinator
