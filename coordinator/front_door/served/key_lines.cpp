#include "coordinator/front_door/served/key_lines.h"

#include "base/invariant.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

bool KeyLines::enter(Number number, std::vector<std::string> keys, Instant now) {
  const std::uint64_t position = ++last_position_;
  const auto [place, is_new] = places_.emplace(number, Place{std::move(keys), now, position});
  INVARIANT(is_new, "a command that enters twice");
  for (const std::string& key : place->second.keys) lines_[key].emplace(position, number);
  return is_first(place->second);
}

std::vector<KeyLines::Number> KeyLines::leave(Number number) {
  std::vector<Number> turns;
  const auto place = places_.extract(number);
  if (!place) return turns;
  for (const std::string& key : place.mapped().keys) {
    const auto line = lines_.find(key);
    const bool was_first = line->second.begin()->second == number;
    line->second.erase(place.mapped().position);
    if (line->second.empty()) {
      lines_.erase(line);
      continue;
    }
    const Number next = line->second.begin()->second;
    const bool is_told = std::find(turns.begin(), turns.end(), next) != turns.end();
    if (was_first && !is_told && has_turn(next)) turns.push_back(next);
  }
  return turns;
}

bool KeyLines::has_turn(Number number) const {
  const auto place = places_.find(number);
  return place != places_.end() && is_first(place->second);
}

bool KeyLines::is_first(const Place& place) const {
  return std::all_of(place.keys.begin(), place.keys.end(), [&](const std::string& key) {
    return lines_.at(key).begin()->first == place.position;
  });
}

bool KeyLines::stands_in(Number number, const std::vector<std::string>& keys) const {
  const auto place = places_.find(number);
  if (place == places_.end()) return false;
  const std::vector<std::string>& of = place->second.keys;
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return std::find(of.begin(), of.end(), key) != of.end();
  });
}

bool KeyLines::is_contended(const std::string& key) const {
  const auto line = lines_.find(key);
  return line != lines_.end() && line->second.size() > 1;
}

std::vector<KeyLines::Number> KeyLines::waiting_since(const std::string& key, Instant as_of) const {
  std::vector<Number> waiting;
  const auto line = lines_.find(key);
  if (line == lines_.end()) return waiting;
  for (const auto& [position, number] : line->second) {
    const Place& place = places_.at(number);
    if (place.entered > as_of) break;
    if (!is_first(place)) waiting.push_back(number);
  }
  return waiting;
}

}  // namespace redlock::coordinator
