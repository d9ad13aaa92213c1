#include "coordinator/results/public_roster.h"

namespace redlock::coordinator {

GroupRoster public_roster(const Roster& roster) {
  GroupRoster told{roster.epoch, {}};
  for (const RosterMember& member : roster.members) {
    told.members.push_back({member.address, member.id, member.ledger, member.since});
  }
  return told;
}

Result<Roster> read_roster(const GroupRoster& roster) {
  Roster read{roster.epoch, {}};
  for (const GroupMember& member : roster.members) {
    read.members.push_back({member.id, member.ledger, member.since, member.node});
  }
  return parse_roster(roster_text(read));
}

}  // namespace redlock::coordinator
