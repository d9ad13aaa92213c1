// LineWatch: whether a node calls those who wait for a lock in time (rule Q7), as whoever waits can
// see it: from what the node is sent, what it sends, and which locks it has.
//
//   untold   a key is free, somebody waits for it, and nobody is called in time. That is at once,
//            where nobody was called before, or who was has gone, cancelled, or taken the lock; and
//            else when wake-next-after is over for the last of those who were
//
// So nobody in the line of a free key is called later than its place times wake-next-after. What is
// judged is the time between two calls, which adds up to that, and not who is called: rule Q7
// promises the smallest ticket for most calls alone, and there is no telling which.
//
// A node has kMargin beyond that: a lock's end is noticed with a tick of the expiry wheel (262 µs).
// And it has the rest of the turn in which the time comes and the turn that calls, as the message
// goes out when that ends; on a clock that is faster by the drift bound that is less than three of
// the longest turns. A node that is paused, down or that stops calls nobody, and has this time anew
// when it goes on.
//
// Time is the node's own monotonic clock, which wake-next-after is counted on. A wait begins with
// the OK to its LOCK.WAIT, and ends with its push; it has to have one by its timeout, too.
#pragma once

#include "server/node/node.h"
#include "tests/simulation/network.h"
#include "tests/simulation/referee.h"
#include "tests/simulation/scenario.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class LineWatch {
 public:
  static constexpr Duration kMargin = 1ms;

  LineWatch(const Scenario& scenario, Referee& referee, unsigned node)
      : scenario_(scenario), referee_(referee), node_(node) {}

  // The process has ended, or hears nobody any more: nobody stands in its lines.
  void clear();
  void on_requests(ConnectionId connection, std::string_view bytes);
  void on_replies(ConnectionId connection, std::string_view bytes, Instant now);
  // The node has forgotten the connection's session.
  void on_close(ConnectionId connection, Instant now);
  // All that a turn wrote has gone to on_replies().
  void end_turn(const server::Node& node, Instant now);
  void note_pause_end(Instant now) { able_since_ = now; }

  // Before each turn, and now and then: the node could have told until now.
  void check(Instant now);

  // Who was called, and how many of these had somebody behind them.
  std::uint64_t called() const { return called_; }
  std::uint64_t called_before_others() const { return called_before_others_; }

 private:
  struct Question {
    enum class What : std::uint8_t { other, wait, cancel, acquire };
    What what = What::other;
    std::string key = {};
    Duration timeout = {};
  };
  struct Peer {
    std::string requests = {}, replies = {};  // what has come of the next
    std::deque<Question> questions = {};
  };
  struct Wait {
    Instant since;
    Instant deadline;
  };
  struct Line {
    std::map<ConnectionId, Wait> waits = {};
    std::map<ConnectionId, Instant> called = {};  // who has time for itself, since when
    std::vector<ConnectionId> told = {};          // by this turn
    Instant free_since = kNever;                  // in the future: when its lock is over
    Instant given_way_at = {};                    // when one of the called did its part, or went
  };

  void on_reply(ConnectionId connection, Question question, const protocol::Reply& reply,
                Instant now);
  void on_push(ConnectionId connection, const protocol::Reply& push);
  void give_way(const std::string& key, ConnectionId connection, Instant now);
  void note_calls(Line& line, Instant now);
  Duration next_after() const { return server::Settings().wake_next_after; }
  Duration time_to_tell() const { return kMargin + 3 * scenario_.turn_max; }
  void check_line(const std::string& key, const Line& line, Instant now);

  const Scenario& scenario_;
  Referee& referee_;
  const unsigned node_;
  std::map<ConnectionId, Peer> peers_;
  std::map<std::string, Line> lines_;  // those in which somebody waits
  Instant able_since_{};
  std::uint64_t called_ = 0;
  std::uint64_t called_before_others_ = 0;
};

}  // namespace redlock::simulation
