#include "coordinator/front_door/waiting_clients.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::coordinator {
namespace {

// A watch of the nodes lasts so long at most, then it is begun anew.
constexpr Duration kWatchMax = 60s;
// Where no clock tells one: behind all.
constexpr WaitTicket kLastTicket{kWaitTicketPartMax, kWaitTicketPartMax};

}  // namespace

WaitingClients::~WaitingClients() {
  for (auto& [key, line] : lines_) stand_back(key, line, Instant{});
}

std::optional<WaitingClients::Number> WaitingClients::find(SessionId session, Form form,
                                                           const std::string& key) const {
  const auto waits = by_session_.find(session);
  if (waits == by_session_.end()) return std::nullopt;
  const auto wait = waits->second.find({form, key});
  if (wait == waits->second.end()) return std::nullopt;
  return wait->second;
}

bool WaitingClients::has_room_for(Form form, const std::string& key) const {
  if (waiters_.size() >= kWaitersMax || waiter_bytes_ + key.size() > kWaiterBytesMax) return false;
  const bool is_push = form == Form::push;
  const std::size_t lines_max = is_push ? kPushLinesMax : kLinesMax;
  const std::size_t bytes_max = is_push ? kLineBytesMax / 2 : kLineBytesMax;
  const bool takes_line = lines_.size() < lines_max && line_bytes_ + key.size() <= bytes_max;
  return takes_line || lines_.contains(key);
}

bool WaitingClients::add(SessionId session, Form form, const std::string& key, Instant deadline,
                         std::optional<WaitTicket> shown) {
  if (form == Form::push) cancel_push(session, key);
  if (!has_room_for(form, key)) return false;
  const Number number = ++last_number_;
  const std::optional<WaitTicket> ticket = shown ? shown : group_.new_ticket();
  const std::pair place(ticket.value_or(kLastTicket), number);
  waiters_.emplace(number, Waiter{session, form, key, deadline, ticket, place});
  const bool is_new = by_session_[session].emplace(std::pair(form, key), number).second;
  INVARIANT(is_new, "a session waits twice for a key in one form");
  by_deadline_.emplace(deadline, number);
  waiter_bytes_ += key.size();
  if (!lines_.contains(key)) line_bytes_ += key.size();
  Line& line = lines_[key];
  if (form == Form::acquire) {
    line.takers.insert(number);
    if (line.takers.size() == 1) line.may_look = true;  // at once
  } else {
    line.watchers.insert(place);
  }
  look_later(key, line);
  return true;
}

void WaitingClients::cancel_push(SessionId session, const std::string& key) {
  if (const auto number = find(session, Form::push, key)) remove(*number);
}

std::size_t WaitingClients::forget(SessionId session, std::size_t at_most) {
  std::size_t forgotten = 0;
  for (; forgotten < at_most; ++forgotten) {
    const auto waits = by_session_.find(session);
    if (waits == by_session_.end()) break;
    remove(waits->second.begin()->second);
  }
  return forgotten;
}

bool WaitingClients::is_trying(Number number) const {
  const Line& line = lines_.at(waiters_.at(number).key);
  return line.is_trying && *line.takers.begin() == number;
}

// The line itself goes with act(), as the nodes may be asked of it.
void WaitingClients::remove(Number number) {
  const bool was_trying = is_trying(number);
  const auto waiter = waiters_.extract(number);
  const auto waits = by_session_.find(waiter.mapped().session);
  waits->second.erase({waiter.mapped().form, waiter.mapped().key});
  if (waits->second.empty()) by_session_.erase(waits);
  by_deadline_.erase({waiter.mapped().deadline, number});
  waiter_bytes_ -= waiter.mapped().key.size();
  Line& line = lines_.at(waiter.mapped().key);
  if (was_trying) line.is_trying = false;
  if (!line.takers.empty() && number == *line.takers.begin()) line.is_failing = false;
  line.takers.erase(number);
  line.watchers.erase(waiter.mapped().place);
  look_later(waiter.mapped().key, line);
}

void WaitingClients::leave(SessionId session, const std::string& key) {
  if (const auto number = find(session, Form::acquire, key)) remove(*number);
}

void WaitingClients::wait_on(SessionId session, const std::string& key, bool has_failed) {
  const auto number = find(session, Form::acquire, key);
  if (!number) return;
  if (waiters_.at(*number).is_overdue) return tell(*number, Told::over);
  Line& line = lines_.at(key);
  line.is_trying = false;
  line.has_failed = line.is_failing = has_failed;
  look_later(key, line);
}

void WaitingClients::note_release(const std::string& key) {
  const auto line = lines_.find(key);
  if (line == lines_.end()) return;
  line->second.seems_free = true;
  line->second.is_own_release = true;
  look_later(key, line->second);
}

bool WaitingClients::has_takers(const std::string& key) const {
  const auto line = lines_.find(key);
  return line != lines_.end() && !line->second.takers.empty() && !line->second.is_failing;
}

std::size_t WaitingClients::count_of(SessionId session) const {
  const auto waits = by_session_.find(session);
  return waits == by_session_.end() ? 0 : waits->second.size();
}

std::optional<Instant> WaitingClients::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

void WaitingClients::tell(Number number, Told told) {
  const Waiter& waiter = waiters_.at(number);
  told_.push_back({waiter.session, waiter.form, waiter.key, told});
  if (told != Told::try_now) remove(number);
}

// One that tries just now is told by its attempt.
void WaitingClients::time_out(Instant now) {
  for (std::size_t left = std::max(kEndsAtOnce, count() / kEndsPart); left > 0; --left) {
    if (by_deadline_.empty() || by_deadline_.begin()->first > now) return;
    const Number number = by_deadline_.begin()->second;
    Waiter& waiter = waiters_.at(number);
    if (is_trying(number)) {
      by_deadline_.erase(by_deadline_.begin());
      waiter.deadline = kNever;
      waiter.is_overdue = true;
      by_deadline_.emplace(waiter.deadline, number);
    } else {
      const bool is_behind =
          waiter.form == Form::acquire && *lines_.at(waiter.key).takers.begin() != number;
      tell(number, is_behind ? Told::over_behind : Told::over);
    }
  }
}

void WaitingClients::look_later(const std::string& key, Line& line) {
  const bool is_wanted = !line.takers.empty();
  if (std::exchange(is_wanted ? line.stands_in_wanted : line.stands_in_watched, true)) return;
  (is_wanted ? wanted_ : watched_).push_back(key);
}

void WaitingClients::act(Now now, Instant holders_now) {
  time_out(now.monotonic);
  for (auto* lines : {&wanted_, &watched_}) {
    told_max_ = told_.size() + kToldAtOnce;
    for (std::size_t left = std::min(lines->size(), kLinesAtOnce); left > 0 && has_room(); --left) {
      const std::string key = std::move(lines->front());
      lines->pop_front();
      const auto found = lines_.find(key);
      if (found == lines_.end()) continue;
      Line& line = found->second;
      (lines == &wanted_ ? line.stands_in_wanted : line.stands_in_watched) = false;
      look_at(key, line, holders_now);
    }
  }
}

// Of those who want it. After some turns of its own the line waits for the nodes' word.
bool WaitingClients::may_try(Line& line, bool is_free, bool may_look) {
  const bool is_own = std::exchange(line.is_own_release, false) && !may_look;
  if (!is_free && !may_look) return false;
  if (is_own && line.own_turns >= kOwnTurnsMax) {
    line.own_turns = 0;
    return false;
  }
  line.own_turns = is_own ? line.own_turns + 1 : 0;
  return true;
}

void WaitingClients::stand_back(const std::string& key, Line& line, Instant holders_now) {
  if (line.watch) group_.cancel(*std::exchange(line.watch, std::nullopt), holders_now);
  if (line.place == kNoPlace) return;
  group_.leave_place(key, std::exchange(line.place, kNoPlace), holders_now);
}

// To the line's next state; what it tells may empty it. Who is told and leaves has it looked at
// once more.
void WaitingClients::look_at(const std::string& key, Line& line, Instant holders_now) {
  const bool is_free = std::exchange(line.seems_free, false);
  const bool may_look = std::exchange(line.may_look, false);
  line.tells_free = (line.tells_free || is_free) && !line.watchers.empty();
  while (line.tells_free && has_room()) {
    tell(line.watchers.begin()->second, Told::free);
    line.tells_free = !line.watchers.empty();
  }
  const bool wants = !line.is_trying && !line.takers.empty();
  if (wants && may_try(line, is_free, may_look)) {
    line.is_trying = true;
    tell(*line.takers.begin(), Told::try_now);
  }
  const bool is_over = line.takers.empty() && line.watchers.empty();
  // Given up before it is begun anew: while one of this process waits, nodes keep its ticket.
  const bool has_new_first =
      !is_over && !line.is_trying && line.shown && line.shown != waiters_.at(line.first()).ticket;
  if (is_over || has_new_first) stand_back(key, line, holders_now);
  if (is_over) {
    lines_.erase(key);
    line_bytes_ -= key.size();
    return;
  }
  const bool is_watched = !line.watchers.empty() && !line.tells_free;
  const bool is_awaited = !line.takers.empty() && !line.is_trying;
  if (line.watch || !(is_watched || is_awaited)) return;
  if (may_look && is_watched) return read(key, line, holders_now);
  watch(key, line, holders_now);
}

void WaitingClients::watch(const std::string& key, Line& line, Instant holders_now) {
  line.shown = waiters_.at(line.first()).ticket;
  line.watch = group_.wait_for_free({.name = key,
                                     .wait = kWatchMax,
                                     .has_failed = std::exchange(line.has_failed, false),
                                     .ticket = line.shown,
                                     .place = std::exchange(line.place, kNoPlace)},
                                    holders_now, [this, key](const WaitResult& result) {
                                      Line& told = lines_.at(key);
                                      told.watch.reset();
                                      told.place = result.place;
                                      told.seems_free =
                                          told.seems_free || result.outcome == WaitOutcome::free;
                                      told.may_look = result.outcome == WaitOutcome::look;
                                      look_later(key, told);
                                    });
}

// Where the nodes cannot tell that it is free.
void WaitingClients::read(const std::string& key, Line& line, Instant holders_now) {
  line.shown.reset();
  line.watch = group_.read({.name = key}, holders_now, [this, key](const ReadResult& result) {
    Line& told = lines_.at(key);
    told.watch.reset();
    told.seems_free = told.seems_free || result.verdict == ReadVerdict::free;
    look_later(key, told);
  });
}

void WaitingClients::end_all() {
  for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
    const Number number = waiter++->first;
    if (!is_trying(number)) tell(number, Told::over);
  }
}

}  // namespace redlock::coordinator
