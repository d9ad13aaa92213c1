// Which unfenced nodes a coordinator admits, and when (rule F6: any coordinator that meets one).
//
// A node tells with its greeting that it is unfenced, and how long it has to wait (rule F7). Then
// it is due, and one admission at a time takes all that are. After one that failed they are tried
// again, later and later: when no quorum is fenced, that is until an operator has helped.
//
// What is known of a node is known of its connection: behind the next one there may be another life
// of it. So a node whose connection ends is forgotten until it greets again.
#pragma once

#include "base/random.h"
#include "coordinator/quorum/admission.h"

#include <optional>
#include <vector>

namespace redlock::coordinator {

class AdmissionSchedule {
 public:
  static constexpr Duration kBackoffMin = 500ms;
  static constexpr Duration kBackoffMax = 30s;

  // `random` outlives it.
  AdmissionSchedule(std::size_t nodes, Random& random) : random_(random), nodes_(nodes) {}

  // The node said so at `now`; 0: it may be admitted at once.
  void on_unfenced(NodeIndex node, Duration admit_in, Instant now);
  void on_connection_ended(NodeIndex node);
  // There are so many from now on, and nothing is known of them.
  void change_nodes(std::size_t nodes) {
    nodes_.assign(nodes, {});
    taken_.reset();
  }

  // An admission of those that are due now, or nobody; one at a time.
  std::optional<AdmissionPlan> begin(Instant now);
  // It has ended. REQUIRES: it is the one that began last.
  void end(const Admission& admission, Instant now);
  // Whether one is under way, or can begin.
  bool is_possible(Instant now) const;
  // When begin() will name somebody.
  std::optional<Instant> next_deadline() const;

 private:
  struct Unfenced {
    Instant due = kNever;   // kNever: it is not known to be unfenced
    bool is_ready = false;  // it said itself, on this connection, that its time is over
    Duration backoff = kBackoffMin;
  };

  void back_off(Unfenced& node, Instant now);

  Random& random_;
  std::vector<Unfenced> nodes_;
  NodeSet taken_;  // by the admission under way, and on the same connection since
  bool under_way_ = false;
};

}  // namespace redlock::coordinator
