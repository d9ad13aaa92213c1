// RosterJudge: knows what every node's ledger holds of its group, and judges the rosters by it
// (rules G).
//
//   two rosters   a quorum of one epoch's members has accepted two rosters for the next one
//   unchosen      a node or a coordinator goes by a roster that no such quorum has accepted
//   no successor  what was chosen does not follow the roster before it
//   behind        when all is over somebody does not go by the newest, or a change is left undone
//
// A roster is chosen when a quorum has it in its ledgers under one ballot, whoever knows of that.
#pragma once

#include "base/roster.h"
#include "server/recovery/roster_record.h"
#include "tests/simulation/referee.h"
#include "tests/simulation/story.h"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace redlock::simulation {

// How hosts are called in rosters, and by coordinators.
std::string node_name(unsigned node);
unsigned node_of(const std::string& name);

class RosterJudge {
 public:
  RosterJudge(Agenda& agenda, Story& story, Referee& referee)
      : agenda_(agenda), story_(story), referee_(referee) {}

  // What is in force in a node's ledger, after each of its turns.
  void note(unsigned node, const RosterMember& self, const server::RosterRecord& record);
  // Somebody goes by it from now on.
  void note_taken_over(const std::string& who, const Roster& roster);

  // Whether the node went by a roster in its last turn.
  bool goes_by_roster(unsigned node) const;
  // Of epoch 0: none was chosen.
  const Roster& newest() const;

 private:
  // What of a record has changed, in short.
  struct Seen {
    std::uint64_t epoch = 0;
    RosterBallot ballot = {};
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  struct Accepted {
    Roster roster;
    std::set<std::string> ledgers;  // of those who accepted it
  };

  void look_at(const Accepted& accepted);
  bool is_chosen(const Accepted& accepted) const;
  void choose(const Roster& roster);

  Agenda& agenda_;
  Story& story_;
  Referee& referee_;
  std::map<unsigned, Seen> seen_;
  std::map<std::pair<std::uint64_t, RosterBallot>, Accepted> accepted_;  // by epoch and ballot
  std::map<std::uint64_t, Roster> chosen_;                               // by epoch
};

}  // namespace redlock::simulation
