#include "lua/library/pattern_match.h"

#include "lua/library/script_context.h"

#include <cctype>
#include <cstring>

namespace redlock::lua {
namespace {

unsigned char byte_of(const char* place) {
  return static_cast<unsigned char>(*place);
}

// "%a" and its like; a letter in upper case means all that is not in the class. What is no letter
// of a class stands for itself.
bool is_in_class(unsigned char c, unsigned char letter) {
  bool is_in = false;
  switch (std::tolower(letter)) {
    case 'a':
      is_in = std::isalpha(c) != 0;
      break;
    case 'c':
      is_in = std::iscntrl(c) != 0;
      break;
    case 'd':
      is_in = std::isdigit(c) != 0;
      break;
    case 'g':
      is_in = std::isgraph(c) != 0;
      break;
    case 'l':
      is_in = std::islower(c) != 0;
      break;
    case 'p':
      is_in = std::ispunct(c) != 0;
      break;
    case 's':
      is_in = std::isspace(c) != 0;
      break;
    case 'u':
      is_in = std::isupper(c) != 0;
      break;
    case 'w':
      is_in = std::isalnum(c) != 0;
      break;
    case 'x':
      is_in = std::isxdigit(c) != 0;
      break;
    case 'z':
      is_in = c == 0;
      break;
    default:
      return letter == c;
  }
  return is_in != (std::isupper(letter) != 0);
}

}  // namespace

PatternMatch::PatternMatch(lua_State* lua, std::string_view subject, std::string_view pattern)
    : lua_(lua),
      begin_(subject.data()),
      end_(subject.data() + subject.size()),
      pattern_(pattern.data()),
      pattern_end_(pattern.data() + pattern.size()) {}

void PatternMatch::look() {
  steps_left_ = kStepsBetweenLooks;
  stop_if_aborted(lua_);
}

const char* PatternMatch::at(const char* place) {
  count_ = 0;
  depth_ = 0;
  return match(place, pattern_);
}

const char* PatternMatch::match(const char* place, const char* item) {
  if (++depth_ > kDepthMax) luaL_error(lua_, "pattern too complex");
  const char* const end = match_items(place, item);
  --depth_;
  return end;
}

// %b, %f and %1: false where the item is none of them. Moves on behind what it matched, and behind
// the item; place: nullptr when it does not match.
bool PatternMatch::match_special(const char*& place, const char*& item) {
  if (item[1] == 'b') {
    place = match_balance(place, item + 2);
    item += 4;
  } else if (item[1] == 'f') {
    item += 2;
    place = match_frontier(place, item);
  } else if (std::isdigit(byte_of(item + 1)) != 0) {
    place = match_capture(place, item[1]);
    item += 2;
  } else {
    return false;
  }
  return true;
}

// The items from here to the end of the pattern. What can be taken in one way alone is taken in
// this loop; each choice is a call of match().
const char* PatternMatch::match_items(const char* place, const char* item) {
  while (item != pattern_end_) {
    step();
    switch (*item) {
      case '(':
        return item[1] == ')' ? open_capture(place, item + 2, kPosition)
                              : open_capture(place, item + 1, kOpen);
      case ')':
        return close_capture(place, item + 1);
      case '$':
        if (item + 1 == pattern_end_) return place == end_ ? place : nullptr;
        break;
      case '%':
        if (!match_special(place, item)) break;
        if (place == nullptr) return nullptr;
        continue;
      default:
        break;
    }
    const char* const suffix = end_of_item(item);
    const bool is_first = is_one(place, item, suffix);
    switch (*suffix) {
      case '?':
        if (is_first) {
          if (const char* const end = match(place + 1, suffix + 1)) return end;
        }
        item = suffix + 1;
        break;
      case '+':
        return is_first ? match_most(place + 1, item, suffix) : nullptr;
      case '*':
        return match_most(place, item, suffix);
      case '-':
        return match_fewest(place, item, suffix);
      default:
        if (!is_first) return nullptr;
        ++place;
        item = suffix;
    }
  }
  return place;
}

const char* PatternMatch::match_most(const char* place, const char* item, const char* suffix) {
  const char* last = place;
  while (is_one(last, item, suffix)) ++last;
  for (;; --last) {
    if (const char* const end = match(last, suffix + 1)) return end;
    if (last == place) return nullptr;
  }
}

const char* PatternMatch::match_fewest(const char* place, const char* item, const char* suffix) {
  for (;; ++place) {
    if (const char* const end = match(place, suffix + 1)) return end;
    if (!is_one(place, item, suffix)) return nullptr;
  }
}

const char* PatternMatch::open_capture(const char* place, const char* item, std::ptrdiff_t kind) {
  if (count_ >= kCapturesMax) luaL_error(lua_, "too many captures");
  captures_[static_cast<std::size_t>(count_++)] = {place, kind};
  const char* const end = match(place, item);
  if (end == nullptr) --count_;
  return end;
}

// The innermost that is open.
const char* PatternMatch::close_capture(const char* place, const char* item) {
  int index = count_ - 1;
  while (index >= 0 && captures_[static_cast<std::size_t>(index)].bytes != kOpen) --index;
  if (index < 0) luaL_error(lua_, "invalid pattern capture");
  Capture& capture = captures_[static_cast<std::size_t>(index)];
  capture.bytes = place - capture.begin;
  const char* const end = match(place, item);
  if (end == nullptr) capture.bytes = kOpen;
  return end;
}

// "%bxy": from an x to the y that balances it.
const char* PatternMatch::match_balance(const char* place, const char* brackets) {
  if (brackets >= pattern_end_ - 1) {
    luaL_error(lua_, "malformed pattern (missing arguments to '%%b')");
  }
  const char open = brackets[0];
  const char close = brackets[1];
  if (place == end_ || *place != open) return nullptr;
  std::size_t level = 1;
  while (++place < end_) {
    step();
    if (*place == close) {
      if (--level == 0) return place + 1;
    } else if (*place == open) {
      ++level;
    }
  }
  return nullptr;
}

// "%f[set]": between a byte that is not in the set and one that is. Both ends of the subject count
// as a zero byte. Moves `item` behind the set.
const char* PatternMatch::match_frontier(const char* place, const char*& item) {
  if (*item != '[') luaL_error(lua_, "missing '[' after '%%f' in pattern");
  const char* const set = item;
  item = end_of_item(set);
  const unsigned char before = place == begin_ ? '\0' : byte_of(place - 1);
  const unsigned char behind = place == end_ ? '\0' : byte_of(place);
  const bool is_frontier = !is_in_set(before, set, item - 1) && is_in_set(behind, set, item - 1);
  return is_frontier ? place : nullptr;
}

// "%1": what the capture took, once more.
const char* PatternMatch::match_capture(const char* place, char digit) {
  const Capture& capture = captures_[static_cast<std::size_t>(closed_capture(digit))];
  const auto bytes = static_cast<std::size_t>(capture.bytes);  // of a position: more than there is
  if (static_cast<std::size_t>(end_ - place) < bytes) return nullptr;
  constexpr std::size_t kBytesPerLook = 64 * 1024;  // memcmp takes some microseconds
  for (std::size_t done = 0; done < bytes; done += kBytesPerLook) {
    const std::size_t piece = bytes - done < kBytesPerLook ? bytes - done : kBytesPerLook;
    if (std::memcmp(capture.begin + done, place + done, piece) != 0) return nullptr;
    if (piece == kBytesPerLook) look();
  }
  return place + bytes;
}

int PatternMatch::closed_capture(char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= count_ || captures_[static_cast<std::size_t>(index)].bytes == kOpen) {
    luaL_error(lua_, "invalid capture index %%%d", index + 1);
  }
  return index;
}

bool PatternMatch::is_one(const char* place, const char* item, const char* item_end) {
  step();
  if (place == end_) return false;
  const unsigned char c = byte_of(place);
  switch (*item) {
    case '.':
      return true;
    case '%':
      return is_in_class(c, byte_of(item + 1));
    case '[':
      return is_in_set(c, item, item_end - 1);
    default:
      return byte_of(item) == c;
  }
}

// `set` is at its '[', set_end at its ']'.
bool PatternMatch::is_in_set(unsigned char c, const char* set, const char* set_end) {
  const bool wanted = set[1] != '^';
  const char* member = wanted ? set + 1 : set + 2;
  for (; member < set_end; ++member) {
    step();
    if (*member == '%') {
      if (is_in_class(c, byte_of(++member))) return wanted;
    } else if (member[1] == '-' && member + 2 < set_end) {
      if (byte_of(member) <= c && c <= byte_of(member + 2)) return wanted;
      member += 2;
    } else if (byte_of(member) == c) {
      return wanted;
    }
  }
  return !wanted;
}

// Behind a character, an escape or a set; a ']' that comes first in a set is a member of it.
const char* PatternMatch::end_of_item(const char* item) {
  const char first = *item++;
  if (first == '%') {
    if (item == pattern_end_) luaL_error(lua_, "malformed pattern (ends with '%%')");
    return item + 1;
  }
  if (first != '[') return item;
  if (*item == '^') ++item;
  do {
    step();
    if (item == pattern_end_) luaL_error(lua_, "malformed pattern (missing ']')");
    if (*item++ == '%' && item < pattern_end_) ++item;
  } while (*item != ']');
  return item + 1;
}

bool PatternMatch::is_position(int index) const {
  return index < count_ && captures_[static_cast<std::size_t>(index)].bytes == kPosition;
}

// REQUIRES: it is no position.
std::string_view PatternMatch::captured(int index, const char* begin, const char* end) const {
  if (index >= count_) {
    if (index != 0) luaL_error(lua_, "invalid capture index %%%d", index + 1);
    return {begin, static_cast<std::size_t>(end - begin)};
  }
  const Capture& capture = captures_[static_cast<std::size_t>(index)];
  if (capture.bytes == kOpen) luaL_error(lua_, "unfinished capture");
  return {capture.begin, static_cast<std::size_t>(capture.bytes)};
}

void PatternMatch::push_capture(int index, const char* begin, const char* end) const {
  if (is_position(index)) {
    return lua_pushinteger(lua_, captures_[static_cast<std::size_t>(index)].begin - begin_ + 1);
  }
  const std::string_view text = captured(index, begin, end);
  lua_pushlstring(lua_, text.data(), text.size());
}

int PatternMatch::push_captures(const char* begin, const char* end) const {
  const int count = count_ == 0 ? 1 : count_;
  luaL_checkstack(lua_, count, "too many captures");
  for (int i = 0; i < count; ++i) push_capture(i, begin, end);
  return count;
}

// As in Lua 5.1, '%' before what is no digit stands for that character.
void PatternMatch::add_replacement(luaL_Buffer& buffer, std::string_view text, const char* begin,
                                   const char* end) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t percent = text.find('%', at);
    step();
    if (percent == std::string_view::npos) {
      return luaL_addlstring(&buffer, text.data() + at, text.size() - at);
    }
    luaL_addlstring(&buffer, text.data() + at, percent - at);
    at = percent + 1;
    const char c = text.data()[at];  // behind the last '%': the zero byte
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      luaL_addchar(&buffer, c);
    } else if (c == '0') {
      luaL_addlstring(&buffer, begin, static_cast<std::size_t>(end - begin));
    } else if (is_position(c - '1')) {
      push_capture(c - '1', begin, end);
      luaL_addvalue(&buffer);
    } else {
      const std::string_view capture = captured(c - '1', begin, end);
      luaL_addlstring(&buffer, capture.data(), capture.size());
    }
  }
}

}  // namespace redlock::lua
