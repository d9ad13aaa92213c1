#include "coordinator/drill/history/client_cuts.h"

#include "coordinator/quorum/quorum.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

// A partition cuts one node after the other: what lies between two of them is no time of its own.
constexpr Duration kTogether = 1ms;

// One node is out of a client's reach from then on, or in it again.
struct Change {
  Instant at;
  std::size_t node;
  int by;  // 1: one cut more, -1: one less
};

bool is_meant(const Event& cut, const std::string& client) {
  return cut.from.empty() || std::find(cut.from.begin(), cut.from.end(), client) != cut.from.end();
}

std::vector<Change> changes_of(const History& history, const Story& story, std::size_t client) {
  std::vector<Change> changes;
  for (const Spell& spell : story.spells) {
    const bool is_cut = spell.what == What::cut && story.is_node(spell.party);
    if (!is_cut || spell.time.is_empty()) continue;
    if (!is_meant(history.events[spell.begin], story.parties[client])) continue;
    changes.push_back({spell.time.from, spell.party, 1});
    changes.push_back({spell.time.to, spell.party, -1});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  return changes;
}

}  // namespace

std::vector<ClientCut> client_cuts(const History& history, const Story& story) {
  const std::size_t nodes = story.parties.size() - story.clients;
  std::vector<ClientCut> cuts;
  for (std::size_t client = 0; client < story.clients; ++client) {
    const std::vector<Change> changes = changes_of(history, story, client);
    std::map<std::size_t, int> cut_from;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const auto& [at, node, by] = changes[i];
      if ((cut_from[node] += by) == 0) cut_from.erase(node);
      const bool is_last = i + 1 == changes.size();
      if (is_last || cut_from.empty() || changes[i + 1].at - at < kTogether) continue;
      ClientCut cut{.client = client, .time = {at, changes[i + 1].at}, .nodes = {}};
      for (const auto& [party, count] : cut_from) cut.nodes.push_back(party);
      cut.has_quorum = nodes - cut.nodes.size() >= coordinator::quorum_of(nodes);
      cuts.push_back(std::move(cut));
    }
  }
  return cuts;
}

std::string note_of(const ClientCut& cut, const Story& story) {
  std::string names;
  for (std::size_t i = 0; i < cut.nodes.size(); ++i) {
    const bool is_last = i + 1 == cut.nodes.size();
    names += i == 0 ? "" : is_last ? " and " : ", ";
    names += story.parties[cut.nodes[i]];
  }
  return fmt::format("from {}{}", names, cut.has_quorum ? "" : ", and so from every quorum");
}

}  // namespace redlock::drill
