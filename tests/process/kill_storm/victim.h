// One node that is killed again and again: started, looked at, loaded, killed, at random instants.
//
// What is checked after each kill, with the bounds of record.h:
//
//   1. no lock is granted again before its deadline (Load);
//   2. the end of the delay, as INFO tells it, is not before the latest deadline of a lock that was
//      certainly live at the kill;
//   3. it is at most 20 ms after the latest deadline of a lock that may have been live at any time
//      in the window: the 50 ms before the kill (a node lowers what it recorded at most 20 ms after
//      a lock's end, rule R5). With none there is no delay, and the first try is granted;
//   4. a second kill within the delay moves its end by nothing (rule R3).
//
// The window is 50 ms of a node that runs. One that gets no processor can lower nothing, so the
// window reaches back until the node has certainly had its turn: to 20 ms before the sending of a
// request whose answer came before the next request was sent that was answered, too. That second
// one was read in a later turn of the node's loop, at whose beginning the timers were due.
//
// The end: INFO says what is left, in whole milliseconds rounded up, at an instant between the
// sending and the answer. So the end lies between sent + left - 1 ms and answered + left.
#pragma once

#include "base/random.h"
#include "tests/process/kill_storm/connection.h"
#include "tests/process/kill_storm/load.h"
#include "tests/process/node_process.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::kill_storm {

struct Between {
  Instant earliest;
  Instant latest;
};

// What the kills of a storm have shown.
struct Findings {
  int kills = 0;
  int checked = 0;
  int with_delay = 0;
  int without_a_lock = 0;     // in the window
  int within_the_delay = 0;   // second kills
  int in_a_wider_window = 0;  // the node was starved
  std::uint64_t grants = 0;
  std::vector<Duration> first_grant_after_end;
  std::vector<Duration> end_after_deadline;  // of kills with a delay
  std::vector<std::string> defects;
};

struct StormOptions {
  std::string node_program;
  std::vector<std::string> node_flags;
  bool checks_time = true;  // 3.: not of a sanitized build
  int kills = 100;
};

class Victim {
 public:
  // REQUIRES: bootstrapped, not started.
  Victim(std::unique_ptr<NodeProcess> node, std::uint64_t seed, const StormOptions& options,
         Findings& findings);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  // Does what is due. False once it is over, and the node has ended.
  bool step();
  // The connection, to be waited for; -1: there is none.
  int descriptor() const { return connection_ ? connection_->descriptor() : -1; }
  Instant next_step() const { return next_step_; }

 private:
  enum class State { connecting, recovering, loaded, over };
  // How busy the node is until its kill.
  enum class Mood { long_ttls, short_ttls, then_quiet, then_released };

  struct Kill {
    Instant begun;  // before the signal was sent
    AtTheKill found;
    bool is_wider = false;
    bool within_the_delay = false;
    std::optional<Instant> last_end;  // of the delay that it cut off
  };

  void start();
  void connect();
  void read_answers();
  void take_info(const protocol::Reply& reply, Instant answered);
  void probe();
  void check_probe(bool granted, Instant answered);
  void check_start();
  void begin_load();
  void add_load();
  void request_info(Instant sent);
  void add(const Load::Words& words);
  void flush(Instant sent);
  Load::Words next_command(Instant sent);
  void kill_node();
  void note_trip();
  void defect(const std::string& text);

  const std::unique_ptr<NodeProcess> node_;
  const StormOptions& options_;
  Findings& findings_;
  Random random_;
  Load load_;

  State state_ = State::connecting;
  std::optional<Connection> connection_;
  Instant next_step_;
  Instant give_up_;  // a start, or a delay, that takes so long is a defect

  std::optional<Kill> kill_;  // the last one, until its checks are done
  std::optional<Instant> info_sent_;
  std::optional<Between> end_;  // of the delay; nullopt: none
  bool was_refused_ = false;
  bool has_info_ = false;

  Mood mood_{};
  Instant quiet_from_;
  Instant kill_at_;
  // Round trips, one after the other, as evidence that the node runs: when the one under way was
  // sent, the one before it, and the one before that.
  std::optional<Instant> trip_;
  Instant last_trip_;
  Instant turned_since_;
  std::size_t trip_waits_for_ = 0;  // answers until the trip is over
};

}  // namespace redlock::kill_storm
