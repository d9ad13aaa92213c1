// Scenario: all that happens to a world from outside, as a list that can be read, written, cut down
// and replayed. The same scenario gives the same run on every machine.
//
//   Scenario scenario = make_scenario(17, {});   // generator.h
//   std::string text = write_scenario(scenario); // a line for each event
//
// Nodes, clients and keys are numbered from 1; 0: the event has none.
#pragma once

#include "tests/simulation/true_time.h"
#include <redlock/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

enum class Deed : std::uint8_t {
  want,          // a client wants a lock
  kill,          // a node's process; starts again after `length`
  power_loss,    // of a node's machine: what was not synced may be lost, or torn
  lose_disk,     // the node is killed, and its folder is empty when it starts again
  stop,          // a clean stop
  pause_node,    // SIGSTOP, SIGCONT after `length`
  pause_client,  // the same
  kill_client,   // a new client in its place after `length`
  cut,           // between a client and a node nothing arrives for `length`
  cut_requests,  // in the direction of the node only
  cut_replies,   // in the direction of the client only
  hang_up,       // their connection breaks; what is on its way still arrives
  slow,          // messages between them take `delay` longer for `length`
  mislead,       // the client's address of `node` leads to node `other` for `length`
  slow_disk,     // each sync of the node's disk takes `delay` for `length`
  broken_disk,   // nothing can be written for `length`
  set_wall,      // the node's wall clock jumps by `delay`
  // Only where clocks break their bounds.
  jump_node,    // the node's monotonic clock jumps by `delay`
  jump_client,  // the client's
  race_node,    // the node's clock runs faster by `other` thousandths from now on
  race_client,  // the client's
  // In no mix by themselves: see Mix::also.
  swap,         // the client's addresses of `node` and `other` change nodes for `length`, the
                // second `delay` after the first
  release_for,  // a new process in the client's place releases what `other` holds of `key`, and
                // ends when a quorum has confirmed it; it starts again after `length`
  // Drawn after all others, so that what those are in a seed stays what it was.
  ask,             // a user of single nodes wants a lock of one, by `form`
  hand_over,       // the client goes on, as another process, with what `other` holds of `key`: it
                   // extends that, and releases it after `length`
  replace_node,    // the node is killed; one with a new id and an empty disk starts in its place
  faulty_disk,     // for `length` one in `other` of a node's system calls fails, perhaps half done
  suspend_node,    // its machine sleeps for `length`: the clock that it counts with stands still
  suspend_client,  // the client's; the clock that it counts with goes on
  set_max_ttl,     // from the node's next start on its max-ttl is `delay`
  // Only where the group has a roster.
  change,  // the client brings the group to its next roster: `node`, or the next one that is no
           // member, joins; the member at place `other` leaves, and the first `key` ones, which is
           // too much to wish for. The first roster has the client's whole list
  relist,  // the client starts again after `length`, with the list of the nodes whose bits are set
           // in `other`, as of an operator who mistook it
  // Only where there are front doors. The network's client of a door stands behind all clients and
  // users: as such it is cut off from nodes, and so on.
  use,           // a naive user wants a lock, by `form`, through door `other`; 0: each request
                 // through any. It asks again after `delay`, for so long as `wait`
  leave,         // the naive user's connections break
  pause_door,    // SIGSTOP, SIGCONT after `length`
  suspend_door,  // its machine sleeps for `length`
  kill_door,     // a new door in its place after `length`
};
inline constexpr Deed kLastDeed = Deed::kill_door;
inline constexpr Deed kFirstClockDeed = Deed::jump_node;
inline constexpr Deed kFirstDeedOnDemand = Deed::swap;
inline constexpr Deed kFirstLateDeed = Deed::ask;
inline constexpr Deed kFirstRosterDeed = Deed::change;
inline constexpr Deed kFirstDoorDeed = Deed::use;

std::string_view deed_name(Deed deed);

// What a client does with a lock that it got.
enum class Holding : std::uint8_t {
  release,  // after `length`
  run_out,  // relies on it to the end
  keep,     // extends it, and releases it after `length`
};

std::string_view holding_name(Holding holding);

struct Event {
  TrueTime at{};
  Deed deed = Deed::want;
  unsigned client = 0;
  unsigned node = 0;
  unsigned other = 0;
  unsigned key = 0;
  Duration length{};
  Duration delay{};
  // want
  Duration ttl{};
  Duration wait{};
  Holding holding = Holding::release;
  bool fence = true;
  unsigned form = 0;  // of ask: its row in forms.h

  friend bool operator==(const Event&, const Event&) = default;
};

struct Scenario {
  std::uint64_t seed = 1;  // of what is left to chance: delays, values, how writes tear
  unsigned nodes = 5;
  unsigned clients = 3;
  unsigned keys = 2;
  std::int64_t drift_millionths = 10'000;  // the drift bound, as all members have it (rule C1)
  std::vector<std::int64_t> node_rates;    // faster than true time by so many millionths
  std::vector<std::int64_t> client_rates;
  Duration max_ttl = std::chrono::seconds(4);
  Duration node_timeout = std::chrono::milliseconds(300);
  std::uint64_t fence_block = 1024;
  std::vector<std::int64_t> counters;  // that the nodes begin with; empty: all with 0
  Duration delay_min = std::chrono::milliseconds(1);  // of a message
  Duration delay_max = std::chrono::milliseconds(5);
  unsigned resent_per_thousand = 0;  // messages that take a retransmission's time longer
  Duration disk_sync_max = std::chrono::milliseconds(5);
  bool clocks_hold = true;           // no event breaks the bound on clocks
  unsigned users = 0;                // of single nodes
  unsigned pieces_per_thousand = 0;  // messages that arrive in several, or several as one
  Duration turn_max{};               // of a node's loop: what a turn takes until its replies go out
  Duration ttl_window{};             // of rule R8; 0: as it ships
  std::uint64_t first_key = 0;       // key 1 is the one after it: its name decides its counter (F1)
  bool hear_everyone = false;        // clients wait for every node where that decides nothing
  bool plain = false;                // the nodes serve no LOCK.*: plain Redis servers to clients
  unsigned members = 0;       // the first so many nodes are the group; 0: all, and it has no roster
  bool empty_spares = false;  // the others begin without a ledger, and not as of a new group
  Duration spare_max_ttl{};   // of the others; 0: as of all
  unsigned doors = 0;         // front doors
  unsigned naives = 0;        // their users
  Duration acquire_time = std::chrono::milliseconds(300);   // of the doors (rule D2)
  Duration reply_time = std::chrono::milliseconds(100);     // the same
  Duration front_delay_max = std::chrono::milliseconds(5);  // of messages between users and doors
  unsigned late_replies_per_thousand = 0;                   // of these, later than reply_time
  Duration door_turn_max{};          // what a turn of a door takes until its answers go out
  Duration door_look_max{};          // what a door does between two looks at its stopwatch
  unsigned unread_per_thousand = 0;  // answers of a door that its kernel does not take at once
  bool same_values = false;          // all naive users have the value 1
  bool shares_keys = false;          // naive users want the same keys as the clients
  Duration length{};                 // faults and wants come before it
  std::vector<Event> events;         // by time

  double drift() const { return static_cast<double>(drift_millionths) / 1e6; }

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

std::string write_scenario(const Scenario& scenario);
// The failure says which line, and what it should be.
Result<Scenario> read_scenario(std::string_view text);
// One line, without its end.
std::string write_event(const Event& event);

}  // namespace redlock::simulation
