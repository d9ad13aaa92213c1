// WaitingClients: who waits for which lock at this door:
// LOCK.ACQUIRE … WAIT and LOCK.WAIT (rule D10).
//
// First come, first served. Of those that want a lock only the first asks the nodes, and each grant
// costs one attempt: it waits until a quorum says that the lock is free (Group::wait_for_free), or
// until this door itself releases it; then it tries, and the others wait on.
//
//   waiting.add(session, {…});                     // behind those that wait already
//   waiting.act(now, holders_now);                 // once a turn: begins, tells, times out
//   for (auto& told : waiting.take_told()) …
//
// At the nodes the line stands as one, with the ticket of its first (rule Q7): of the first who
// wants the lock, or else the smallest of those who only want to be told, which clients may show
// (LOCK.WAIT … AT). What the nodes say is told to all of these, in the order of their tickets. What
// this door releases itself its next may try for at once, behind the release on the same links,
// which saves a round trip; but no more than kOwnTurnsMax times in a row: then the nodes say who is
// first, so that a door whose line never ends keeps a lock from nobody else.
//
// The line keeps its place while its first tries: a node that gets the key back meanwhile calls it,
// and not the next.
//
// What a turn costs hardly depends on how many wait: sessions and deadlines have indices, and each
// act() does a part, the next goes on. What somebody wants to take comes before what is watched.
//
// Thread safety: none. Invariant: each waiter stands in its line and in both indices.
#pragma once

#include "base/time.h"
#include "coordinator/group/group.h"
#include "protocol/session/session.h"
#include "server/notify/waiters.h"
#include "server/settings/piece.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::coordinator {

// All clients together, each of which may wait for many keys by PUSH.
inline constexpr std::size_t kWaitersMax = 100'000;
// Keys that are waited for. At a node they are waits of one link, which may have so many: for each
// beyond them the door would have to read all nodes again and again.
inline constexpr std::size_t kLinesMax = server::kWaitsPerSessionMax;
// A wait by PUSH begins no line when there are so many. One client may have thousands of them, and
// who waits to take a lock has one alone: the other half is for him.
inline constexpr std::size_t kPushLinesMax = kLinesMax / 2;

// The names of all these keys together, of which lines by PUSH begin half: a line has its name five
// times here, and a node has to keep it, too. With the longest names there are a hundred lines.
inline constexpr std::size_t kLineBytesMax = 8 * 1024 * 1024;
// The names that all who wait have given.
inline constexpr std::size_t kWaiterBytesMax = 8 * kLineBytesMax;

inline constexpr unsigned kOwnTurnsMax = 8;
// Lines that one act() looks at, of either kind: each of them costs up to two messages to each
// node, some ten microseconds.
inline constexpr std::size_t kLinesAtOnce = 64;
// Clients of either kind of lines that one act() tells of free locks.
inline constexpr std::size_t kToldAtOnce = 256;
// Waits that one act() ends; of more than 4,096 a sixteenth, so that those that are over do not
// pile up, however many come.
inline constexpr std::size_t kEndsAtOnce = 256;
inline constexpr std::size_t kEndsPart = 16;

class WaitingClients {
 public:
  using SessionId = protocol::Session::Id;
  enum class Form : std::uint8_t {
    acquire,   // wants the lock: its turn comes as Told::try_now
    blocking,  // LOCK.WAIT: its session waits
    push,      // LOCK.WAIT … PUSH
  };
  enum class Told : std::uint8_t {
    try_now,
    free,
    over,
    over_behind,  // over for one who is not the first of those who want the lock
  };
  struct News {
    SessionId session;
    Form form;
    std::string key;
    Told told;
  };

  explicit WaitingClients(Group& group) : group_(group) {}
  ~WaitingClients();
  WaitingClients(const WaitingClients&) = delete;
  WaitingClients& operator=(const WaitingClients&) = delete;

  // The same session's push for the same key gets the new deadline. deadline: on the sessions'
  // clock. shown: the ticket that the client has; nullopt: it waits since now.
  // False: too many wait, or for too many keys.
  bool add(SessionId session, Form form, const std::string& key, Instant deadline,
           std::optional<WaitTicket> shown = {});
  void cancel_push(SessionId session, const std::string& key);
  // The session is gone, or begins anew; of its waits so many at most. Returns how many there were.
  std::size_t forget(SessionId session, std::size_t at_most = server::kAllAtOnce);

  // Of an attempt by who was told try_now: it has the lock, or failed for good, and leaves the
  // line; or another has it, and it stands first again, as long as its deadline lets it.
  // has_failed: nobody has it, as far as is known, but it could not be got.
  void leave(SessionId session, const std::string& key);
  void wait_on(SessionId session, const std::string& key, bool has_failed);
  // This door releases the lock: the first may try behind that, on the same links.
  void note_release(const std::string& key);

  // Whether somebody waits to take this lock, and may have it: not whose last attempt failed.
  bool has_takers(const std::string& key) const;
  std::size_t count() const { return waiters_.size(); }
  std::size_t count_of(SessionId session) const;

  void act(Now now, Instant holders_now);
  bool has_work() const { return !wanted_.empty() || !watched_.empty() || !told_.empty(); }
  std::optional<Instant> next_deadline() const;
  std::vector<News> take_told() { return std::exchange(told_, {}); }
  // All are told that it is over, but for those who try just now: each is told by its attempt.
  void end_all();

 private:
  using Number = std::uint64_t;  // the order of coming
  struct Waiter {
    SessionId session;
    Form form;
    std::string key;
    Instant deadline;
    std::optional<WaitTicket> ticket;
    std::pair<WaitTicket, Number> place;  // among the watchers of its line
    bool is_overdue = false;              // while it tries
  };
  struct Line {
    std::set<Number> takers = {};  // acquire, the first first
    // blocking and push, the smallest ticket first
    std::set<std::pair<WaitTicket, Number>> watchers = {};
    std::optional<OperationId> watch = {};  // or a reading
    WaitPlace place = kNoPlace;             // of the watch that said that it is free
    std::optional<WaitTicket> shown = {};   // to the nodes, of its first by then
    bool is_trying = false;                 // the first taker, just now
    bool seems_free = false;                // the nodes said so, or this door released it
    bool tells_free = false;                // to watchers, of whom some are told already
    bool is_own_release = false;            // seems_free: by this door
    unsigned own_turns = 0;                 // in a row
    bool may_look = false;                  // the nodes cannot tell: it is time to look
    bool has_failed = false;                // the last attempt, though nobody has it: to be said
    bool is_failing = false;                // the same of its first, until another attempt
    bool stands_in_wanted = false;
    bool stands_in_watched = false;

    Number first() const { return takers.empty() ? watchers.begin()->second : *takers.begin(); }
  };

  bool has_room_for(Form form, const std::string& key) const;
  std::optional<Number> find(SessionId session, Form form, const std::string& key) const;
  bool is_trying(Number number) const;
  void remove(Number number);
  void tell(Number number, Told told);
  void time_out(Instant now);
  bool has_room() const { return told_.size() < told_max_; }
  void look_later(const std::string& key, Line& line);
  void look_at(const std::string& key, Line& line, Instant holders_now);
  void stand_back(const std::string& key, Line& line, Instant holders_now);
  bool may_try(Line& line, bool is_free, bool may_look);
  void watch(const std::string& key, Line& line, Instant holders_now);
  void read(const std::string& key, Line& line, Instant holders_now);

  Group& group_;
  std::map<Number, Waiter> waiters_;
  // Of each the number of its wait for a key in a form: there is one.
  std::unordered_map<SessionId, std::map<std::pair<Form, std::string>, Number>> by_session_;
  std::set<std::pair<Instant, Number>> by_deadline_;
  std::unordered_map<std::string, Line> lines_;
  std::size_t waiter_bytes_ = 0;  // of the names of waiters_, and of lines_
  std::size_t line_bytes_ = 0;
  // Lines to look at, in the order in which something happened to them: those with takers, and
  // those without.
  std::deque<std::string> wanted_;
  std::deque<std::string> watched_;
  std::vector<News> told_;
  std::size_t told_max_ = 0;
  Number last_number_ = 0;
};

}  // namespace redlock::coordinator
