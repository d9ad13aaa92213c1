// LOCK.*: what coordinators ask, and what a client of one node may; docs/architecture.md has a
// table of them. The tokens' rules are F.
//
// LOCK.ACQUIRE finds a hash held, as any key that is there; the others are about the one value that
// a hash does not have.
#include "base/text/words.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/replies.h"
#include "server/commands/ttl.h"
#include "server/grants/grants.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

Reply token_of(const Lock& lock) {
  return number_reply(lock.token());
}

Reply ms_left(const Call& call, const Lock& lock) {
  return Reply::integer(lock.has_deadline() ? ceil_ms(lock.deadline() - call.instant()) : -1);
}

bool is_held_by(const Lock* lock, std::string_view value) {
  return lock != nullptr && lock->holds(value);
}

// A release or a confirm that a recovering node answered with 0 would count as a vote (rule R10).
Refusal refuse_recovering(const Call& call) {
  if (!call.node.grants().is_recovering(call.instant())) return std::nullopt;
  return call.node.grants().refuse(call.instant());
}

// The TTL of "PX ttl", which stands at word `at`.
TtlReading read_px(const Call& call, std::size_t at) {
  if (!equals_ignoring_case(call.word(at), "PX")) return {{}, Reply::error_view(kSyntaxError)};
  return read_ttl(call, call.word(at + 1), TtlForm::milliseconds, NonPositive::refused);
}

// One request must not use up the numbers of a node's life (rule F1).
Refusal refuse_leap(const Call& call, std::uint64_t token) {
  if (!call.node.grants().fence().leaps_too_far(call.word(1), token)) return std::nullopt;
  return Reply::error(
      fmt::format("ERR token {} is more than {} above this node's counter: no group gives such a "
                  "number; redlock status names the counters that are far from the others",
                  token, kLeapMax));
}

Reply held(const Call& call, const Lock& lock) {
  ++call.node.stats().refused_held;
  return list(Reply::integer(0), ms_left(call, lock));
}

// Its holder has released it for good (rule Q3). Only LOCK.ACQUIRE and a top-up ask: these bring
// back a value that was to be used once. A plain SET of it is an order of its own, as in Redis.
bool is_released(const Call& call) {
  return call.node.grants().is_released(call.word(1), call.word(2), call.instant());
}

// A coordinator of another epoch of the group gets no vote (rule G1). A release is always welcome.
Refusal refuse_vote(const Call& call) {
  return call.node.membership().refuse_vote(call.session.group_epoch);
}

// LOCK.ACQUIRE key value PX ttl [LABEL text]: [1, proposal, ms], [0, ms until it is free]; [0, 0]
// for a value that was released for good.
Reply acquire(Call& call) {
  const std::string_view key = call.word(1);
  if (Refusal no = call.node.grants().refuse_size(key, call.word(2))) return no;
  TtlReading ttl = read_px(call, 3);
  if (ttl.refusal) return std::move(ttl.refusal);
  std::string_view label;
  if (call.words.size() != 5 && call.words.size() != 7) return Reply::error_view(kSyntaxError);
  if (call.words.size() == 7) {
    if (Refusal no = read_label(call.word(5), call.word(6), label)) return no;
  }
  if (Refusal no = refuse_vote(call)) return no;
  Node& node = call.node;
  if (const Lock* lock = node.locks().find(key, call.instant())) return held(call, *lock);
  if (Refusal no = node.grants().refuse(key, call.instant())) return no;
  if (is_released(call)) return list(Reply::integer(0), Reply::integer(0));
  const Instant deadline = later(call.instant(), ttl.remaining);
  const Lock* lock = node.grants().grant(key, call.word(2), deadline, call.instant(), label);
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  if (call.session.group_epoch) ++node.stats().granted_in_group;
  tell_of_grant(call, key);
  return list(Reply::integer(1), number_reply(node.grants().fence().proposal_of(lock->token())),
              ms_left(call, *lock));
}

// A node that lacks the lock may be topped up, and none that has another value (rule D8).
Reply not_its_own(const Call& call, const Lock* lock) {
  return lock == nullptr ? list(Reply::integer(0)) : list(Reply::integer(0), ms_left(call, *lock));
}

Reply extended(const Call& call, int how, const Lock& lock) {
  return list(Reply::integer(how), token_of(lock), ms_left(call, lock));
}

// Never brings a deadline forward (rule Q4). Also a lock that lives on as it is goes through
// extend(): its grant may still wait for the ledger, and then so does this answer (rule R4).
// REQUIRES: it is this holder's.
Reply extend_held(Call& call, Duration ttl, std::optional<std::uint64_t> token) {
  Node& node = call.node;
  const std::string_view key = call.word(1);
  const Lock* lock = node.locks().find(key, call.instant());
  const Instant deadline = std::max(later(call.instant(), ttl), lock->deadline());
  if (token && *token > lock->token()) node.grants().set_token(key, *token);
  node.grants().extend(key, deadline, call.instant());
  node.notify(kGenericEvent, "expire", key);
  return extended(call, 1, *node.locks().find(key, call.instant()));
}

// A holder that is within its validity brings its lock to a node that lacks it, with its token: a
// vote for the lock, never an acceptance of the token (rules Q4, F5).
Reply top_up(Call& call, Duration ttl, std::uint64_t token, std::string_view label) {
  Node& node = call.node;
  const std::string_view key = call.word(1);
  const Instant deadline = later(call.instant(), ttl);
  const Lock* lock =
      node.grants().top_up(key, call.word(2), deadline, token, call.instant(), label);
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  if (call.session.group_epoch) ++node.stats().granted_in_group;
  tell_of_grant(call, key);
  return extended(call, 2, *lock);
}

// The words after the TTL: nothing, or TOKEN t [LABEL text].
Refusal read_token_option(const Call& call, std::optional<std::uint64_t>& token,
                          std::string_view& label) {
  const std::size_t words = call.words.size();
  if (words == 5) return std::nullopt;
  if ((words != 7 && words != 9) || !equals_ignoring_case(call.word(5), "TOKEN")) {
    return Reply::error_view(kSyntaxError);
  }
  if (words == 9) {
    if (Refusal no = read_label(call.word(7), call.word(8), label)) return no;
  }
  return read_token(call.word(6), 0, token.emplace());
}

// LOCK.EXTEND key value PX ttl [TOKEN t [LABEL text]]:
// [1, token, ms], [2, t, ms] for a top-up; [0, ms] of a key that holds another value, [0] of none.
Reply extend(Call& call) {
  const std::string_view key = call.word(1);
  if (Refusal no = call.node.grants().refuse_size(key)) return no;
  TtlReading ttl = read_px(call, 3);
  if (ttl.refusal) return std::move(ttl.refusal);
  std::optional<std::uint64_t> token;
  std::string_view label;
  if (Refusal no = read_token_option(call, token, label)) return no;
  if (Refusal no = refuse_vote(call)) return no;
  Node& node = call.node;
  if (Refusal no = node.grants().refuse(call.instant())) return no;
  const Lock* lock = node.locks().find(key, call.instant());
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  const bool is_its_own = is_held_by(lock, call.word(2));
  const bool may_top_up = lock == nullptr && token && !is_released(call);
  if (!is_its_own && !may_top_up) return not_its_own(call, lock);
  if (Refusal no = node.grants().refuse_size(key, may_top_up ? call.word(2) : "")) return no;
  if (Refusal no = may_top_up ? node.grants().refuse(key, call.instant()) : Refusal()) return no;
  if (token) {
    if (Refusal no = refuse_leap(call, *token)) return no;
    const Coverage::Bound bound = node.coverage().cover_token(*token, call.instant());
    if (bound == Coverage::Bound::postpone) return Reply::postponed();
    if (bound == Coverage::Bound::disk_refuses) {
      return Reply::error_view("ERR the fencing bound cannot be raised: the ledger's disk refuses");
    }
    node.grants().reach(key, *token);
  }
  return is_its_own ? extend_held(call, ttl.remaining, token)
                    : top_up(call, ttl.remaining, *token, label);
}

// LOCK.REPLACE key value new PX ttl [SHORTEN]: as LOCK.EXTEND. Token and label stay the grant's,
// and the value before never comes back here, however late a top-up of it lands (rule D9).
Reply replace(Call& call) {
  const std::string_view key = call.word(1);
  const std::string_view value = call.word(3);
  if (Refusal no = call.node.grants().refuse_size(key, value)) return no;
  TtlReading ttl = read_px(call, 4);
  if (ttl.refusal) return std::move(ttl.refusal);
  const bool shortens = call.words.size() == 7 && equals_ignoring_case(call.word(6), "SHORTEN");
  if (call.words.size() > 6 && !shortens) return Reply::error_view(kSyntaxError);
  if (Refusal no = refuse_vote(call)) return no;
  Node& node = call.node;
  if (Refusal no = node.grants().refuse(call.instant())) return no;
  const Lock* lock = node.locks().find(key, call.instant());
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  const bool is_over = node.grants().is_released(key, value, call.instant());
  if (!is_held_by(lock, call.word(2)) || is_over) return not_its_own(call, lock);
  const Instant wanted = later(call.instant(), ttl.remaining);
  const Instant deadline = shortens ? wanted : std::max(wanted, lock->deadline());
  lock = node.grants().replace(key, value, deadline, call.instant());
  if (lock == nullptr) return Reply::error_view(kNoMemory);
  node.grants().mark_released(key, call.word(2), call.instant());
  tell_of_grant(call, key);
  return extended(call, 1, *lock);
}

constexpr std::size_t kPrefixBytesMin = 16;  // random ones: no other lock's value begins so

// LOCK.RELEASE key prefix PREFIX: whatever is left of a lock (rule D9).
Reply release_prefix(Call& call) {
  if (call.word(2).size() < kPrefixBytesMin)
    return Reply::error_view("ERR a prefix of under 16 bytes may be another's: give the value");
  if (Refusal no = refuse_recovering(call)) return no;
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  if (lock == nullptr || !lock->value().starts_with(call.word(2))) return Reply::integer(0);
  call.node.grants().release(call.word(1), call.instant());
  return Reply::integer(1);
}

// LOCK.RELEASE key value [FINAL | UNDO]. Both leave their mark also where the lock is not, or not
// known to be: a recovering node answers its error, and tops nothing up after its delay either.
Reply release(Call& call) {
  const std::string_view how = call.words.size() == 4 ? call.word(3) : std::string_view();
  if (equals_ignoring_case(how, "PREFIX")) return release_prefix(call);
  const bool is_undo = equals_ignoring_case(how, "UNDO");
  const bool is_final = is_undo || equals_ignoring_case(how, "FINAL");
  if (call.words.size() > 3 && !is_final) return Reply::error_view(kSyntaxError);
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  // Somebody was told that he extended it (rule D5).
  if (is_undo && is_held_by(lock, call.word(2)) && lock->is_extended()) return Reply::integer(0);
  if (is_final) call.node.grants().mark_released(call.word(1), call.word(2), call.instant());
  if (Refusal no = refuse_recovering(call)) return no;
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  if (!is_held_by(lock, call.word(2))) return Reply::integer(0);
  call.node.grants().release(call.word(1), call.instant());
  return Reply::integer(1);
}

// A node that lost its ledger may have accepted a token for a lock that still lives, and cannot
// know that it would do so twice (rule F7).
Refusal refuse_too_early(const Call& call) {
  const Duration early = call.node.grants().admit_from() - call.instant();
  if (call.node.grants().fence().is_fenced() || early <= 0ns) return std::nullopt;
  return Reply::error(fmt::format(
      "ERR too early: locks that this node granted before it lost its ledger may live for {} ms",
      ceil_ms(early)));
}

// LOCK.CONFIRM key value token: accepted if the key still holds the value and no larger number was
// given for it since (rule F3).
Reply confirm(Call& call) {
  std::uint64_t token = 0;
  if (Refusal no = read_token(call.word(3), 1, token)) return no;
  if (Refusal no = refuse_vote(call)) return no;
  if (Refusal no = refuse_recovering(call)) return no;
  if (Refusal no = refuse_too_early(call)) return no;
  Node& node = call.node;
  const Lock* lock = node.locks().find(call.word(1), call.instant());
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  if (!is_held_by(lock, call.word(2)) || token < lock->token()) return Reply::integer(0);
  if (Refusal no = refuse_leap(call, token)) return no;
  const Coverage::Bound bound = node.coverage().cover_token(token, call.instant());
  if (bound == Coverage::Bound::postpone) return Reply::postponed();
  if (bound == Coverage::Bound::disk_refuses) return Reply::integer(0);
  node.grants().set_token(call.word(1), token);
  return Reply::integer(1);
}

// LOCK.HOLDER key [VOTE]: [value, ms, token], with a label [..., label, ms held]. VOTE: a reading
// that is counted with others of the group's (rule D3). Members of two epochs together tell nothing
// of either: those that left may never have heard of a lock that their successors hold.
Reply holder(Call& call) {
  const bool is_vote = call.words.size() == 3 && equals_ignoring_case(call.word(2), "VOTE");
  if (call.words.size() > 2 && !is_vote) return Reply::error_view(kSyntaxError);
  if (Refusal no = is_vote ? refuse_vote(call) : Refusal()) return no;
  if (Refusal no = refuse_recovering(call)) return no;
  const Lock* lock = call.node.locks().find(call.word(1), call.instant());
  if (lock == nullptr) return Reply::null();
  if (is_hash(lock)) return Reply::error_view(kWrongType);
  Reply told = list(Reply::bulk(std::string(lock->value())), ms_left(call, *lock), token_of(*lock));
  const LockLabel label = lock->label();
  if (label.text.empty()) return told;
  told.add(Reply::bulk(std::string(label.text)));
  told.add(Reply::integer(floor_ms(call.instant() - label.since)));
  return told;
}

// Counters of one epoch tell no floor of another: a node that does not know of it yet may lack what
// was given before it (rule F9).
Refusal refuse_other_epoch(const Call& call) {
  return call.node.membership().refuse_other_epoch(call.session.group_epoch);
}

Reply fence_read(Call& call) {
  if (Refusal no = refuse_other_epoch(call)) return no;
  const Fence& fence = call.node.grants().fence();
  return list(number_reply(fence.largest()), Reply::integer(fence.is_fenced() ? 1 : 0));
}

// A node that has its ledger needs no floor, and nobody's word may move its counters (rule F1).
// Coordinators read the beginning of the text: that the node is fenced is what they wanted.
Refusal refuse_fenced(const Call& call) {
  if (!call.node.grants().fence().is_fenced()) return std::nullopt;
  return Reply::error_view(
      "ERR already fenced: an admission is for a node that lost its ledger, and changes no other");
}

// A floor that one poisoned counter has raised must not spread by itself (rules F1, F6).
Refusal refuse_floor(const Call& call, std::uint64_t floor) {
  const std::uint64_t largest = call.node.grants().fence().largest();
  const bool is_meant = call.words.size() == 4 && equals_ignoring_case(call.word(3), "BEYOND");
  if (call.words.size() > 3 && !is_meant) return Reply::error_view(kSyntaxError);
  if (is_meant || floor <= largest || floor - largest <= kLeapMax) return std::nullopt;
  return Reply::error(
      fmt::format("ERR floor {0} is more than {1} above this node's counter: LOCK.FENCE ADMIT {0} "
                  "BEYOND says that it is meant",
                  floor, kLeapMax));
}

// LOCK.FENCE ADMIT floor [BEYOND]: first the bound, then the mark, both durable; then it says
// fenced, with all counters at the floor or above (rule F6). Not before every lock that this node
// granted before it lost its ledger has run out (rule F7). The bound leaves room for the next
// grant's number: a new ledger's first block often ends right at the floor.
Reply fence_admit(Call& call) {
  Node& node = call.node;
  std::uint64_t floor = 0;
  if (Refusal no = read_token(call.word(2), 0, floor)) return no;
  if (Refusal no = refuse_other_epoch(call)) return no;
  if (Refusal no = refuse_fenced(call)) return no;
  if (Refusal no = refuse_floor(call, floor)) return no;
  if (Refusal no = refuse_recovering(call)) return no;
  if (Refusal no = refuse_too_early(call)) return no;
  const std::uint64_t next = std::min(floor + 1, kTokenMax);
  Coverage& coverage = node.coverage();
  for (const bool is_mark : {false, true}) {
    const auto covered = is_mark ? coverage.cover_fenced(call.instant())
                                 : coverage.cover_token(next, call.instant());
    if (covered == Coverage::Bound::postpone) return Reply::postponed();
    if (covered == Coverage::Bound::disk_refuses) {
      return Reply::error_view("ERR not admitted: the ledger's disk refuses");
    }
  }
  node.grants().admit(floor);
  node.client_log().log(ClientLog::Kind::admission, LogLevel::notice,
                        fmt::format("admitted: its fencing tokens count again, above {}", floor),
                        call.instant());
  return Reply::ok();
}

// What may have to wait for the ledger's disk before it is done at all has no place in a script or
// a transaction.
constexpr std::uint32_t kMayBePostponed = kNoScript | kNoMulti;

constexpr Command kQuorumCommands[] = {
    {{"lock.acquire", -5, kWrite | kDenyOom | kFast | kNoScript, 1, 1, 1, "lock", "1.0.0",
      "Takes a lock; answers a number for its fencing token.",
      "key value PX milliseconds [LABEL text]"},
     acquire},
    {{"lock.extend", -5, kWrite | kDenyOom | kFast | kMayBePostponed, 1, 1, 1, "lock", "1.0.0",
      "Extends a lock that holds this value.",
      "key value PX milliseconds [TOKEN token [LABEL text]]"},
     extend},
    {{"lock.replace", -6, kWrite | kDenyOom | kFast | kNoScript, 1, 1, 1, "lock", "1.0.0",
      "Gives a lock that holds this value another one; SHORTEN: also an earlier deadline.",
      "key value new-value PX milliseconds [SHORTEN]"},
     replace},
    {{"lock.release", -3, kWrite | kFast | kNoScript, 1, 1, 1, "lock", "1.0.0",
      "Releases a lock that holds this value; FINAL: for good; UNDO: so, unless it was extended; "
      "PREFIX: one whose value begins with it.",
      "key value [FINAL | UNDO | PREFIX]"},
     release},
    {{"lock.confirm", 4, kWrite | kFast | kMayBePostponed, 1, 1, 1, "lock", "1.0.0",
      "Makes a number the fencing token of a lock that holds this value.", "key value token"},
     confirm},
    {{"lock.holder", -2, kReadOnly | kFast | kNoScript, 1, 1, 1, "lock", "1.0.0",
      "Answers value, milliseconds left and token of a lock; VOTE: to this epoch's coordinators.",
      "key [VOTE]"},
     holder},
    {{"lock.fence", -2, kAdmin | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "A container for commands about the fencing counters.", ""},
     nullptr},
    {{"lock.fence|read", 2, kAdmin | kFast | kNoScript, 0, 0, 0, "lock", "1.0.0",
      "Answers the largest counter, and whether the node is fenced.", ""},
     fence_read},
    {{"lock.fence|admit", -3, kAdmin | kMayBePostponed, 0, 0, 0, "lock", "1.0.0",
      "Raises all counters of a node that lost its ledger, and makes it fenced.", "floor [BEYOND]"},
     fence_admit},
};

}  // namespace

Family quorum_commands() {
  return kQuorumCommands;
}

}  // namespace redlock::server
