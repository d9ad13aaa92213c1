// Membership: the node's place in a group of nodes (rules G1 to G5).
//
// A group's roster says who its nodes are. Rosters follow each other by epochs, one member at a
// time, and each is decided as single-decree Paxos decides: the nodes of an epoch are the acceptors
// of the next one. Here is what one of them does; proposers are coordinators.
//
//   PREPARE, ACCEPT   promise and accept a roster of the next epoch under a ballot
//   LEARN             a roster that is known to be chosen; whoever joins by it waits first
//   refuse_vote       for a coordinator of another epoch, or while a change is under way
//
// A node that lost its ledger has forgotten what it promised. So a member is a node with its
// ledger, and such a node is none until another roster names it anew;
// then it joins as any newcomer.
//
// Each step tells what it wants to be durable, if anything, and is taken again when it is: nobody
// hears of what only memory knows. Where the step joins the group, the node is recovering from that
// instant on, whatever becomes of the write.
//
// Pure. Thread safety: none.
#pragma once

#include "base/roster.h"
#include "base/time.h"
#include "base/token.h"
#include "protocol/resp/refusal.h"
#include "server/grants/grants.h"
#include "server/recovery/ledger_keeper.h"
#include "server/recovery/roster_record.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace redlock::server {

class Membership {
 public:
  // All outlive it.
  struct Parts {
    Instant started_at;
    const Settings& settings;
    LedgerKeeper& ledger;
    Grants& grants;
  };
  explicit Membership(const Parts& parts) : parts_(parts), learned_at_(parts.started_at) {}
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  // In force: durable.
  const RosterRecord& record() const { return parts_.ledger.record().roster; }

  enum class Standing : std::uint8_t {
    none,     // of no group that has a roster
    member,   // the roster has its id
    outside,  // the roster does not name it: it was removed, or lost its ledger (rule G5)
  };
  Standing standing() const;
  // One word for INFO and LOCK.STATUS.
  static std::string_view standing_name(Standing standing);

  // Why a coordinator that said this epoch gets no vote (rule G1). nullopt: it said none, as
  // redis-cli and lock libraries do, and is served as if there were no rosters.
  protocol::Refusal refuse_vote(std::optional<std::uint64_t> epoch) const;
  // The same as to epochs alone: also for what is no vote.
  protocol::Refusal refuse_other_epoch(std::optional<std::uint64_t> epoch) const;

  // No lock of this node lives longer than that, also one that is yet to be granted.
  Duration longest_ttl() const;
  // Until a change of the roster may begin (rule G3).
  Duration change_in(Instant now) const;

  enum class Verdict : std::uint8_t {
    done,          // if nothing is wanted; else as soon as that is durable
    behind,        // a larger ballot was promised
    other_epoch,   // the roster is not for the epoch after this node's
    other_roster,  // another one is known as chosen for the same epoch
    other_group,   // it has not come of this node's
    early,         // rule G3
    outside,       // no member, and so no acceptor
    not_kept,      // a node without a state folder has no roster (rule G7)
    no_successor,  // of this node's roster: trouble_with_successor() says why
    disk_refuses,  // the latest deadline cannot be written
    leaps,         // the floor is too far above this node's counter
  };
  struct Step {
    Verdict verdict = Verdict::done;
    std::optional<RosterRecord> wanted = {};
    // If not 0: what the ledger is to cover before the rest is done.
    Duration ttl = {};
    Token token = 0;
  };
  Step prepare(std::uint64_t epoch, const RosterBallot& ballot, Instant now) const;
  Step accept(const RosterBallot& ballot, const Roster& roster, Instant now) const;
  // Of what the former epoch's nodes may have granted: the longest TTL, and the largest token; 0:
  // no floor is known, and who joins is unfenced.
  struct Former {
    Duration longest = 0ns;
    Token floor = 0;
  };
  Step learn(const Roster& roster, Former former, Instant now);

 private:
  Verdict judge(std::uint64_t epoch, const RosterBallot& ballot, Instant now) const;
  const RosterMember* self_in(const Roster& roster) const;
  bool joins_by(const Roster& roster) const;
  bool is_of_other_group(const Roster& roster) const;
  bool leaps_to(Token floor) const;

  const Parts parts_;
  Instant learned_at_;  // when the current roster came, or the start of the process
};

}  // namespace redlock::server
