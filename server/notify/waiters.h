// Waiters: who waits for which key until when (LOCK.WAIT, rule Q7).
//
//   waiters.arm({session, Form::push, "printer", deadline});
//   …                                   // a command, a script, a turn of expiry
//   waiters.look_at_given_up(now);      // of the keys that this gave up, is one free?
//   waiters.time_out(now);              // at next_deadline()
//   for (const Waiters::Wake& wake : waiters.take_wakes()) …
//
// None is lost. A key's end is noticed where it happens: while somebody waits, the lock table keeps
// the hash of each key that it gives up, by a release, by expiry on access or by the wheel. They
// are looked at when what gave them up is over, as it may have taken the key again: then it stays
// waited for. A hash that two keys share costs a look, never a wake. FLUSHALL may wake any number:
// so many are woken in pieces, between which others are heard, and each key is looked at when it is
// its turn.
//
// Wakes are kept until they are taken, so that a session is not written to from inside the command
// of another.
//
// Thread safety: none. Invariant: each wait stands in waits_ and in each of the three indices;
// the table notes what it gives up as long as there is one.
#pragma once

#include "base/time.h"
#include "protocol/session/session.h"
#include "server/locks/lock_table.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::server {

// One connection waits for so many keys at most: a front door has one link to a node, and waits for
// no more keys than it has clients (maxclients, 10,000).
inline constexpr std::size_t kWaitsPerSessionMax = 10'000;
// Whoever waits for longer asks again: a peer that is gone without a word costs its place for so
// long at most, and a typing error in the unit is noticed.
inline constexpr Duration kWaitMax = 1h;

class Waiters {
 public:
  using SessionId = protocol::Session::Id;
  enum class Form : std::uint8_t { blocking, push };

  struct Wait {
    SessionId session;
    Form form;
    std::string key;
    Instant deadline;
    protocol::Session* client = nullptr;  // whose kept_bytes count it; nullptr: nobody's
    std::uint32_t hash = 0;               // of the key; arm() sees to it
  };
  // What a waiter is told: its key is free, or the time is over.
  struct Wake {
    SessionId session;
    Form form;
    std::string key;
    bool is_free;
  };

  // The table outlives the waiters.
  explicit Waiters(LockLookup& locks) : locks_(locks) {}
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // The key is held (as find() just told). The same session's wait of the same form for the same
  // key gets the new deadline. False: the session waits for kWaitsPerSessionMax keys already.
  [[nodiscard]] bool arm(Wait wait);
  // Nothing is told any more, also not what was to be told already.
  void cancel(SessionId session, Form form, std::string_view key);
  // The session is gone, or begins anew; nothing is told to it any more.
  void forget(SessionId session);

  // After each command, script and turn of expiry. What is more than a piece waits for go_on().
  void look_at_given_up(Instant now) {
    if (locks_.notes().has_given_up()) look_again(now);
  }
  // Once a turn: the next piece, of those whose keys were given up and of those whose time is over.
  void go_on(Instant now);
  bool has_more() const { return !given_up_.empty(); }
  std::optional<Instant> next_deadline() const;

  bool has_wakes() const { return !wakes_.empty(); }
  // In the order in which the waits of a key were armed.
  std::vector<Wake> take_wakes() { return std::exchange(wakes_, {}); }

  std::size_t count() const { return waits_.size(); }
  std::size_t count_of(SessionId session) const;
  // About what the waits take, for maxmemory.
  std::size_t bytes() const;

 private:
  using Number = std::uint64_t;  // counts up with each arming: the order in which waiters are woken
  // By form and key; the views look into waits_.
  using OfSession = std::map<std::pair<Form, std::string_view>, Number>;

  void look_again(Instant now);
  void take_given_up();
  void look_at_some(Instant now, std::size_t steps_max);
  bool wake_all_of(std::uint32_t hash, Instant now, std::size_t& steps, std::size_t steps_max);
  bool is_free(const Wait& wait, Instant now) { return locks_.find(wait.key, now) == nullptr; }
  void wake(Number number, bool is_free);
  Wait remove(Number number);

  LockLookup& locks_;
  std::map<Number, Wait> waits_;
  std::map<SessionId, OfSession> by_session_;
  std::set<std::pair<std::uint32_t, Number>> by_key_;  // by its hash
  std::set<std::pair<Instant, Number>> by_deadline_;
  Number last_number_ = 0;
  std::size_t key_bytes_ = 0;
  std::vector<std::uint32_t> new_given_up_;  // kept for its memory
  std::deque<std::uint32_t> given_up_;       // to be looked at, in their order
  std::vector<Wake> wakes_;
};

// Writes ["lock.free", key, 1 or 0] to it. Nothing is pushed to a session that went back to RESP2:
// it would take it for a reply.
void push_wake(protocol::Session& session, std::string key, bool is_free);

}  // namespace redlock::server
