// PatternMatch: Lua's patterns, matched by a matcher that can be stopped.
//
//   PatternMatch match(lua, subject, pattern);
//   if (const char* end = match.at(subject.data())) match.push_captures(begin, end);
//
// Lua's own matcher backtracks, and within one call of it no hook comes up: ("a"):rep(200) against
// "a*a*a*a*a*b" runs for minutes. What a match will cost cannot be told from its pattern, so this
// one counts as it goes, and every kStepsBetweenLooks steps looks whether the script was aborted.
// A step is one comparison of a byte with an item, a member of a set, or one turn of the matcher:
// a few nanoseconds.
//
// The language and its errors are those of Lua 5.4. A match is a tree of calls, one for each
// repeated item, as deep as kDepthMax.
//
// Subject and pattern are Lua's strings, which are followed by a zero byte: so one byte behind the
// end may be read. They stay on the stack while the match is used. Errors are raised in `lua`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <lua.hpp>

namespace redlock::lua {

class PatternMatch {
 public:
  PatternMatch(lua_State* lua, std::string_view subject, std::string_view pattern);

  // Matches the whole pattern at this very place of the subject, '^' being a character like any
  // other. Returns the end of what it took; nullptr: it does not match there.
  const char* at(const char* place);

  // Of the last match, [begin, end): pushes its captures, or all of it if the pattern has none.
  // Returns how many it pushed.
  int push_captures(const char* begin, const char* end) const;
  // The capture of this index from 0, or all of the match if there is none and the index is 0.
  void push_capture(int index, const char* begin, const char* end) const;
  // Adds what gsub puts in the place of the match: the text, in which %1 means the first capture.
  // `buffer` is on top of the stack.
  void add_replacement(luaL_Buffer& buffer, std::string_view text, const char* begin,
                       const char* end);
  bool has_captures() const { return count_ > 0; }

  // To be called for each piece of work: raises the error of the limit once the script is aborted.
  void step() {
    if (--steps_left_ == 0) look();
  }

 private:
  static constexpr int kStepsBetweenLooks = 4096;
  static constexpr int kDepthMax = 200;        // as in Lua: a level takes some 100 bytes of stack
  static constexpr int kCapturesMax = 32;      // as in Lua
  static constexpr std::ptrdiff_t kOpen = -1;  // a capture that is not closed yet
  static constexpr std::ptrdiff_t kPosition = -2;  // "()", which captures where it stands

  struct Capture {
    const char* begin;
    std::ptrdiff_t bytes;  // or kOpen, kPosition
  };

  void look();
  const char* match(const char* place, const char* item);
  bool match_special(const char*& place, const char*& item);
  const char* match_items(const char* place, const char* item);
  const char* match_most(const char* place, const char* item, const char* suffix);
  const char* match_fewest(const char* place, const char* item, const char* suffix);
  const char* open_capture(const char* place, const char* item, std::ptrdiff_t kind);
  const char* close_capture(const char* place, const char* item);
  const char* match_balance(const char* place, const char* brackets);
  const char* match_frontier(const char* place, const char*& item);
  const char* match_capture(const char* place, char digit);
  bool is_one(const char* place, const char* item, const char* item_end);
  bool is_in_set(unsigned char c, const char* set, const char* set_end);
  const char* end_of_item(const char* item);
  int closed_capture(char digit);
  bool is_position(int index) const;
  std::string_view captured(int index, const char* begin, const char* end) const;

  lua_State* const lua_;
  const char* const begin_;
  const char* const end_;
  const char* const pattern_;
  const char* const pattern_end_;
  int steps_left_ = kStepsBetweenLooks;
  int depth_ = 0;
  int count_ = 0;  // of captures
  std::array<Capture, kCapturesMax> captures_;
};

}  // namespace redlock::lua
