#include "coordinator/group/admission_schedule.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::coordinator {

void AdmissionSchedule::on_unfenced(NodeIndex node, Duration admit_in, Instant now) {
  nodes_[node] = {.due = later(now, admit_in), .is_ready = admit_in == 0ns};
  taken_.reset(node);
}

void AdmissionSchedule::on_connection_ended(NodeIndex node) {
  nodes_[node] = {};
  taken_.reset(node);
}

std::optional<AdmissionPlan> AdmissionSchedule::begin(Instant now) {
  if (under_way_) return std::nullopt;
  AdmissionPlan plan{.looked = true};
  for (NodeIndex node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].due > now) continue;
    plan.candidates.set(node);
    plan.looked = plan.looked && nodes_[node].is_ready;
  }
  if (plan.candidates.none()) return std::nullopt;
  taken_ = plan.candidates;
  under_way_ = true;
  return plan;
}

void AdmissionSchedule::end(const Admission& admission, Instant now) {
  using State = Admission::Standing::State;
  INVARIANT(under_way_, "an admission ends that was not begun");
  under_way_ = false;
  for (NodeIndex index = 0; index < nodes_.size(); ++index) {
    Unfenced& node = nodes_[index];
    if (!taken_.test(index)) continue;
    const Admission::Standing& standing = admission.standing(index);
    node.is_ready = standing.state == State::unfenced;
    switch (standing.state) {
      case State::fenced:
      case State::admitted:
        node = {};
        break;
      case State::early:
        on_unfenced(index, standing.admit_in, now);
        break;
      case State::unknown:
      case State::unfenced:
      case State::failed:
        back_off(node, now);
        break;
    }
  }
}

bool AdmissionSchedule::is_possible(Instant now) const {
  const auto is_due = [now](const Unfenced& node) { return node.due <= now; };
  return under_way_ || std::any_of(nodes_.begin(), nodes_.end(), is_due);
}

// Between half and all of it, so that the coordinators of a group do not all come at once.
void AdmissionSchedule::back_off(Unfenced& node, Instant now) {
  const auto half = static_cast<std::uint64_t>(node.backoff.count() / 2);
  node.due = later(now, Duration(half + random_.below(half)));
  node.backoff = std::min(node.backoff * 2, kBackoffMax);
}

std::optional<Instant> AdmissionSchedule::next_deadline() const {
  if (under_way_) return std::nullopt;
  const auto first = std::min_element(
      nodes_.begin(), nodes_.end(),
      [](const Unfenced& one, const Unfenced& other) { return one.due < other.due; });
  if (first->due == kNever) return std::nullopt;
  return first->due;
}

}  // namespace redlock::coordinator
