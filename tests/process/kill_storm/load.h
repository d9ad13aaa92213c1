// What busy clients of one node do: every way to grant, extend and release a lock, at random, and
// the record of it. At most one command is under way for a key, so the record never has
// to guess an order.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "protocol/resp/reply.h"
#include "tests/process/kill_storm/record.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace redlock::kill_storm {

// The evidence that a check needs about a kill, from the record.
struct AtTheKill {
  Instant certain_until;  // until then a lock was certainly live (the epoch: none)
  // The latest deadline of a lock that may have been live in the window; nullopt: there was none.
  std::optional<Instant> possible_until;
};

class Load {
 public:
  struct Ttls {
    Duration shortest{};
    Duration longest{};
  };

  // name: the keys' first part.
  Load(std::string name, std::uint64_t seed);

  // One more command at random: its words. Empty: every key has one under way.
  using Words = std::vector<std::string>;
  Words change(const Ttls& ttls, Instant sent);
  // Reads alone, which change nothing.
  Words look(Instant sent);
  // Releases one of the locks that may be live; empty when none is.
  Words release_one(Instant sent);
  // Tries for a lock of the key whose old one lasts longest: what a recovering node must refuse.
  Words probe(Instant sent);

  // An answer to the oldest command under way. Returns whether it granted a lock.
  bool answer(const protocol::Reply& reply, Instant answered);
  std::size_t under_way() const { return under_way_.size(); }
  // When the oldest command under way was sent. REQUIRES: under_way() > 0.
  Instant oldest_sent() const { return under_way_.front().change.sent; }

  // The node was killed. What has no answer is in doubt; all locks are lost.
  void killed(Instant dead);
  AtTheKill at_the_kill(Instant window_begins) const;

  // What was seen and must not be, for people; takes it.
  std::vector<std::string> take_defects();
  std::uint64_t grants() const { return grants_; }

 private:
  static constexpr std::size_t kKeys = 32;

  // What a positive answer looks like.
  enum class Yes { ok, one, list, the_error, no_matter };

  struct Key {
    std::string name;
    std::string value;
    LockRecord lock;
    std::int64_t last_proposal = 0;
    bool under_way = false;
  };
  struct Command {
    std::size_t key = 0;
    Change change;
    Yes yes{};
    bool is_grant = false;
    bool must_hold = false;  // an own lock, so that "no" before its deadline is a defect
  };

  std::optional<std::size_t> idle_key();
  Duration ttl(const Ttls& ttls);
  Words grant(std::size_t key, Duration ttl, Instant sent);
  Words grant_anyway(std::size_t key, Duration ttl, Instant sent);
  Words extend(std::size_t key, Duration ttl, Instant sent);
  Words release(std::size_t key, Instant sent);
  Words begin(Command command, Words words);
  void done(Key& key, const Command& command, const protocol::Reply& reply, Instant answered);
  void check_grant(const Key& key, const Command& command, Instant answered);
  void check_refusal(const Key& key, const Command& command, Instant answered);
  void check_proposal(Key& key, const protocol::Reply& reply);

  std::vector<Key> keys_;
  Random random_;
  std::deque<Command> under_way_;
  Endings endings_;
  std::uint64_t values_ = 0;
  std::uint64_t grants_ = 0;
  std::vector<std::string> defects_;
};

}  // namespace redlock::kill_storm
