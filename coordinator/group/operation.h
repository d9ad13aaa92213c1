// The operations under way in a Group: each drives one state machine over what all of them share.
#pragma once

#include "coordinator/group/group_parts.h"
#include "coordinator/group/next_attempt.h"
#include "coordinator/group/requests.h"
#include "coordinator/roster/roster_change.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::coordinator {

class Operation {
 public:
  explicit Operation(GroupParts& group)
      : actions_(group.actions), group_(group), questions_(group.links.size()) {}
  virtual ~Operation() = default;

  virtual void start(Instant now) = 0;
  virtual void on_answer(NodeIndex node, Completion&& completion, Instant now) = 0;
  virtual void on_time(Instant now) = 0;
  virtual void on_link_changed(Instant) {}
  virtual void on_wake(Instant) {}  // the waits have news for it
  // To those in awaiting_admission.
  virtual void on_admission_ended(const Admission&, Instant) {}
  virtual void cancel(Instant) {}
  virtual std::optional<Instant> next_deadline() const = 0;
  virtual bool finished() const = 0;
  // Once, when finished and already out of the group's books.
  virtual void tell() = 0;

  // A change of the group's nodes takes so long at most, or it was begun by somebody who is gone.
  static constexpr Duration kChangeTimeMax = 1s;
  // The group's nodes are about to change: whatever was asked fails.
  virtual void leave_nodes(Instant) {}
  // They are others now: nothing can be withdrawn, and nobody is known at a place.
  virtual void on_nodes_changed(Instant) { questions_.assign(questions_.size(), {}); }

  OperationId id() const { return id_; }
  void set_id(OperationId id) { id_ = id; }
  // The earliest entry of this operation in the group's queue of deadlines.
  std::optional<Instant> scheduled;

 protected:
  // A new attempt: what the earlier one asked is not listened to any more.
  void next_attempt() {
    ++id_.attempt;
    questions_.resize(group_.links.size());
    asked_.reset();
    heard_.reset();
  }
  // Carries out what a machine wants, in order; `request` is what it asks.
  void perform(const Actions& actions, const NodeRequest& request, Instant now);
  // Sends a request to a node and remembers its ticket, and whom the address led to last: nobody
  // else may answer (rule Q5). Where no node was ever met, whoever is there may.
  virtual void ask(NodeIndex node, NodeRequest&& request, Instant now);
  // An answer to the first question to this node has come.
  void note_answer(NodeIndex node, const Answer& answer) {
    heard_.set(node);
    if (answer.never_sent) asked_.reset(node);
    if (answer.is_vote()) questions_[node].whom = answer.from;
  }
  // Who was asked, and once it has voted, who did.
  NodeIdentity whom(NodeIndex node) const { return questions_[node].whom; }
  // The nodes that have not answered the first question, and may have got it.
  NodeSet missing() const { return asked_ & ~heard_; }

  GroupParts& group() { return group_; }
  const GroupParts& group() const { return group_; }

  // If the first question has not been written yet, it will not be.
  void withdraw(NodeIndex node);
  // Withdraws what a node was asked, or releases it there.
  virtual void undo(NodeIndex node, const NodeRequest& request, Instant now);

  // Nodes that go by the next roster refuse votes for this one (rule G1). Whoever asks just then
  // does not fail for that, but waits for the group to change, for kChangeTimeMax.
  bool is_change_under_way(const std::vector<Answer>& answers) const;

  Actions& actions_;  // the group's

 private:
  void confirm(NodeIndex node, const NodeRequest& request, Instant now);

  GroupParts& group_;
  OperationId id_ = kNobody;
  struct Question {
    Link::Ticket ticket = Link::kRefused;
    NodeIdentity whom = NodeIdentity::unknown;
  };
  std::vector<Question> questions_;  // by node
  NodeSet asked_;                    // those that the first question may have reached
  NodeSet heard_;                    // those that answered it
};

class AcquireOperation : public Operation {
 public:
  using Done = std::function<void(AcquireResult)>;
  AcquireOperation(GroupParts& group, AcquireRequest wanted, Instant now, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  void on_wake(Instant now) override { next_.look(now, group().random); }
  void on_admission_ended(const Admission& admission, Instant now) override;
  void cancel(Instant now) override;
  // An attempt under way is undone, and begun anew at the new ones.
  void leave_nodes(Instant now) override;
  void on_nodes_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  bool finished() const override { return (gave_up_ && !stays_until_) || is_acquired(); }
  void tell() override;

 private:
  bool is_acquired() const;
  void make_no_attempt(Instant now);
  NodeSet nodes_that_said(AnswerKind kind) const;
  NodeSet plain_nodes() const;
  bool is_hopeless() const;
  Terms terms() const;
  NodeRequest request() const;
  void after_machine(Instant now);
  void abandon(Instant now);
  void stay_for_admission(Instant now);
  void stay_for_change(Instant now);

  AcquireRequest wanted_;
  NextAttempt next_;
  Done done_;
  SharedClaim claim_;
  SharedWitnesses witnesses_;  // of the attempt
  std::optional<Acquisition> attempt_;
  bool begins_anew_ = false;  // as soon as the nodes have changed
  bool gave_up_ = false;
  // It gave up, and waits once for an admission, which may give it tokens, or for the change of the
  // group's nodes that is under way.
  std::optional<Instant> stays_until_;
  bool has_stayed_ = false;
  bool has_stayed_for_change_ = false;
  Instant began_;  // the attempt
};

class ExtendOperation : public Operation {
 public:
  using Done = std::function<void(ExtendResult)>;
  ExtendOperation(GroupParts& group, const HeldLock& lock, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  void cancel(Instant now) override;
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  NodeRequest request() const;
  void after_machine(Instant now);
  void ask(NodeIndex node, NodeRequest&& request, Instant now) override;
  void undo(NodeIndex node, const NodeRequest& request, Instant now) override;
  void end();

  HeldLock lock_;
  Instant holds_until_;  // a node that extends it now
  Extension machine_;
  Done done_;
};

class ReleaseOperation : public Operation {
 public:
  using Done = std::function<void(ReleaseResult)>;
  ReleaseOperation(GroupParts& group, const HeldLock& lock, ReleaseKind kind, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override { machine_.on_time(now); }
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  SharedClaim claim_;
  Duration ttl_;
  ReleaseKind kind_;
  Release machine_;
  Done done_;
};

class ReadyOperation : public Operation {
 public:
  // While links are made, a short grace lets the slower ones catch up with the quorum: so long, at
  // most, and never longer than the quorum itself took.
  static constexpr Duration kGraceMax = 50ms;

  ReadyOperation(GroupParts& group, std::function<void()> done);

  void start(Instant now) override;
  void on_answer(NodeIndex, Completion&&, Instant) override {}
  void on_time(Instant now) override;
  void on_link_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override { return deadline_; }
  bool finished() const override { return ready_; }
  void tell() override { done_(); }

 private:
  std::function<void()> done_;
  Instant start_;
  Instant deadline_ = kNever;
  bool ready_ = false;
};

// An operator's admission, or one of the group's schedule, in the background.
class AdmitOperation : public Operation {
 public:
  using Done = std::function<void(const Admission& admission, Instant ended)>;
  AdmitOperation(GroupParts& group, const AdmissionPlan& plan, bool is_for_people, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  void after_machine(Instant now);
  void put_question(NodeIndex node, Instant now);
  bool is_same_connection(NodeIndex node) const;

  Admission machine_;
  Done done_;
  std::vector<std::uint64_t> connections_;  // by node: the one that a look was answered on
  Instant ended_;
};

// A change of the group's roster: an operator's, or one that is finished in the background.
// Begins when every link has led somewhere, or nowhere, and after the node timeout at the latest:
// who its nodes are is part of the plan (rule G4), and a node that is met later has no word in it.
class ChangeOperation : public Operation {
 public:
  using Plan = std::function<RosterChange::Plan()>;
  using Done = std::function<void(const RosterChange& change)>;
  ChangeOperation(GroupParts& group, Plan plan, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion&& completion, Instant now) override;
  void on_time(Instant now) override;
  void on_link_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  bool finished() const override { return machine_ && machine_->finished(); }
  void tell() override;

 private:
  void begin(Instant now);
  void after_machine(Instant now);

  Plan plan_;
  Instant begin_by_;
  std::optional<RosterChange> machine_;
  Done done_;
};

}  // namespace redlock::coordinator
