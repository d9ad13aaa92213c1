#include "coordinator/health/counter_report.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

namespace redlock::coordinator {
namespace {

using Side = FarCounter::Side;

constexpr const char* kMend =
    "To mend it: stop the node, delete the ledger in its state folder, start it again; it waits, "
    "and is admitted with the others' counters. One node at a time";
constexpr const char* kMissing =
    "Before it is mended the nodes that are missing or unfenced must be back: look again then";

bool tells_counter(const NodeState& node) {
  return node.counter && node.fenced.value_or(false);
}

// What a quorum has reached: the q-th largest counter of the fenced nodes.
std::optional<std::uint64_t> reached(const std::vector<NodeState>& states) {
  std::vector<std::uint64_t> counters;
  for (const NodeState& node : states) {
    if (tells_counter(node)) counters.push_back(*node.counter);
  }
  const std::size_t quorum = quorum_of(states.size());
  if (counters.size() < quorum) return std::nullopt;
  std::sort(counters.begin(), counters.end(), std::greater<>());
  return counters[quorum - 1];
}

std::optional<Side> side_of(std::uint64_t counter, std::uint64_t others) {
  if (counter > others && counter - others > kLeapMax) return Side::above;
  if (counter < others && others - counter > kLeapMax) return Side::below;
  return std::nullopt;
}

std::string text_of(std::uint64_t counter, std::uint64_t others, Side side, bool may_mend) {
  return fmt::format("its token counter, {}, is far {} {}, which a quorum has reached. {}", counter,
                     side == Side::above ? "above" : "below", others, may_mend ? kMend : kMissing);
}

}  // namespace

std::vector<FarCounter> far_counters(const std::vector<NodeState>& states) {
  const auto others = reached(states);
  if (!others) return {};
  std::vector<FarCounter> far;
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!tells_counter(states[i])) continue;
    if (const auto side = side_of(*states[i].counter, *others)) far.push_back({i, *side, {}});
  }
  const auto fenced =
      static_cast<std::size_t>(std::count_if(states.begin(), states.end(), tells_counter));
  const auto above = static_cast<std::size_t>(std::count_if(
      far.begin(), far.end(), [](const FarCounter& one) { return one.side == Side::above; }));
  const std::size_t quorum = quorum_of(states.size());
  const bool can_be_admitted = fenced - 1 >= quorum;
  const bool gave_no_token = above + (states.size() - fenced) < quorum;
  for (FarCounter& one : far) {
    const bool may_mend = can_be_admitted && (one.side == Side::below || gave_no_token);
    one.text = text_of(*states[one.node].counter, *others, one.side, may_mend);
  }
  return far;
}

}  // namespace redlock::coordinator
