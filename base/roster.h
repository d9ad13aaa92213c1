// A group's roster: who its nodes are, as all of them store it and coordinators read it (rules G).
//
//   epoch, one member, another: node id, ledger id, the epoch since which it is a member, address
//
//   3 1f0c…a9,1f0c…a9,1,10.0.0.1:7001 88d2…04,88d2…04,1,10.0.0.2:7001 c07b…5e,77aa…03,3,db9:7001
//
// The text is what stands in ledgers and replies: one roster has one text, so two rosters are equal
// when their texts are.
#pragma once

#include <redlock/result.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

inline constexpr std::size_t kNodeIdDigits = 40;
// 40 lower-case hexadecimal digits, as Redis's run_id.
bool is_node_id(std::string_view text);

// A member is a node with its memory: one that lost its ledger is another, whatever its node id, as
// it has forgotten what it promised (rule G4).
struct RosterMember {
  std::string id;           // is_node_id
  std::string ledger;       // the same form: drawn when the ledger was made
  std::uint64_t since = 0;  // the epoch with which it became a member: it waits then (rule G2)
  std::string address;      // as coordinators are given it; no password

  friend bool operator==(const RosterMember&, const RosterMember&) = default;
};

struct Roster {
  std::uint64_t epoch = 0;  // 0: the group has no roster, and so no members
  std::vector<RosterMember> members;

  // nullptr: no member.
  const RosterMember* find(std::string_view id, std::string_view ledger) const;

  friend bool operator==(const Roster&, const Roster&) = default;
};

// Twice as much, and the rest of a ledger's copy, fit into one page. Room for seven nodes with
// addresses of 180 bytes; for 16 with 30.
inline constexpr std::size_t kRosterBytesMax = 1900;

// Empty for a roster of epoch 0.
std::string roster_text(const Roster& roster);
// Strict: what is accepted is a roster of at least one member, no id and no address is there twice,
// nobody is a member since a later epoch, and roster_text() gives the same text again.
Result<Roster> parse_roster(std::string_view text);

// Why the members of `roster` cannot decide on `next` (rule G2); empty: they can. One member joins,
// leaves, or takes another's place, with the new epoch; of the others only addresses change. The
// first roster, which follows one of epoch 0, has members since its own epoch alone.
std::string_view trouble_with_successor(const Roster& roster, const Roster& next);

// Whether `later` is a roster that `roster` has come to, by such changes or by a rescue (rule G8).
enum class Descent : std::uint8_t {
  same_group,   // whoever it says is a member since then, or longer, is one in both; there is one
  other_group,  // it has members since then, such as since its own first epoch, that are none here
  unclear,      // all its members have joined since
};
// AnyRoster: Roster, or the library's GroupRoster.
template <class AnyRoster>
Descent descent_of(const AnyRoster& later, const AnyRoster& roster) {
  Descent descent = Descent::unclear;
  for (const auto& member : later.members) {
    if (member.since > roster.epoch) continue;
    const auto is_it = [&member](const auto& before) {
      return before.id == member.id && before.ledger == member.ledger &&
             before.since == member.since;
    };
    if (std::none_of(roster.members.begin(), roster.members.end(), is_it)) {
      return Descent::other_group;
    }
    descent = Descent::same_group;
  }
  return descent;
}

// Who changes a roster does it under a ballot (rule G2), as in Paxos: a later one wins. No two
// proposers have the same.
struct RosterBallot {
  std::uint64_t number = 0;    // 0: none
  std::uint64_t proposer = 0;  // random

  friend auto operator<=>(const RosterBallot&, const RosterBallot&) = default;
};

// Such as 7.0123456789abcdef.
std::string ballot_text(const RosterBallot& ballot);
Result<RosterBallot> parse_ballot(std::string_view text);

}  // namespace redlock
