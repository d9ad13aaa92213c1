// KeyLines: who is served next where several commands of this door want one key (rule D10).
//
// A command stands in the line of each of its keys, and has its turn when it is the first of all of
// them. It enters all lines at one instant, so that two commands stand in the same order wherever
// they meet, and none waits for one that waits for it.
//
//   if (lines.enter(number, keys, now)) …              // its turn, at once
//   for (const Number next : lines.leave(number)) …    // these have their turn now
//
// Thread safety: none. Invariant: a line has somebody in it.
#pragma once

#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace redlock::coordinator {

class KeyLines {
 public:
  // Of a command; larger ones came later.
  using Number = std::uint64_t;

  // Whether it has its turn at once. REQUIRES: each key once; it stands nowhere yet.
  bool enter(Number number, std::vector<std::string> keys, Instant now);
  // It is served, or goes. Returns whose turn it is now. Harmless if it stands nowhere.
  std::vector<Number> leave(Number number);

  bool has_turn(Number number) const;
  // Whether it stands in the lines of all of these.
  bool stands_in(Number number, const std::vector<std::string>& keys) const;
  // Whether others wait for this key behind the first of its line.
  bool is_contended(const std::string& key) const;
  // Who waits for this key and entered at `as_of` or before, in their order.
  std::vector<Number> waiting_since(const std::string& key, Instant as_of) const;

  std::size_t lines() const { return lines_.size(); }

 private:
  struct Place {
    std::vector<std::string> keys;
    Instant entered;
    std::uint64_t position;  // in every line: the order of entering
  };
  using Line = std::map<std::uint64_t, Number>;  // by position

  bool is_first(const Place& place) const;

  std::unordered_map<Number, Place> places_;
  std::unordered_map<std::string, Line> lines_;
  std::uint64_t last_position_ = 0;
};

}  // namespace redlock::coordinator
