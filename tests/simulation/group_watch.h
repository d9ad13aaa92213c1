// GroupWatch: a world's view of its group's roster (rules G): what happens to it from outside, and
// what must have become of it when all is over.
#pragma once

#include "tests/simulation/host.h"
#include "tests/simulation/lock_user.h"
#include "tests/simulation/roster_judge.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class GroupWatch {
 public:
  using Hosts = std::vector<std::unique_ptr<Host>>;
  using Users = std::vector<std::unique_ptr<LockUser>>;
  // All outlive it.
  GroupWatch(const Scenario& scenario, const RosterJudge& judge, Hosts& hosts, Users& users)
      : scenario_(scenario), judge_(judge), hosts_(hosts), users_(users) {}

  // The faults. A wrong list does no harm where a quorum of it knows that there is a group: else
  // the group is as good as one without a roster, for which equal lists are the operator's to keep.
  void change(const Event& event);
  void relist(const Event& event);

  // Where there is no roster, all nodes.
  bool is_member(unsigned node) const;
  // Of each roster, so that the links to it stay.
  bool is_member_for_good(unsigned node) const;

  // Without a roster that somebody goes by, one that was chosen waits for its operator to repeat
  // the command: nobody else finishes a first one.
  void repeat_first_change();
  // Whoever was refused for the length of its list starts again with the one that nodes tell.
  void correct_lists();
  // A quorum of the newest roster's members has its ledgers: else no other roster can follow. Where
  // nobody was told of that one yet, it is a quorum of the former one's that still has to say so;
  // of a first one it takes them all.
  bool can_change() const;
  // A quorum of them is fenced: else only an operator can help (rule F6).
  bool can_give_tokens() const;
  // Of a group at rest, as a member's place is given to another node; nullopt: it has no use for
  // one. Whoever lost its ledger may have accepted a first roster that nobody can finish any more.
  std::optional<Event> last_change() const;
  // Who does not go by the newest roster, or does not do its work; empty: all is well.
  std::string trouble() const;

 private:
  // The newest that a node goes by, as `redlock group` shows it; of epoch 0: none does.
  const Roster& told() const;
  bool has_its_ledger(const RosterMember& member) const;
  std::size_t voters(const Roster& roster) const;
  Host& host(const RosterMember& member) const { return *hosts_[node_of(member.address) - 1]; }
  std::string trouble_with(const RosterMember& member) const;
  bool knows_roster_for_good(unsigned node) const;

  const Scenario& scenario_;
  const RosterJudge& judge_;
  Hosts& hosts_;
  Users& users_;
};

}  // namespace redlock::simulation
