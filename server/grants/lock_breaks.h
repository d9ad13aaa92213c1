// LockBreaks: what becomes of a held lock under a command that does not name its value.
//
// A lock is broken when it ends before its deadline, gets another value or an earlier deadline by
// who says nothing of its holder: DEL, SET, EXPIRE to an earlier time. Redis does as it is told,
// and so does a node; with hold-strict yes it refuses (docs/security.md has the argument). Every
// command that may break a lock asks here, for each key, before it changes anything:
//
//   if (Refusal no = breaks.refuse(key, Break::ends, by, now)) return no;
//
// Nobody asks for a command that compares: LOCK.*, SET … IFEQ, DELIFEQ, DELEX … IFEQ. Who takes
// what is free breaks nothing, as a lock that ran out is not held any more. A key without a
// deadline counts as held.
//
// The audit hears of what is refused, and of what is done to another's lock: one that neither this
// connection took, nor whose value is among the words that the client has sent.
//
// Pure. Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/resp/refusal.h"
#include "server/grants/takers.h"
#include "server/locks/lock_table.h"
#include "server/observe/audit.h"
#include "server/settings/settings.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

enum class Break { ends, overwrites, shortens };

// For the audit: a lock that a command has broken.
struct BrokenLock {
  std::string key;
  std::uint64_t token = 0;  // which lock of this key, as Takers know it
  Break how = Break::ends;
  std::string command;  // as in its CommandSpec
  std::string holder;   // Audit::value_hash
  std::string label;
  bool is_certain = true;  // false: too few nodes of a front door have said so
};

// The command that would break a lock.
struct Breaker {
  std::string_view command;  // as in its CommandSpec
  Audit::Who who;            // whose it is; of a script: who runs it
  // What the client has sent of it: the command's words, or the script's arguments.
  std::span<const std::string_view> words;
  // Called by a script that changes a lock under this key only where its arguments name the value.
  bool compares = false;
  // Called by one that an operator has loaded.
  bool is_of_trusted_script = false;
};

class LockBreaks {
 public:
  // All outlive it.
  LockBreaks(const Settings& settings, LockLookup& locks, Audit& audit)
      : settings_(settings), locks_(locks), audit_(audit) {}
  LockBreaks(const LockBreaks&) = delete;
  LockBreaks& operator=(const LockBreaks&) = delete;

  // Whether anybody wants to hear of breaks: if not, nobody needs to ask.
  bool are_watched() const { return settings_.hold_strict || audit_.is_on(); }
  bool are_refused() const { return settings_.hold_strict; }

  // Nothing is refused if there is no such lock.
  protocol::Refusal refuse(std::string_view key, Break how, const Breaker& by, Now now);
  // The same of a command that would end all locks at once.
  protocol::Refusal refuse_all(const Breaker& by, Now now);

  // A node whose commands may come to nothing, as that of a front door runs them: what they would
  // break of others is kept, and told by whoever knows what came of it.
  void keep_broken() { keeps_ = true; }
  std::vector<BrokenLock> take_broken() { return std::exchange(kept_, {}); }
  void tell(const BrokenLock& lock, const Audit::Who& who, Now now);

  // For the audit: the client has taken this lock.
  void note_taker(const Lock& lock, protocol::Session::Id client) {
    takers_.note(locks_.hash_of(lock.key()), lock.token(), client);
  }

 private:
  bool is_any_held(Instant now) const;
  bool is_refused(const Breaker& by) const {
    return settings_.hold_strict && !by.is_of_trusted_script;
  }
  bool is_own(const Lock& lock, const Breaker& by) const;
  void tell(const Lock& lock, Break how, const Breaker& by, Now now);
  void keep(const Lock& lock, Break how, const Breaker& by);

  const Settings& settings_;
  LockLookup& locks_;
  Audit& audit_;
  Takers takers_;
  bool keeps_ = false;
  std::vector<BrokenLock> kept_;
};

// How a command asks. Templates, as what a call is stands above.
template <class Call>
protocol::Refusal refuse_break(const Call& call, std::string_view key, Break how) {
  LockBreaks& breaks = call.node.breaks();
  if (!breaks.are_watched()) [[likely]]
    return {};
  return breaks.refuse(key, how, call.node.breaker_of(call, key), call.now);
}

// Of a command that sets the deadline of this lock. Deadlines are told apart to the millisecond, as
// with EXPIRE's GT: where breaks are refused, one that is earlier by less stays where it is.
template <class Call>
protocol::Refusal refuse_shortening(const Call& call, const Lock& lock, Instant& deadline) {
  constexpr Duration kSameDeadline = 500us;
  const LockBreaks& breaks = call.node.breaks();
  if (!breaks.are_watched() || deadline >= lock.deadline()) return {};
  if (deadline <= call.instant()) return refuse_break(call, lock.key(), Break::ends);
  const bool is_same = lock.has_deadline() && lock.deadline() - deadline < kSameDeadline;
  if (!is_same) return refuse_break(call, lock.key(), Break::shortens);
  if (breaks.are_refused()) deadline = lock.deadline();
  return {};
}

}  // namespace redlock::server
