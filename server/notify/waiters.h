// Waiters: who waits for which key until when, and who is called first (LOCK.WAIT, rule Q7).
//
//   waiters.arm({session, Form::push, "printer", deadline, ticket}, is_free, now);
//   …                                   // a command, a script, a turn of expiry
//   waiters.look(now);                  // of the keys that were given up, is one free?
//   waiters.go_on(now);                 // at next_deadline()
//   for (const Waiters::Wake& wake : waiters.take_wakes()) …
//
// Those who wait for one key stand in its line, the smallest ticket first. One is called when the
// key is free, and has a short time (wake-next-after) for itself:
//
//     held --given up--> free --calls the first--> called --takes it--> held
//                          ^                         |
//                          '--- its time is over ----'   or it goes away, or cancels: at once
//
// Nobody else is called within that time, whatever takes the key and gives it up meanwhile: an
// attempt that fails for want of a quorum does so too, and its coordinator waits anew with the
// ticket it had. When the called one has taken the key, the next end calls the next. A wait is used
// up by its call, so one that is stopped costs the line one such time, and no more.
//
// Tickets may be forged, so they are not trusted for long: every kCallsByTicket + 1st call of a key
// that stays free goes to whoever stands longest by this node's own count, which nobody can forge.
// However many small tickets come again and again, each of the others is called in its turn.
//
// None is lost. A key's end is noted where it happens: while somebody waits, the lock table keeps
// the hash of each key that it gives up, by a release, by expiry on access or by the wheel. They
// are looked at when the turn that gave them up ends: a key that was taken again stays waited for,
// and of those who ask within one turn the smallest ticket is first. A hash that two keys share
// costs a look, never a wake. FLUSHALL may free any number of keys: they are looked at in pieces,
// between which others are heard.
//
// Wakes are kept until they are taken, so that a session is not written to from inside the command
// of another. They are hints: a lock is taken by whoever comes, whether called or not.
//
// Thread safety: none. Invariant: each wait stands in waits_, in its line's two orders, among its
// session's and in by_deadline_; a line has a wait. The table notes what it gives up as long as
// there is one, and what is taken as long as somebody is called.
#pragma once

#include "base/time.h"
#include "base/wait_ticket.h"
#include "protocol/session/session.h"
#include "server/locks/lock_table.h"
#include "server/settings/piece.h"

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

// One connection waits for so many keys at most. A front door has one link to a node, and no more
// lines than that (kLinesMax).
inline constexpr std::size_t kWaitsPerSessionMax = 10'000;
// Whoever waits for longer asks again: a peer that is gone without a word costs its place for so
// long at most, and a typing error in the unit is noticed.
inline constexpr Duration kWaitMax = 1h;
// Of a key that stays free, so many calls in a row go by tickets.
inline constexpr unsigned kCallsByTicket = 3;

class Waiters {
 public:
  using SessionId = protocol::Session::Id;
  enum class Form : std::uint8_t { blocking, push };

  struct Wait {
    SessionId session;
    Form form;
    std::string key;
    Instant deadline;
    WaitTicket ticket;
    protocol::Session* client = nullptr;  // whose kept_bytes count it; nullptr: nobody's
  };
  // What a waiter is told: its key is free, or the time is over.
  struct Wake {
    SessionId session;
    Form form;
    std::string key;
    bool is_free;
  };
  enum class Arming : std::uint8_t {
    waits,    // a Wake will come
    called,   // the key is free, and it is the caller's turn: there is nothing to wait for
    refused,  // the session waits for kWaitsPerSessionMax keys already
  };

  // Both outlive the waiters; next_after: how long who is called has for itself.
  Waiters(LockLookup& locks, const Duration& next_after) : locks_(locks), next_after_(next_after) {}
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  // is_free: of the key, as find() just told. The same session's wait of the same form for the same
  // key gets the new deadline and ticket, and keeps its place by this node's own count.
  Arming arm(Wait wait, bool is_free, Instant now);
  // Nothing is told any more, also not what was to be told already; if it was called, the next is.
  void cancel(SessionId session, Form form, std::string_view key);
  // The session is gone, or begins anew; the same for so many of the keys that it waited for, or
  // was called for; returns how many there were.
  std::size_t forget(SessionId session, std::size_t at_most = kAllAtOnce);

  // After each command that took keys which were free: whoever was called has done its part.
  void note_taken(SessionId by);
  // At the end of each turn. What is more than a piece waits for go_on().
  void look(Instant now);
  // Once a turn: the next piece, of those whose keys were given up, of those whose turn it is as
  // others let theirs pass, and of those whose time is over.
  void go_on(Instant now);
  bool has_more() const { return !to_look_at_.empty(); }
  std::optional<Instant> next_deadline() const;

  bool has_wakes() const { return !wakes_.empty(); }
  std::vector<Wake> take_wakes() { return std::exchange(wakes_, {}); }

  std::size_t count() const { return waits_.size(); }
  std::size_t count_of(SessionId session) const;
  struct Summary {
    std::size_t lines = 0;             // keys that somebody waits for
    std::size_t longest = 0;           // how many wait for one key
    std::optional<WaitTicket> oldest;  // the smallest
    // By that, which may be forged; 0: nobody waits.
    Duration oldest_wait(WallTime now) const { return oldest ? age_of(*oldest, now) : Duration(0); }
  };
  // Takes as long as there are lines.
  Summary summary() const;
  // About what the waits take, for maxmemory.
  std::size_t bytes() const;

 private:
  // Counts up with each wait: the order of coming.
  using Number = std::uint64_t;
  struct Call {
    SessionId session;
    Form form;
    Instant until;
  };
  struct Line {
    Number id = 0;
    std::set<std::pair<WaitTicket, Number>> by_ticket = {};
    std::set<Number> by_coming = {};
    std::optional<Call> called = {};  // the last who was; in force until its `until`
    unsigned calls = 0;               // since the key's last end
    Instant due = kNever;             // its entry in due_
  };
  using Lines = std::map<std::pair<std::uint32_t, std::string>, Line>;  // by the key's hash
  using LinePlace = Lines::iterator;
  struct Standing {
    SessionId session;
    Form form;
    Instant deadline;
    WaitTicket ticket;
    protocol::Session* client;
    LinePlace line;
  };
  struct OfSession {
    // By form and key; the views look into lines_.
    std::map<std::pair<Form, std::string_view>, Number> waits;
    std::map<Number, LinePlace> called_in;  // by the line's id
  };
  struct Look {
    std::uint32_t hash;
    bool is_end;  // the key was given up; else its line has another reason
  };

  Number find(SessionId session, Form form, std::string_view key) const;  // 0: there is none
  LinePlace line_of(std::string_view key);
  bool is_turn(const Wait& wait, Number known, Instant now);
  void stand(Wait wait);
  void change(Number number, const Wait& wait);
  void drop_wakes(SessionId session, Form form, std::string_view key);

  void take_ends();
  void look_at_some(Instant now, std::size_t steps_max);
  void look_at(const Look& look, Instant now, std::size_t& steps);
  void call_due(Instant now);
  void call_next(LinePlace line, Instant now);
  // Whether the next call goes to whoever stands longest.
  static bool is_by_coming(const Line& line) {
    return line.calls % (kCallsByTicket + 1) == kCallsByTicket;
  }
  static Number first_of(const Line& line);
  void set_called(LinePlace line, const Call& call);
  void clear_called(LinePlace line);
  void set_due(LinePlace line, Instant due);

  void wake(Number number, bool is_free);
  Standing remove(Number number);
  void forget_if_empty(SessionId session);

  LockLookup& locks_;
  const Duration& next_after_;
  std::map<Number, Standing> waits_;
  std::map<SessionId, OfSession> by_session_;
  Lines lines_;
  std::set<std::pair<Instant, Number>> by_deadline_;
  std::map<std::pair<Instant, Number>, LinePlace> due_;  // when a called one's time is over
  std::size_t lines_with_called_ = 0;
  Number last_number_ = 0;  // of waits and lines
  std::size_t key_bytes_ = 0;
  std::vector<std::uint32_t> new_hashes_;  // kept for its memory
  std::deque<Look> to_look_at_;            // in their order
  std::size_t left_over_ = 0;              // of them, by the last piece
  std::vector<Wake> wakes_;
};

// Writes ["lock.free", key, 1 or 0] to it. Nothing is pushed to a session that went back to RESP2:
// it would take it for a reply.
void push_wake(protocol::Session& session, std::string key, bool is_free);

}  // namespace redlock::server
