#include "server/group/membership.h"

#include "server/recovery/recovery.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::server {

using protocol::Refusal;
using protocol::Reply;

Membership::Standing Membership::standing() const {
  const RosterRecord& known = record();
  if (known.current.epoch == 0) return Standing::none;
  return self_in(known.current) != nullptr ? Standing::member : Standing::outside;
}

const RosterMember* Membership::self_in(const Roster& roster) const {
  const DurableRecord& ledger = parts_.ledger.record();
  return roster.find(ledger.node_id, ledger.ledger_id());
}

std::string_view Membership::standing_name(Standing standing) {
  switch (standing) {
    case Standing::none:
      return "none";
    case Standing::member:
      return "member";
    case Standing::outside:
      return "outside";
  }
  return "";
}

Refusal Membership::refuse_other_epoch(std::optional<std::uint64_t> epoch) const {
  const std::uint64_t own = record().current.epoch;
  if (!epoch || *epoch == own) return {};
  return Reply::error(
      fmt::format("GROUP this node knows epoch {} of its group, you name {}", own, *epoch));
}

// From the first roster of the next epoch that it stored, this node votes for nobody of its own:
// any quorum of the present epoch meets the one that has chosen the next (rule G2). Before the
// first roster there is no group whose quorums could meet.
Refusal Membership::refuse_vote(std::optional<std::uint64_t> epoch) const {
  if (!epoch) return {};
  if (Refusal no = refuse_other_epoch(epoch)) return no;
  const RosterRecord& known = record();
  if (known.has_accepted() && *epoch > 0) {
    return Reply::error(
        fmt::format("GROUP a change of the group to epoch {} is under way", known.accepted.epoch));
  }
  if (standing() == Standing::outside) {
    return Reply::error(fmt::format(
        "GROUP this node is no member of its group since epoch {}: redlock group shows who is",
        known.current.epoch));
  }
  return {};
}

Duration Membership::longest_ttl() const {
  return std::max(parts_.settings.max_ttl, parts_.ledger.largest_ttl());
}

// Two changes within the life of a lock: then the quorum that granted it and one of the second
// roster need have no node in common. The first roster follows none, so it need not wait.
Duration Membership::change_in(Instant now) const {
  const RosterRecord& known = record();
  if (known.current.epoch < 2) return 0ns;
  const Duration longest = std::max(known.longest, longest_ttl());
  const Instant from = later(learned_at_, full_delay(longest, parts_.settings.clock_drift));
  return std::max<Duration>(from - now, 0ns);
}

Membership::Verdict Membership::judge(std::uint64_t epoch, const RosterBallot& ballot,
                                      Instant now) const {
  if (!parts_.ledger.is_kept()) return Verdict::not_kept;
  const RosterRecord& known = record();
  if (epoch != known.current.epoch + 1) return Verdict::other_epoch;
  if (standing() == Standing::outside) return Verdict::outside;
  if (ballot < known.promised) return Verdict::behind;
  return change_in(now) > 0ns ? Verdict::early : Verdict::done;
}

Membership::Step Membership::prepare(std::uint64_t epoch, const RosterBallot& ballot,
                                     Instant now) const {
  const Verdict verdict = judge(epoch, ballot, now);
  if (verdict != Verdict::done || record().promised == ballot) return {verdict};
  RosterRecord wanted = record();
  wanted.promised = ballot;
  return {verdict, std::move(wanted)};
}

Membership::Step Membership::accept(const RosterBallot& ballot, const Roster& roster,
                                    Instant now) const {
  const Verdict verdict = judge(roster.epoch, ballot, now);
  if (verdict != Verdict::done || record().accepted_ballot == ballot) return {verdict};
  if (!trouble_with_successor(record().current, roster).empty()) return {Verdict::no_successor};
  RosterRecord wanted = record();
  wanted.promised = ballot;
  wanted.accepted_ballot = ballot;
  wanted.accepted = roster;
  return {verdict, std::move(wanted)};
}

// Whoever joins votes only when every lock has run out that a quorum of the former roster granted:
// no such quorum need have met it (rule G2). What the wait is for is in the ledger before the
// roster is, so no crash shortens it (rule R3). For the tokens that were given nobody need wait:
// the counters of all who go on reach the floor, durably, before the first vote by this roster
// (rule F9). So whoever joins with a floor is fenced; a mark that a crash takes back makes it wait
// for an admission (rule F6).
Membership::Step Membership::learn(const Roster& roster, Former former, Instant now) {
  const RosterRecord& known = record();
  if (roster.epoch < known.current.epoch) return {};
  if (roster.epoch == known.current.epoch) {
    return {roster == known.current ? Verdict::done : Verdict::other_roster};
  }
  if (!parts_.ledger.is_kept()) return {Verdict::not_kept};
  if (is_of_other_group(roster)) return {Verdict::other_group};
  if (leaps_to(former.floor)) return {Verdict::leaps};
  learned_at_ = now;
  const Duration longest = std::max(former.longest, longest_ttl());
  const bool joins = joins_by(roster);
  if (joins) {
    const Instant end = later(now, full_delay(longest, parts_.settings.clock_drift));
    parts_.grants.join(end);
    // A deadline that no lock of the recorded TTL can have is damage to the next start (rule R4).
    if (parts_.ledger.largest_ttl() < longest) return {Verdict::done, std::nullopt, longest};
    if (!parts_.ledger.cover(end)) return {Verdict::disk_refuses};
  }
  if (former.floor > 0) {
    const Token next = std::min(former.floor + 1, kTokenMax);
    if (!parts_.grants.fence().has_room_for(next)) return {.token = next};
    parts_.grants.reach_everywhere(former.floor);
  }
  if (joins && former.floor > 0) {
    parts_.grants.admit(former.floor);
    parts_.ledger.want_fenced();
  } else if (joins) {
    parts_.grants.unfence();
    parts_.ledger.want_unfenced();
  }
  return {Verdict::done, RosterRecord{.current = roster,
                                      .longest = longest,
                                      .floor = former.floor,
                                      .ledger_id = known.ledger_id}};
}

// Whoever goes by a list of nodes of two groups would tell each the other's roster, and end it. A
// node leaves its group with its ledger alone: what it promised there stands in that (rule G2). One
// that was away while all others were replaced, and is named again, has not left it.
bool Membership::is_of_other_group(const Roster& roster) const {
  const Roster& known = record().current;
  if (known.epoch == 0) return false;
  const Descent descent = descent_of(roster, known);
  return descent == Descent::other_group ||
         (descent == Descent::unclear && self_in(roster) == nullptr);
}

// No single request uses up the numbers of a node's life (rule F1), and none that reaches one
// member those of all: a floor goes wherever its roster goes. An unfenced node cannot know how far
// the others are.
bool Membership::leaps_to(Token floor) const {
  const Fence& fence = parts_.grants.fence();
  return fence.is_fenced() && floor > fence.largest() && floor - fence.largest() > kLeapMax;
}

// A node is new to a roster that counts it since an epoch which it never heard of: it joins, or was
// removed and comes back, or had another ledger. The first roster follows none.
bool Membership::joins_by(const Roster& roster) const {
  const RosterMember* self = self_in(roster);
  return self != nullptr && self->since > 1 && self->since > record().current.epoch;
}

}  // namespace redlock::server
