#include "server/notify/waiters.h"

#include "base/invariant.h"

#include <algorithm>

namespace redlock::server {
namespace {

// Five tree nodes with what stands in them and what malloc adds; and a line's, which may be its
// own, with the key.
constexpr std::size_t kBytesPerWait = 640;

std::size_t bytes_of_wait(std::string_view key) {
  return key.size() + kBytesPerWait;
}

// Of a piece: a look at a hash is one step, and whoever is woken and told so many. Some 3 ms.
constexpr std::size_t kStepsOfLook = 4096;
constexpr std::size_t kStepsOfWake = 8;

}  // namespace

// --- waits

Waiters::Arming Waiters::arm(Wait wait, bool is_free, Instant now) {
  drop_wakes(wait.session, wait.form, wait.key);
  const Number known = find(wait.session, wait.form, wait.key);
  if (is_free && is_turn(wait, known, now)) {
    if (known != 0) remove(known);
    return Arming::called;
  }
  if (known != 0) {
    change(known, wait);
  } else if (count_of(wait.session) >= kWaitsPerSessionMax) {
    return Arming::refused;
  } else {
    stand(std::move(wait));
  }
  return Arming::waits;
}

// Of a free key. Whoever has a smaller ticket than all in its line need not be put there to be
// called. Else the line is looked at when the turn ends, as it may have been free for long.
bool Waiters::is_turn(const Wait& wait, Number known, Instant now) {
  const LinePlace place = line_of(wait.key);
  if (place == lines_.end()) return true;
  const Line& line = place->second;
  if (line.called && now < line.called->until) {
    return line.called->session == wait.session && line.called->form == wait.form;
  }
  auto first = line.by_ticket.begin();
  if (first->second == known) ++first;
  if (first == line.by_ticket.end()) return true;  // it stands alone
  if (wait.ticket >= first->first || is_by_coming(line)) {
    to_look_at_.push_back({place->first.first, false});
    return false;
  }
  set_called(place, {wait.session, wait.form, later(now, next_after_)});
  return true;
}

void Waiters::stand(Wait wait) {
  const std::uint32_t hash = locks_.hash_of(wait.key);
  const auto [place, is_new] = lines_.try_emplace({hash, std::move(wait.key)});
  Line& line = place->second;
  if (is_new) line.id = ++last_number_;
  const Number number = ++last_number_;
  const std::string_view key = place->first.second;
  line.by_ticket.emplace(wait.ticket, number);
  line.by_coming.insert(number);
  waits_.emplace(number,
                 Standing{wait.session, wait.form, wait.deadline, wait.ticket, wait.client, place});
  by_session_[wait.session].waits.emplace(std::pair(wait.form, key), number);
  by_deadline_.emplace(wait.deadline, number);
  key_bytes_ += key.size();
  if (wait.client != nullptr) wait.client->kept_bytes += bytes_of_wait(key);
  locks_.notes().want(KeyNotes::given_up, true);
}

void Waiters::change(Number number, const Wait& wait) {
  Standing& standing = waits_.at(number);
  auto& by_ticket = standing.line->second.by_ticket;
  by_ticket.erase({standing.ticket, number});
  by_ticket.emplace(wait.ticket, number);
  by_deadline_.erase({standing.deadline, number});
  by_deadline_.emplace(wait.deadline, number);
  standing.ticket = wait.ticket;
  standing.deadline = wait.deadline;
}

void Waiters::drop_wakes(SessionId session, Form form, std::string_view key) {
  std::erase_if(wakes_, [&](const Wake& wake) {
    return wake.session == session && wake.form == form && wake.key == key;
  });
}

void Waiters::cancel(SessionId session, Form form, std::string_view key) {
  drop_wakes(session, form, key);
  if (const Number known = find(session, form, key); known != 0) remove(known);
  const LinePlace line = line_of(key);
  if (line == lines_.end() || !line->second.called) return;
  if (line->second.called->session != session || line->second.called->form != form) return;
  clear_called(line);
  to_look_at_.push_back({line->first.first, false});
}

std::size_t Waiters::forget(SessionId session, std::size_t at_most) {
  std::erase_if(wakes_, [&](const Wake& wake) { return wake.session == session; });
  std::size_t forgotten = 0;
  for (; forgotten < at_most; ++forgotten) {
    const auto known = by_session_.find(session);
    if (known == by_session_.end()) break;
    if (!known->second.waits.empty()) {
      remove(known->second.waits.begin()->second);
      continue;
    }
    const LinePlace line = known->second.called_in.begin()->second;
    clear_called(line);
    to_look_at_.push_back({line->first.first, false});
  }
  return forgotten;
}

Waiters::Number Waiters::find(SessionId session, Form form, std::string_view key) const {
  const auto known = by_session_.find(session);
  if (known == by_session_.end()) return 0;
  const auto wait = known->second.waits.find({form, key});
  return wait == known->second.waits.end() ? 0 : wait->second;
}

Waiters::LinePlace Waiters::line_of(std::string_view key) {
  if (lines_.empty()) return lines_.end();
  return lines_.find({locks_.hash_of(key), std::string(key)});
}

void Waiters::wake(Number number, bool is_free) {
  std::string key = waits_.at(number).line->first.second;
  const Standing wait = remove(number);
  wakes_.push_back({wait.session, wait.form, std::move(key), is_free});
}

Waiters::Standing Waiters::remove(Number number) {
  const auto found = waits_.find(number);
  INVARIANT(found != waits_.end(), "a wait that stands in an index only");
  const Standing wait = found->second;
  const std::string_view key = wait.line->first.second;
  Line& line = wait.line->second;
  by_deadline_.erase({wait.deadline, number});
  line.by_ticket.erase({wait.ticket, number});
  line.by_coming.erase(number);
  by_session_.at(wait.session).waits.erase({wait.form, key});
  forget_if_empty(wait.session);
  key_bytes_ -= key.size();
  if (wait.client != nullptr) wait.client->kept_bytes -= bytes_of_wait(key);
  waits_.erase(found);
  if (line.by_coming.empty()) {
    set_due(wait.line, kNever);
    clear_called(wait.line);
    lines_.erase(wait.line);
  }
  if (waits_.empty()) {
    locks_.notes().want(KeyNotes::given_up, false);
    to_look_at_.clear();
    left_over_ = 0;
  }
  return wait;
}

void Waiters::forget_if_empty(SessionId session) {
  const auto known = by_session_.find(session);
  if (known->second.waits.empty() && known->second.called_in.empty()) by_session_.erase(known);
}

// --- who is called

// Where others are to be looked at already, those come first, in go_on(): else each turn would do a
// piece of this work. As many as are new are looked at all the same, so that it comes to an end.
void Waiters::look(Instant now) {
  take_ends();
  const std::size_t added = to_look_at_.size() - left_over_;
  look_at_some(now, left_over_ > 0 ? std::min(2 * added, kStepsOfLook) : kStepsOfLook);
}

void Waiters::take_ends() {
  if (!locks_.notes().has_given_up()) return;
  locks_.notes().take_given_up(new_hashes_);
  for (const std::uint32_t hash : new_hashes_) to_look_at_.push_back({hash, true});
}

// A key that the look itself finds to be over is given up by it.
void Waiters::look_at_some(Instant now, std::size_t steps_max) {
  for (std::size_t steps = 0; has_more() && steps < steps_max; ++steps) {
    const Look look = to_look_at_.front();
    to_look_at_.pop_front();
    look_at(look, now, steps);
    take_ends();
  }
  left_over_ = to_look_at_.size();
}

void Waiters::look_at(const Look& look, Instant now, std::size_t& steps) {
  for (auto next = lines_.lower_bound({look.hash, {}});
       next != lines_.end() && next->first.first == look.hash;) {
    const LinePlace line = next++;  // before it goes
    if (look.is_end) line->second.calls = 0;
    const std::size_t before = wakes_.size();
    call_next(line, now);
    steps += (wakes_.size() - before) * kStepsOfWake;
  }
}

// The table is asked even now: the wheel may be behind with a lock that is over (rule C5).
void Waiters::go_on(Instant now) {
  take_ends();
  look_at_some(now, kStepsOfLook);
  call_due(now);
  for (std::size_t steps = 0;
       !by_deadline_.empty() && by_deadline_.begin()->first <= now && steps < kStepsOfLook;
       steps += kStepsOfWake) {
    const Number number = by_deadline_.begin()->second;
    const std::string& key = waits_.at(number).line->first.second;
    wake(number, locks_.find(key, now) == nullptr);
  }
}

// With a wake-next-after of 0 a line is due again as soon as one of it was called.
void Waiters::call_due(Instant now) {
  for (std::size_t steps = 0;
       !due_.empty() && due_.begin()->first.first <= now && steps < kStepsOfLook;
       steps += kStepsOfWake) {
    const LinePlace line = due_.begin()->second;
    set_due(line, kNever);
    call_next(line, now);
  }
}

// Of a line whose key may be free. While it is held nothing is due: its end is noted.
void Waiters::call_next(LinePlace place, Instant now) {
  Line& line = place->second;
  if (locks_.find(place->first.second, now) != nullptr) return;
  if (line.called && now < line.called->until) {
    set_due(place, line.called->until);
    const Number again = find(line.called->session, line.called->form, place->first.second);
    if (again != 0) wake(again, true);
    return;
  }
  const Number number = first_of(line);
  const Standing& first = waits_.at(number);
  set_called(place, {first.session, first.form, later(now, next_after_)});
  wake(number, true);
}

Waiters::Number Waiters::first_of(const Line& line) {
  return is_by_coming(line) ? *line.by_coming.begin() : line.by_ticket.begin()->second;
}

void Waiters::set_called(LinePlace place, const Call& call) {
  clear_called(place);
  Line& line = place->second;
  line.called = call;
  ++line.calls;
  by_session_[call.session].called_in.emplace(line.id, place);
  if (lines_with_called_++ == 0) locks_.notes().want(KeyNotes::taken, true);
  set_due(place, call.until);
}

void Waiters::clear_called(LinePlace place) {
  Line& line = place->second;
  if (!line.called) return;
  const SessionId session = line.called->session;
  line.called.reset();
  by_session_.at(session).called_in.erase(line.id);
  forget_if_empty(session);
  if (--lines_with_called_ == 0) locks_.notes().want(KeyNotes::taken, false);
}

void Waiters::set_due(LinePlace place, Instant due) {
  Line& line = place->second;
  if (line.due != kNever) due_.erase({line.due, line.id});
  line.due = due;
  if (due != kNever) due_.emplace(std::pair(due, line.id), place);
}

void Waiters::note_taken(SessionId by) {
  locks_.notes().take_taken(new_hashes_);
  for (const std::uint32_t hash : new_hashes_) {
    for (auto line = lines_.lower_bound({hash, {}});
         line != lines_.end() && line->first.first == hash; ++line) {
      if (line->second.called && line->second.called->session == by) clear_called(line);
    }
  }
}

// --- figures

std::size_t Waiters::count_of(SessionId session) const {
  const auto known = by_session_.find(session);
  return known == by_session_.end() ? 0 : known->second.waits.size();
}

std::optional<Instant> Waiters::next_deadline() const {
  std::optional<Instant> next;
  if (!by_deadline_.empty()) next = by_deadline_.begin()->first;
  if (!due_.empty()) next = earlier(next, due_.begin()->first.first);
  return next;
}

Waiters::Summary Waiters::summary() const {
  Summary summary{.lines = lines_.size(), .longest = 0, .oldest = {}};
  for (const auto& [key, line] : lines_) {
    summary.longest = std::max(summary.longest, line.by_coming.size());
    const WaitTicket& first = line.by_ticket.begin()->first;
    if (!summary.oldest || first < *summary.oldest) summary.oldest = first;
  }
  return summary;
}

std::size_t Waiters::bytes() const {
  return waits_.size() * kBytesPerWait + key_bytes_;
}

void push_wake(protocol::Session& session, std::string key, bool is_free) {
  if (session.version() != protocol::Version::resp3) return;
  using protocol::Reply;
  Reply message = Reply::push({});
  message.add(Reply::bulk_view("lock.free"))
      .add(Reply::bulk(std::move(key)))
      .add(Reply::integer(is_free ? 1 : 0));
  session.tell(message, 0);
}

}  // namespace redlock::server
