#include "tests/simulation/referee.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace redlock::simulation {

std::string_view breach_name(Breach breach) {
  constexpr std::array<std::string_view, 21> kNames = {
      "overlap",  "token",        "recovering", "revived",    "undone", "left-over",
      "not-free", "returned",     "lost",       "late",       "asleep", "forgotten",
      "misread",  "told-free",    "kept",       "miscounted", "untold", "two-rosters",
      "unchosen", "no-successor", "behind"};
  static_assert(kNames.size() == static_cast<std::size_t>(Breach::behind) + 1);
  return kNames[static_cast<std::size_t>(breach)];
}

void Referee::found(Breach breach, std::string text) {
  if (breach == Breach::overlap) {
    ++overlaps_;
    if (overlaps_expected_) return;
  }
  const bool is_of_two_holders = breach == Breach::told_free || breach == Breach::miscounted;
  if (is_of_two_holders && overlaps_expected_) return;
  if (violation_) return;
  if (story_.tells_events()) story_.tell(agenda_.now(), "VIOLATION", std::nullopt, text);
  violation_ = Violation{breach, agenda_.now(), std::move(text)};
}

Referee::HoldId Referee::begin(Hold hold) {
  hold.began = agenda_.now();
  hold.granted = std::min(hold.granted, hold.began);
  const HoldId id = holds_.size();
  check_valid(hold, "gets");
  check_alone(hold);
  if (hold.token > 0) check_token(hold);
  by_key_[hold.key].push_back(id);
  holds_.push_back(hold);
  return id;
}

Token Referee::largest_token() const {
  Token largest = 0;
  for (const Hold& hold : holds_) largest = std::max(largest, hold.token);
  return largest;
}

void Referee::extend(HoldId id, Instant valid_until) {
  Hold& hold = holds_[id];
  check_valid(hold, "extends");
  hold.valid_until = valid_until;
  // While it is extended nobody counts on it twice.
  hold.has_ended = true;
  check_alone(hold);
  hold.has_ended = false;
}

void Referee::extend_anew(HoldId id, Instant valid_until) {
  Hold& hold = holds_[id];
  hold.valid_until = valid_until;
  hold.began = agenda_.now();
  hold.has_ended = true;
  check_alone(hold);
  hold.has_ended = false;
}

void Referee::check_free(unsigned key, TrueTime since, unsigned client) {
  for (const HoldId id : by_key_[key]) {
    check_free(id, since, fmt::format("is told free to client {}", client));
  }
}

void Referee::check_free(HoldId id, TrueTime since, std::string_view what) {
  const Hold& hold = holds_[id];
  if (hold.began > since || !is_relied_on(hold) || is_excused(id)) return;
  found(Breach::told_free,
        fmt::format("key {} {}, and client {} has relied on it since {}", hold.key, what,
                    hold.client, seconds_text(hold.began.time_since_epoch())));
}

void Referee::forget_refused_by(unsigned door) {
  std::erase_if(refused_, [=](const auto& entry) { return entry.second == door; });
}

std::optional<unsigned> Referee::refused_by(const std::string& value) const {
  const auto found = refused_.find(value);
  if (found == refused_.end()) return std::nullopt;
  return found->second;
}

std::function<void()> Referee::note_loose(HoldId id) {
  std::vector<Loose>& loose = loose_[holds_[id].key];
  loose.push_back({id});
  return [this, &loose, index = loose.size() - 1] { loose[index].until = agenda_.now(); };
}

// Another's request of the same value may have hit it, perhaps before its holder was told.
bool Referee::is_excused(HoldId id) const {
  const auto found = loose_.find(holds_[id].key);
  if (found == loose_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Loose& loose) {
    return loose.by != id && loose.until >= holds_[id].granted;
  });
}

void Referee::check_valid(const Hold& hold, std::string_view what) {
  const Duration late = hold.clock->at(agenda_.now()) - hold.valid_until;
  if (late < 0ns) return;
  found(Breach::revived, fmt::format("client {} {} key {} {} ms after the end of its validity",
                                     hold.client, what, hold.key, floor_ms(late)));
}

void Referee::note_release_sent(const std::string& value, unsigned client) {
  given_up_.try_emplace(value, GivenUp{{client, agenda_.now()}});
}

void Referee::note_release_arrived(const std::string& value, unsigned node) {
  const auto found = given_up_.find(value);
  if (found != given_up_.end()) found->second.arrived.insert(node);
}

void Referee::forget_debts_of(unsigned client) {
  std::erase_if(given_up_, [=](const auto& entry) { return entry.second.debt.client == client; });
}

std::optional<Referee::Debt> Referee::debt(const std::string& value, unsigned node) const {
  const auto found = given_up_.find(value);
  if (found == given_up_.end() || found->second.arrived.contains(node)) return std::nullopt;
  return found->second.debt;
}

void Referee::check_not_released(const std::string& value, TrueTime extension_began) {
  const auto released = released_.find(value);
  if (released == released_.end() || extension_began <= released->second) return;
  found(Breach::returned,
        fmt::format("a lock is extended that was released at {}: the extension began at {}",
                    seconds_text(released->second.time_since_epoch()),
                    seconds_text(extension_began.time_since_epoch())));
}

bool Referee::is_relied_on(const Hold& hold) const {
  return !hold.has_ended && !hold.is_given_away && hold.clock->at(agenda_.now()) < hold.valid_until;
}

void Referee::check_alone(const Hold& hold) {
  const bool has_run_out = hold.clock->at(agenda_.now()) >= hold.valid_until;
  if (has_run_out || hold.is_given_away) return;  // nobody relies on that
  for (const HoldId id : by_key_[hold.key]) {
    const Hold& other = holds_[id];
    if (!is_relied_on(other) || is_excused(id)) continue;
    found(Breach::overlap,
          fmt::format("client {} relies on key {}, and so does client {}, who got it at {} and may "
                      "rely on it for {} ms more",
                      hold.client, hold.key, other.client,
                      seconds_text(other.began.time_since_epoch()),
                      floor_ms(other.valid_until - other.clock->at(agenda_.now()))));
  }
}

void Referee::check_token(const Hold& hold) {
  for (const HoldId id : by_key_[hold.key]) {
    const Hold& other = holds_[id];
    const bool is_same = other.token == hold.token;
    const bool must_be_less = other.token > 0 && other.began < hold.asked;
    if (!is_same && !(must_be_less && other.token > hold.token)) continue;
    found(
        Breach::token,
        fmt::format("client {} got token {} for key {}, which it asked for at {}; client {} got "
                    "{} at {}",
                    hold.client, hold.token, hold.key, seconds_text(hold.asked.time_since_epoch()),
                    other.client, other.token, seconds_text(other.began.time_since_epoch())));
  }
}

}  // namespace redlock::simulation
