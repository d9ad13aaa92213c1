// NaiveUser: a program with single-node lock code that was given the address of a front door, or of
// several. It knows nothing of drift, validity or quorums: from when it reads its OK it relies on
// the lock for the TTL that it asked for, by its own clock.
//
// It sends the real bytes of recipes and libraries, each request through any of the doors, gives up
// waiting for answers and connections, and asks again with the value that it had. In some scenarios
// all users have the same value: then no request of theirs may come late, as it would pass the
// other's compare (with one Redis, too). Those that may are told to the referee.
#pragma once

#include "base/random.h"
#include "protocol/resp/reply_parser.h"
#include "tests/simulation/doors/naive_forms.h"
#include "tests/simulation/host.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class NaiveUser final : public ClientEnd {
 public:
  // number: from 1, among the users of doors. `front`: the network to these.
  NaiveUser(const Surroundings& world, Network& front, unsigned number);

  void use(const Event& event);
  // Its connections to the doors break.
  void leave();
  // It wants nothing more, and lets go of what it has.
  void stop_wanting();
  // Takes a free lock through this door, by this form, and releases it. done: whether it was got.
  void probe(unsigned door, unsigned form, Duration ttl, std::function<void(bool was_got)> done);
  std::uint64_t acquired() const { return acquired_; }
  std::uint64_t extended() const { return extended_; }

  // ClientEnd
  void on_connected(ConnectionId connection) override;
  void on_bytes(ConnectionId connection, const std::string& bytes) override;
  void on_end(ConnectionId connection, std::string_view reason) override;

 private:
  // reply: nullptr when the connection ended before.
  using Answered = std::function<void(const protocol::Reply* reply)>;
  struct Question {
    std::uint64_t number;
    std::size_t replies;  // that are still to come
    Answered answered;
  };
  struct Connection {
    std::optional<ConnectionId> id;
    bool is_made = false;
    std::string unread;
    std::deque<Question> questions;
  };
  // A lock that is wanted, or held.
  struct Want {
    Event event;
    std::string value;
    TrueTime give_up;
    TrueTime asked{};  // the attempt that is under way
    TrueTime release_at = kEndOfTime;
    Instant valid_until = {};
    std::optional<Referee::HoldId> hold = {};
    std::function<void(bool was_got)> probed = {};
    bool is_extending = false;
    bool is_unsure = false;    // the last attempt was not answered, or with an error
    unsigned requests = 0;     // that have asked for the lock with this value, or have extended it
    std::int64_t counted = 0;  // how often that was done, as it was told last
    std::uint64_t looks = 0;   // what was scheduled before the last one is void
  };
  using WantId = std::uint64_t;

  Instant now() const { return clock_.at(agenda_.now()); }
  const NaiveForm& naive_form_of(const Want& want) const { return naive_forms()[want.event.form]; }
  const Form& form_of(const Want& want) const { return naive_form_of(want).form; }
  std::string key_of(const Event& event) const;
  unsigned door_for(const Want& want);
  std::string new_value();
  void send(const Want& want, const Requests& requests, Duration ttl, Answered answered);
  // longest: until it is answered, beside what every request takes.
  void send(unsigned door, const Want& want, const Requests& requests, Duration ttl,
            Answered answered, Duration longest = 0ns);
  void give_up_on(std::size_t index, std::uint64_t question);
  void drop(Connection& connection);
  void look_later(WantId id, Duration wait, void (NaiveUser::*what)(WantId id));

  void take(WantId id);
  void move_flag(WantId id);
  void raise_or_lower(const Event& event, std::uint64_t what);
  Duration some_time(Duration most);
  void ask(WantId id);
  void watch(WantId id);
  void on_taken(WantId id, unsigned door, const protocol::Reply* reply);
  void rely_on(WantId id, Duration ttl, Token token);
  void look_after(WantId id);
  void extend(WantId id);
  void on_extended(WantId id, Duration ttl, TrueTime sent, const protocol::Reply* reply);
  void count_beside(WantId id);
  void check_count(Want& want, const protocol::Reply& reply);
  void read(WantId id);
  void let_go(WantId id, bool releases);
  void release(const Want& want);
  bool would_come_late(const Want& want) const;
  std::function<void()> note_loose(const Want& want);
  void tell(std::string_view what);

  const Surroundings world_;
  Network& front_;
  Agenda& agenda_;
  const unsigned number_;  // for people, and for the referee: behind all others
  const unsigned own_;     // as its network knows it
  Random random_;
  SkewedClock clock_;
  // By door, from 0; then, again by door, those for what may be answered late.
  std::vector<Connection> connections_;
  std::map<WantId, Want> wants_;
  WantId last_want_ = 0;
  std::uint64_t last_question_ = 0;
  bool wants_more_ = true;
  std::uint64_t acquired_ = 0;
  std::uint64_t extended_ = 0;
};

}  // namespace redlock::simulation
