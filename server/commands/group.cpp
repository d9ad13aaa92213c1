// LOCK.GROUP: what coordinators say to a node of its group, and how a group's roster changes
// (rules G). A roster and a ballot are one word each (base/roster.h).
//
//   HELLO epoch                      on each connection of a coordinator: the roster that it goes
//                                    by, 0: none. LOCK.STATUS has told it the node's
//   SHOW                             a map of all that the node knows
//   PREPARE epoch ballot             ["done", ballot accepted, roster accepted, longest, counter]
//   ACCEPT ballot roster             ["done", longest, counter]
//   LEARN roster longest floor       OK: the roster is chosen. Whoever joins by it waits first
//
// longest: TTL in ms, of any lock of the node, or of the former epoch's nodes. counter: the largest
// that the node has given or accepted, nil of one that is unfenced and cannot know it; from ACCEPT
// on it moves by no vote of this epoch (rule F9). floor: no token of the former epochs is larger;
// 0: not known.
//
// A step that the node does not take is answered by why, for the proposer to go on from: ["behind",
// ballot promised], ["epoch", its roster, the longest TTL and the floor before that], ["early", ms
// until it may], ["outside"].
//
// LOCK.STATUS: a map of what the node is, and of what the members of a group agree on.
#include "base/text/number.h"
#include "base/version.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/replies.h"
#include "server/group/membership.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/settings/setting_values.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

Reply ms_reply(Duration length) {
  return Reply::integer(ceil_ms(length));
}

Reply longest_ttl(const Call& call) {
  return ms_reply(call.node.membership().longest_ttl());
}

Reply counter(const Call& call) {
  const Fence& fence = call.node.grants().fence();
  return fence.is_fenced() ? number_reply(fence.largest()) : Reply::null();
}

Refusal read_epoch(std::string_view word, std::uint64_t least, std::uint64_t& epoch) {
  const auto number = parse_int64(word);
  if (!number || *number < static_cast<std::int64_t>(least)) {
    return Reply::error(fmt::format("ERR an epoch is a number from {} on", least));
  }
  epoch = static_cast<std::uint64_t>(*number);
  return std::nullopt;
}

Refusal read_ballot(std::string_view word, RosterBallot& ballot) {
  auto parsed = parse_ballot(word);
  if (!parsed) return Reply::error("ERR " + parsed.error().text);
  ballot = *parsed;
  return std::nullopt;
}

Refusal read_roster(std::string_view word, Roster& roster) {
  auto parsed = parse_roster(word);
  if (!parsed) return Reply::error("ERR " + parsed.error().text);
  roster = std::move(parsed).value();
  return std::nullopt;
}

Refusal read_longest(std::string_view word, Duration& longest) {
  constexpr Duration kLongestMax = Duration::max() / 4;  // its delay is an Instant still
  const auto ms = parse_int64(word);
  if (!ms || *ms < 0 || *ms > kLongestMax / 1ms) {
    return Reply::error_view("ERR the longest TTL is a number of ms");
  }
  longest = std::chrono::milliseconds(*ms);
  return std::nullopt;
}

Coverage::Bound cover(const Call& call, const Membership::Step& step) {
  Coverage& coverage = call.node.coverage();
  const Instant now = call.instant();
  if (step.wanted) return coverage.cover_roster(*step.wanted, now);
  if (step.ttl > 0ns) return coverage.cover_ttl(step.ttl, now);
  return coverage.cover_token(step.token, now);
}

// Why the step is not taken; or not yet, as what it wants is on its way to the disk.
Refusal refuse_step(Call& call, const Membership::Step& step) {
  const Membership& membership = call.node.membership();
  const RosterRecord& known = membership.record();
  using Verdict = Membership::Verdict;
  switch (step.verdict) {
    case Verdict::behind:
      return list(Reply::bulk_view("behind"), Reply::bulk(ballot_text(known.promised)));
    case Verdict::other_epoch:
      return list(Reply::bulk_view("epoch"), Reply::bulk(roster_text(known.current)),
                  ms_reply(known.longest), number_reply(known.floor));
    case Verdict::other_roster:
      return Reply::error("GROUP another roster of this epoch was chosen: " +
                          roster_text(known.current));
    case Verdict::other_group:
      return Reply::error("GROUP this node is of another group, as long as it has its folder: " +
                          roster_text(known.current));
    case Verdict::no_successor:
      return Reply::error_view("ERR this roster cannot follow the one that the node goes by");
    case Verdict::early:
      return list(Reply::bulk_view("early"), ms_reply(membership.change_in(call.instant())));
    case Verdict::outside:
      return list(Reply::bulk_view("outside"));
    case Verdict::not_kept:
      return Reply::error_view(
          "ERR this node keeps no state folder, and so no roster: give it one with --dir");
    case Verdict::disk_refuses:
      return Reply::error_view("ERR not stored: the ledger's disk refuses");
    case Verdict::leaps:
      return Reply::error(fmt::format(
          "ERR this floor is more than {} above the node's counter: where that is the one "
          "that is wrong, start the node with an empty folder",
          kLeapMax));
    case Verdict::done:
      break;
  }
  switch (cover(call, step)) {
    case Coverage::Bound::postpone:
      return Reply::postponed();
    case Coverage::Bound::disk_refuses:
      return Reply::error_view("ERR not stored: the ledger's disk refuses");
    case Coverage::Bound::covers:
      break;
  }
  return std::nullopt;
}

Reply hello(Call& call) {
  std::uint64_t epoch = 0;
  if (Refusal no = read_epoch(call.word(2), 0, epoch)) return no;
  call.session.group_epoch = epoch;
  return Reply::ok();
}

Reply show(Call& call) {
  const Membership& membership = call.node.membership();
  const RosterRecord& known = membership.record();
  const auto text_of = [](const RosterBallot& ballot) {
    return Reply::bulk(ballot.number > 0 ? ballot_text(ballot) : "");
  };
  Reply map = Reply::map({});
  map.add_field("epoch", number_reply(known.current.epoch))
      .add_field("standing", Reply::bulk_view(Membership::standing_name(membership.standing())))
      .add_field("roster", Reply::bulk(roster_text(known.current)))
      .add_field("promised", text_of(known.promised))
      .add_field("accepted_ballot", text_of(known.accepted_ballot))
      .add_field("accepted", Reply::bulk(roster_text(known.accepted)))
      .add_field("longest_ttl_ms", longest_ttl(call))
      .add_field("former_longest_ttl_ms", ms_reply(known.longest))
      .add_field("former_floor", number_reply(known.floor))
      .add_field("change_in_ms", ms_reply(membership.change_in(call.instant())));
  return map;
}

Reply prepare(Call& call) {
  std::uint64_t epoch = 0;
  RosterBallot ballot;
  if (Refusal no = read_epoch(call.word(2), 1, epoch)) return no;
  if (Refusal no = read_ballot(call.word(3), ballot)) return no;
  const Membership& membership = call.node.membership();
  if (Refusal no = refuse_step(call, membership.prepare(epoch, ballot, call.instant()))) return no;
  const RosterRecord& known = membership.record();
  const std::string accepted = known.has_accepted() ? ballot_text(known.accepted_ballot) : "";
  return list(Reply::bulk_view("done"), Reply::bulk(accepted),
              Reply::bulk(roster_text(known.accepted)), longest_ttl(call), counter(call));
}

Reply accept(Call& call) {
  RosterBallot ballot;
  Roster roster;
  if (Refusal no = read_ballot(call.word(2), ballot)) return no;
  if (Refusal no = read_roster(call.word(3), roster)) return no;
  const Membership& membership = call.node.membership();
  if (Refusal no = refuse_step(call, membership.accept(ballot, roster, call.instant()))) return no;
  return list(Reply::bulk_view("done"), longest_ttl(call), counter(call));
}

Reply learn(Call& call) {
  Roster roster;
  Membership::Former former;
  if (Refusal no = read_roster(call.word(2), roster)) return no;
  if (Refusal no = read_longest(call.word(3), former.longest)) return no;
  if (Refusal no = read_token(call.word(4), 0, former.floor)) return no;
  Membership& membership = call.node.membership();
  if (Refusal no = refuse_step(call, membership.learn(roster, former, call.instant()))) return no;
  return Reply::ok();
}

// What the members of a group agree on, or differ in (rule G6).
void add_group(const Call& call, Reply& map) {
  const Membership& membership = call.node.membership();
  const Settings& settings = call.node.settings();
  const std::string standing(Membership::standing_name(membership.standing()));
  map.add_field("ledger_id", Reply::bulk(call.node.ledger().record().ledger_id()))
      .add_field("epoch", number_reply(membership.record().current.epoch))
      .add_field("standing", Reply::bulk(standing))
      .add_field("roster", Reply::bulk(roster_text(membership.record().current)))
      .add_field("accepted", Reply::bulk(roster_text(membership.record().accepted)))
      .add_field("former_longest_ttl_ms", Reply::integer(ceil_ms(membership.record().longest)))
      .add_field("former_floor", number_reply(membership.record().floor))
      .add_field("clock_drift", Reply::bulk(fmt::format("{}", settings.clock_drift)))
      .add_field("restart_delay", Reply::bulk(restart_delay_text(settings.restart_delay)))
      .add_field("warning", Reply::bulk_view(call.node.start().warning));
}

Reply status(Call& call) {
  Node& node = call.node;
  const Grants& grants = node.grants();
  const Fence& fence = grants.fence();
  const NodeStart& start = node.start();
  const Instant now = call.instant();
  const auto ms_until = [&](Instant when) {
    return Reply::integer(std::max<std::int64_t>(ceil_ms(when - now), 0));
  };
  Reply map = Reply::map({});
  map.add_field("node_id", Reply::bulk_view(start.node_id))
      .add_field("state", Reply::bulk_view(grants.is_recovering(now) ? "recovering" : "serving"))
      .add_field("cause", Reply::bulk_view(start.cause))
      .add_field("delay_left_ms", Reply::integer(ceil_ms(grants.delay_left(now))))
      .add_field("locks", number_reply(node.locks().size()))
      .add_field("counter", number_reply(fence.largest()))
      .add_field("bound", number_reply(fence.bound()))
      .add_field("fenced", Reply::integer(fence.is_fenced() ? 1 : 0))
      .add_field("admit_in_ms", ms_until(std::max(grants.admit_from(), grants.grant_from())))
      .add_field("max_ttl_ms", Reply::integer(ceil_ms(node.settings().max_ttl)))
      .add_field("largest_ttl_ms", Reply::integer(ceil_ms(node.ledger().largest_ttl())))
      .add_field("version", Reply::bulk_view(kRedlockVersion))
      .add_field("labels", Reply::integer(1));  // a node of before has no LABEL
  add_group(call, map);
  return map;
}

// What waits for the ledger's disk has no place in a script or a transaction.
constexpr std::uint32_t kStep = kAdmin | kNoScript | kNoMulti;

constexpr Command kGroupCommands[] = {
    {{"lock.status", 1, kLoading | kStale | kFast | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "Answers the state of the node.", ""},
     status},
    {{"lock.group", -2, kAdmin | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "A container for commands about the group that the node belongs to.", ""},
     nullptr},
    {{"lock.group|hello", 3, kFast | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "Says which roster a coordinator goes by.", "epoch"},
     hello},
    {{"lock.group|show", 2, kAdmin | kFast | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "Answers what the node knows of its group.", ""},
     show},
    {{"lock.group|prepare", 4, kStep, 0, 0, 0, "lock", "1.0.0",
      "Promises to accept no roster under a smaller ballot.", "epoch ballot"},
     prepare},
    {{"lock.group|accept", 4, kStep, 0, 0, 0, "lock", "1.0.0",
      "Accepts a roster for the next epoch.", "ballot roster"},
     accept},
    {{"lock.group|learn", 5, kStep, 0, 0, 0, "lock", "1.0.0",
      "Takes over a roster that was chosen.", "roster longest-ms floor"},
     learn},
};

}  // namespace

Family group_commands() {
  return kGroupCommands;
}

}  // namespace redlock::server
