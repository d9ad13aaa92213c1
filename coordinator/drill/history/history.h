// A history: what every client believed about its locks, and what was done to clients and nodes, by
// the clock of one machine. docs/history.md is its format for others: JSON Lines, a header and then
// an event a line. Here it is read, strictly, and written.
//
//   file.append(event_line({.at = now, .who = "client 1", .what = What::asks, .lock = "a"}));
//   auto history = parse_history({{"chaos.jsonl", text}});
//   if (!history) return complain(history.error().text);  // "chaos.jsonl:12: …" and what to do
//
// history_file.h has the files, check.h judges.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::drill {

// What happened. The first group is what clients tell of themselves, the second what was done to a
// client or a node, told by whoever did it.
enum class What {
  asks,      // before the first byte of an attempt
  waits,     // another has the lock: the client stands in its line from here on
  acquired,  // the client believes from here on
  refused,   // the attempt is over, without the lock
  extended,  // the client believes until the new end of validity
  releases,  // the belief ends here, before the first byte of the release
  lost,      // the client noticed that it cannot rely on the lock any more
  wrote,     // a write under the lock, when the store decided over it

  killed,
  started,
  stopped,     // told before the signal is sent
  continued,   // told after it was sent
  stalled,     // a client, told by itself: the machine has not let it run for so long
  recovering,  // a node grants nothing, until at most `until`
  serving,
  cut,
  healed,
  slowed,
  unslowed,
  clock_jumped,
};
inline constexpr std::size_t kWhats = 20;

// Which messages of its party a cut stops.
enum class Direction { both, in, out };

// One event. Which members count is a matter of `what`; docs/history.md has the table.
struct Event {
  Instant at{};     // CLOCK_BOOTTIME
  std::string who;  // "client 3", "node 2"
  What what = What::asks;

  std::string lock = {};
  std::string hold = {};    // one holding of one lock by one client; unique in the history
  Instant asked{};          // acquired: when its attempt began
  std::uint64_t token = 0;  // 0: none
  Instant valid_until{};    // acquired, extended
  std::int64_t ttl_ms = 0;  // acquired, extended: what the lock was asked for; 0: not told
  std::string why = {};     // refused: "held", "no_quorum"; lost: what it was told; killed
  bool accepted = false;    // wrote: as the store answered
  Instant until{};          // recovering; waits: its patience; zero: not told
  std::vector<std::string> from = {};  // cut: off from whom; empty: from everybody
  Direction direction = Direction::both;
  std::int64_t ms = 0;     // slowed, stalled
  std::int64_t by_ms = 0;  // clock_jumped
  // killed, started, stopped, cut: of what change of the group this is a part. In the file it is
  // "x_change", so that who knows of no changes passes it over.
  std::string change = {};

  std::uint32_t file = 0;  // where it was read: which of the history's files,
  std::uint32_t line = 0;  // and which line of it, from 1
};

struct HistoryHeader {
  std::string title = {};                 // "chaos, seed 1"
  double clock_drift = 0;                 // the drift bound of the group; 0: not told
  std::vector<std::string> nodes = {};    // addresses; events call the first one "node 1"
  std::vector<std::string> clients = {};  // the names in `who`; empty: whoever is in the events
  std::map<std::string, std::string> about = {};  // for people: "seed" is "1"
};

struct History {
  HistoryHeader header;
  std::vector<Event> events;       // by time; events of one time as they stood in the files
  std::vector<std::string> files;  // their names, as Event::file counts them
  // Of a writer that was killed while it wrote: the last lines of files that have no newline.
  std::size_t unfinished_lines = 0;
};

// "asks", "clock_jumped".
std::string_view name_of(What what);
std::string_view name_of(Direction direction);
bool is_of_a_client(What what);
// Whether `who` is a node: "node 2". All others are clients.
bool is_node(std::string_view who);

// A file's first and further lines, ended by a newline.
std::string header_line(const HistoryHeader& header);
std::string event_line(const Event& event);

// Reads files that belong to one history, each with its name for messages. The first one begins
// with the header; each further one may repeat it or do without. The error names file and line.
struct HistoryText {
  std::string name;
  std::string_view text;
};
Result<History> parse_history(const std::vector<HistoryText>& files);

// "chaos.jsonl:12", or "line 12" in a history of one file.
std::string place_of(const History& history, const Event& event);

// Limits on what is read; beyond them it is no history of ours, and its numbers could overflow.
inline constexpr std::size_t kHistoryLineMax = 65536;
inline constexpr std::size_t kHistoryNameMax = 256;  // of a lock, hold, client, in bytes
inline constexpr std::int64_t kHistoryTimeMax = std::int64_t{1} << 62;  // ns; 146 years
// From the first event to the last: a longer one is of two clocks.
inline constexpr Duration kHistorySpanMax = std::chrono::hours(24 * 366);
inline constexpr std::uint64_t kHistoryTokenMax = (std::uint64_t{1} << 53) - 1;  // rule F1

}  // namespace redlock::drill
