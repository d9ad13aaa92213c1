// What a node must not forget of its group (rules G): which roster it knows to be chosen, and what
// it promised and accepted for the next one. As Paxos has it, the node is an acceptor for the
// roster that follows its own.
#pragma once

#include "base/roster.h"
#include "base/time.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::server {

struct RosterRecord {
  Roster current = {};    // the newest that it knows to be chosen; epoch 0: none
  Duration longest = {};  // of a lock that was granted before `current` was chosen
  // No token that was given before that is larger; 0: not known.
  std::uint64_t floor = 0;
  // Drawn when the ledger was made: a roster names it beside the node's id, so that a node which
  // lost its ledger is not taken for the member that it was (rule G4). Empty: the node's id, as
  // that was drawn with the ledger.
  std::string ledger_id = {};

  RosterBallot promised = {};         // for the epoch after the current one
  RosterBallot accepted_ballot = {};  // number 0: nothing was accepted
  Roster accepted = {};

  bool has_accepted() const { return accepted_ballot.number > 0; }
  friend bool operator==(const RosterRecord&, const RosterRecord&) = default;
};

// Whether a was stored after b, of one node: each step raises one of these.
bool is_later(const RosterRecord& a, const RosterRecord& b);

inline constexpr std::size_t kRosterRecordBytes =
    6 * sizeof(std::uint64_t) + kNodeIdDigits + 2 * (sizeof(std::uint16_t) + kRosterBytesMax);

// As it stands in a copy of the ledger, kRosterRecordBytes long:
//    0  longest, 64 bits, nanoseconds
//    8  ballot promised, ballot accepted: number and proposer, 64 bits each
//   40  ledger id, 40 digits; zeros: the node's id
//   80  current, accepted: each the length of its text, 16 bits, the text, zeros
//    …  floor, 64 bits, behind them
// REQUIRES: neither text is longer than kRosterBytesMax, longest is not negative, floor is a token.
std::string encode_roster_record(const RosterRecord& record);
// nullopt: no record. REQUIRES: kRosterRecordBytes bytes.
std::optional<RosterRecord> decode_roster_record(std::string_view bytes);

}  // namespace redlock::server
