#include "coordinator/drill/history/story.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;

Index index_of(const std::vector<std::string>& names) {
  Index index;
  for (std::size_t i = 0; i < names.size(); ++i) index.emplace(names[i], i);
  return index;
}

// "client 10" comes after "client 9".
bool is_before(const std::string& a, const std::string& b) {
  const auto stem = [](const std::string& name) { return name.find_last_not_of("0123456789") + 1; };
  const std::size_t stem_a = stem(a);
  const std::size_t stem_b = stem(b);
  const int order = a.compare(0, stem_a, b, 0, stem_b);
  if (order != 0) return order < 0;
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

// What `what` begins ends with one of these.
bool ends(What begun, What what) {
  switch (begun) {
    case What::killed:
      return what == What::started;
    case What::stopped:
      return what == What::continued || what == What::killed;
    case What::recovering:
      return what == What::serving || what == What::killed;
    case What::cut:
      return what == What::healed;
    case What::slowed:
      return what == What::unslowed;
    default:
      return false;
  }
}

bool begins_a_spell(What what) {
  return what == What::killed || what == What::stopped || what == What::recovering ||
         what == What::cut || what == What::slowed;
}

class Teller {
 public:
  explicit Teller(const History& history) : history_(history) {}
  Story tell();

 private:
  void name_parties();
  void name_locks();
  void tell_of_client(std::size_t number);
  void tell_of_fault(std::size_t number);
  void stall(std::size_t number, std::size_t party);
  void acquire(std::size_t number);
  void end_hold(std::size_t number);
  void extend(std::size_t number);
  void ask(std::size_t number);
  void wait(std::size_t number);
  void answer(std::size_t number, std::optional<std::size_t> hold);
  void end_spell(Spell spell, Instant at);
  void close_attempts(std::size_t client, Instant at);
  void close_all();

  const Event& event(std::size_t number) const { return history_.events[number]; }

  const History& history_;
  Story story_;
  Index party_of_;
  Index lock_of_;
  Index hold_of_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Attempt>> open_attempts_;
  std::map<std::size_t, std::vector<Spell>> open_spells_;  // by party
  std::map<std::size_t, Instant> last_end_;                // of a spell that has ended, by party
};

Story Teller::tell() {
  if (!history_.events.empty())
    story_.time = {begin_of(history_.events), history_.events.back().at};
  name_parties();
  name_locks();
  story_.hold_of.resize(history_.events.size());
  for (std::size_t i = 0; i < history_.events.size(); ++i) {
    if (is_of_a_client(event(i).what)) {
      tell_of_client(i);
    } else {
      tell_of_fault(i);
    }
  }
  close_all();
  return std::move(story_);
}

void Teller::name_parties() {
  const HistoryHeader& header = history_.header;
  std::set<std::string, decltype(&is_before)> clients(&is_before);
  std::set<std::string, decltype(&is_before)> nodes(&is_before);
  for (std::size_t i = 1; i <= header.nodes.size(); ++i) nodes.insert(fmt::format("node {}", i));
  for (const Event& event : history_.events) {
    if (is_node(event.who)) {
      nodes.insert(event.who);
    } else if (header.clients.empty()) {
      clients.insert(event.who);
    }
  }
  story_.parties = header.clients;
  story_.parties.insert(story_.parties.end(), clients.begin(), clients.end());
  story_.clients = story_.parties.size();
  story_.parties.insert(story_.parties.end(), nodes.begin(), nodes.end());
  party_of_ = index_of(story_.parties);
}

void Teller::name_locks() {
  std::set<std::string, decltype(&is_before)> locks(&is_before);
  std::string_view last;
  for (const Event& event : history_.events) {
    if (event.lock.empty() || event.lock == last) continue;
    last = event.lock;
    locks.insert(event.lock);
  }
  story_.locks.assign(locks.begin(), locks.end());
  lock_of_ = index_of(story_.locks);
}

void Teller::tell_of_client(std::size_t number) {
  const What what = event(number).what;
  if (what == What::asks) return ask(number);
  if (what == What::waits) return wait(number);
  if (what == What::refused) return answer(number, {});
  if (what == What::acquired) return acquire(number);
  story_.hold_of[number] = hold_of_.at(event(number).hold);
  if (what == What::extended) return extend(number);
  if (what == What::releases || what == What::lost) end_hold(number);
}

void Teller::acquire(std::size_t number) {
  const Event& told = event(number);
  Hold& hold = story_.holds.emplace_back();
  hold.client = party_of_.at(told.who);
  hold.lock = lock_of_.at(told.lock);
  hold.acquired = number;
  hold.token = told.token;
  hold.valid_until = told.valid_until;
  if (told.valid_until > told.at) hold.believed.push_back({told.at, told.valid_until});
  story_.hold_of[number] = story_.holds.size() - 1;
  hold_of_.emplace(told.hold, story_.holds.size() - 1);
  answer(number, story_.holds.size() - 1);
}

// A belief that has ended stays ended: an extension that is told after it counts for nothing. One
// that comes after the validity, from a client that was stopped in between, say, begins anew.
void Teller::extend(std::size_t number) {
  const Event& told = event(number);
  Hold& hold = story_.holds[*story_.hold_of[number]];
  if (hold.releases || hold.lost || told.valid_until <= told.at) return;
  hold.valid_until = told.valid_until;
  if (!hold.believed.empty() && told.at <= hold.believed.back().to) {
    hold.believed.back().to = told.valid_until;
  } else {
    hold.believed.push_back({told.at, told.valid_until});
  }
}

void Teller::end_hold(std::size_t number) {
  const Event& told = event(number);
  Hold& hold = story_.holds[*story_.hold_of[number]];
  if (hold.releases || hold.lost) return;
  (told.what == What::lost ? hold.lost : hold.releases) = number;
  if (!hold.believed.empty()) hold.believed.back().to = std::min(hold.believed.back().to, told.at);
}

void Teller::ask(std::size_t number) {
  const Event& told = event(number);
  const std::size_t client = party_of_.at(told.who);
  const std::size_t lock = lock_of_.at(told.lock);
  open_attempts_[{client, lock}].push_back(
      {.client = client, .lock = lock, .time = {told.at, told.at}, .asks = number});
}

// Of several open attempts the oldest that was not known to wait.
void Teller::wait(std::size_t number) {
  const Event& told = event(number);
  auto& open = open_attempts_[{party_of_.at(told.who), lock_of_.at(told.lock)}];
  const auto waiting =
      std::find_if(open.begin(), open.end(), [](const Attempt& one) { return !one.waits; });
  if (waiting != open.end()) waiting->waits = number;
}

// Of several open attempts of one client at one lock, which only threads have, it answers the one
// that `asked` names, or the oldest.
void Teller::answer(std::size_t number, std::optional<std::size_t> hold) {
  const Event& told = event(number);
  const std::size_t client = party_of_.at(told.who);
  const std::size_t lock = lock_of_.at(told.lock);
  std::vector<Attempt>& open = open_attempts_[{client, lock}];
  auto asked = std::find_if(open.begin(), open.end(),
                            [&](const Attempt& one) { return one.time.from == told.asked; });
  if (asked == open.end()) asked = open.begin();
  const Instant from = hold ? told.asked : told.at;
  Attempt attempt{.client = client, .lock = lock, .time = {from, told.at}};
  if (asked != open.end()) {
    attempt = *asked;
    open.erase(asked);
  }
  attempt.time.to = told.at;
  attempt.hold = hold;
  attempt.answer = number;
  story_.attempts.push_back(attempt);
}

void Teller::tell_of_fault(std::size_t number) {
  const Event& told = event(number);
  const std::size_t party = party_of_.at(told.who);
  if (told.what == What::stalled) return stall(number, party);
  std::vector<Spell>& open = open_spells_[party];
  const auto is_over = [&](Spell& spell) {
    if (!ends(spell.what, told.what) && spell.what != told.what) return false;
    end_spell(spell, told.at);
    return true;
  };
  open.erase(std::remove_if(open.begin(), open.end(), is_over), open.end());
  // The next process of its name knows nothing of an attempt that its last one told while it died.
  const bool ends_attempts = told.what == What::killed || told.what == What::started;
  if (ends_attempts) close_attempts(party, told.at);
  if (begins_a_spell(told.what))
    open.push_back(
        {.what = told.what, .party = party, .time = {told.at, told.at}, .begin = number});
}

// As if it had been stopped. That whoever was stopped did not run is not told once more.
void Teller::stall(std::size_t number, std::size_t party) {
  const Event& told = event(number);
  if (!open_spells_[party].empty()) return;
  const Instant began = told.at - std::chrono::milliseconds(told.ms);
  const Spell spell{.what = What::stopped,
                    .party = party,
                    .time = {std::max(began, last_end_[party]), told.at},
                    .begin = number};
  if (!spell.time.is_empty()) story_.spells.push_back(spell);
}

// A delay is over when it said it would be, also where nobody told of `serving`.
void Teller::end_spell(Spell spell, Instant at) {
  spell.time.to = at;
  if (spell.what == What::recovering) {
    spell.time.to = std::clamp(event(spell.begin).until, spell.time.from, at);
  }
  last_end_[spell.party] = at;
  story_.spells.push_back(spell);
}

void Teller::close_attempts(std::size_t client, Instant at) {
  for (auto i = open_attempts_.lower_bound({client, 0});
       i != open_attempts_.end() && i->first.first == client; ++i) {
    for (Attempt& attempt : i->second) {
      attempt.time.to = at;
      story_.attempts.push_back(attempt);
    }
    i->second.clear();
  }
}

void Teller::close_all() {
  for (std::size_t client = 0; client < story_.clients; ++client) {
    close_attempts(client, story_.time.to);
  }
  for (auto& [party, open] : open_spells_) {
    for (const Spell& spell : open) end_spell(spell, story_.time.to);
  }
  std::stable_sort(story_.spells.begin(), story_.spells.end(),
                   [](const Spell& a, const Spell& b) { return a.begin < b.begin; });
}

}  // namespace

bool is_late(const History& history, const Hold& hold, Instant write) {
  if (write >= hold.valid_until) return true;
  return hold.releases && write > history.events[*hold.releases].at;
}

Instant begin_of(const std::vector<Event>& events) {
  Instant begin = events.front().at;
  for (const Event& event : events) {
    if (event.what == What::acquired) begin = std::min(begin, event.asked);
  }
  return begin;
}

Story tell(const History& history) {
  return Teller(history).tell();
}

}  // namespace redlock::drill
