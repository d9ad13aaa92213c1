// The operations under way in a Group: each drives one state machine. Internal to group.cpp and
// operation.cpp.
//
// An operation's id names its slot, the slot's generation and the attempt, so that an answer to an
// earlier attempt, or to an operation that is over, finds nobody.
#pragma once

#include "coordinator/group.h"
#include "coordinator/next_attempt.h"

#include <utility>

namespace redlock::coordinator {

inline constexpr unsigned kAttemptBits = 12;
inline constexpr unsigned kSlotBits = 20;

class Group::Operation {
 public:
  explicit Operation(Group& group) : group_(group), tickets_(group.size(), Pipeline::kRefused) {}
  virtual ~Operation() = default;

  virtual void start(Instant now) = 0;
  virtual void on_answer(NodeIndex node, Completion completion, Instant now) = 0;
  virtual void on_time(Instant now) = 0;
  virtual void on_link_changed(Instant) {}
  virtual void on_wake(Instant) {}  // the wakes have news for it
  virtual void cancel(Instant) {}
  virtual std::optional<Instant> next_deadline() const = 0;
  virtual bool finished() const = 0;
  // Once, when finished and already out of the group's books.
  virtual void tell() = 0;

  OperationId id() const { return id_; }
  void set_id(OperationId id) { id_ = id; }
  // The earliest entry of this operation in the group's queue of deadlines.
  std::optional<Instant> scheduled;

 protected:
  // A new attempt: what the earlier one asked is not listened to any more.
  void next_attempt() {
    constexpr OperationId kAttempts = (OperationId(1) << kAttemptBits) - 1;
    id_ = (id_ & ~kAttempts) | ((id_ + 1) & kAttempts);
  }
  // Carries out what a machine wants, in order; `request` is what it asks.
  void perform(const Actions& actions, const NodeRequest& request, Instant now);
  // Sends a request to a node and remembers its ticket.
  void ask(NodeIndex node, NodeRequest request, Instant now);
  void note_never_sent(NodeIndex node) { asked_.reset(node); }
  NodeSet asked() const { return asked_; }

  Group& group() { return group_; }
  const Group& group() const { return group_; }
  Terms terms(Duration ttl) const { return group_.terms(ttl); }
  Random& random() { return group_.random_; }
  Wakes& wakes() { return group_.wakes_; }
  std::string new_value() { return group_.values_(); }
  const NodeSet& settled() const { return group_.settled_; }

  Actions actions_;  // kept for its memory

 private:
  void withdraw(NodeIndex node);
  void undo(NodeIndex node, const NodeRequest& request, Instant now);

  Group& group_;
  OperationId id_ = kNobody;
  std::vector<Pipeline::Ticket> tickets_;
  NodeSet asked_;  // the nodes that a request may have reached
};

class Group::AcquireOperation : public Operation {
 public:
  using Done = std::function<void(AcquireResult)>;
  AcquireOperation(Group& owner, AcquireRequest wanted, Instant now, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion completion, Instant now) override;
  void on_time(Instant now) override;
  void on_wake(Instant now) override { next_.look(now, random()); }
  void cancel(Instant now) override;
  std::optional<Instant> next_deadline() const override;
  bool finished() const override { return gave_up_ || is_acquired(); }
  void tell() override;

 private:
  bool is_acquired() const;
  NodeRequest request() const;
  void after_machine(Instant now);

  AcquireRequest wanted_;
  NextAttempt next_;
  Done done_;
  SharedClaim claim_;
  std::optional<Acquisition> attempt_;
  bool gave_up_ = false;
};

class Group::ExtendOperation : public Operation {
 public:
  using Done = std::function<void(ExtendResult)>;
  ExtendOperation(Group& owner, const HeldLock& lock, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion completion, Instant now) override;
  void on_time(Instant now) override;
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  NodeRequest request() const;

  HeldLock lock_;
  Extension machine_;
  Done done_;
};

class Group::ReleaseOperation : public Operation {
 public:
  using Done = std::function<void(ReleaseResult)>;
  ReleaseOperation(Group& owner, const HeldLock& lock, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion completion, Instant now) override;
  void on_time(Instant now) override { machine_.on_time(now); }
  std::optional<Instant> next_deadline() const override { return machine_.next_deadline(); }
  bool finished() const override { return machine_.finished(); }
  void tell() override;

 private:
  HeldLock lock_;
  Release machine_;
  Done done_;
};

class Group::SurveyOperation : public Operation {
 public:
  using Done = std::function<void(std::vector<Finding>)>;
  SurveyOperation(Group& owner, std::vector<RequestKind> questions, std::string name, Done done);

  void start(Instant now) override;
  void on_answer(NodeIndex node, Completion completion, Instant now) override;
  void on_time(Instant now) override;
  std::optional<Instant> next_deadline() const override { return ballot_.deadline(); }
  bool finished() const override { return ballot_.votes().outstanding() == 0; }
  void tell() override;

 private:
  std::vector<RequestKind> questions_;
  SharedClaim claim_;
  Ballot ballot_;
  std::vector<std::vector<protocol::Reply>> replies_;
  Done done_;
};

class Group::ReadyOperation : public Operation {
 public:
  ReadyOperation(Group& owner, std::function<void()> done);

  void start(Instant now) override;
  void on_answer(NodeIndex, Completion, Instant) override {}
  void on_time(Instant now) override;
  void on_link_changed(Instant now) override;
  std::optional<Instant> next_deadline() const override { return deadline_; }
  bool finished() const override { return ready_; }
  void tell() override { done_(); }

 private:
  std::function<void()> done_;
  Instant start_;
  Instant deadline_ = kNever;
  bool has_quorum_ = false;
  bool ready_ = false;
};

}  // namespace redlock::coordinator
