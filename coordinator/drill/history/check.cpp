#include "coordinator/drill/history/check.h"

#include "coordinator/drill/history/figures.h"
#include "coordinator/quorum/validity.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::drill {
namespace {

constexpr std::array<std::string_view, kFindingKinds> kNames = {
    "overlap",   "token_order", "token_twice",   "old_write",
    "late_loss", "revived",     "long_validity", "starved"};

using Numbers = std::vector<std::size_t>;

class Checker {
 public:
  Checker(const History& history, const Story& story, const CheckSettings& settings);
  Report check();

 private:
  struct Belief {
    TimeRange time;
    std::size_t hold;
  };
  // The beliefs that last, the first to end in front.
  using Believed = std::multimap<Instant, const Belief*>;
  // Until when a client may rely on its hold, as its events have told so far.
  struct Claim {
    Instant valid_until{};
    Duration ttl{};  // 0: not told
  };

  void check_overlaps(const Numbers& holds);
  void check_token_order(const Numbers& holds);
  void check_tokens_unique(const Numbers& holds);
  void check_writes();
  void check_losses();
  void check_claims();
  void check_revival(std::size_t number, const Claim& before, Duration ttl);
  void check_length(std::size_t number, const Claim& before, Duration ttl);
  void check_wait(const Wait& wait);
  void check_patience(const Attempt& attempt);

  void found_overlap(const Belief& a, const Belief& b);
  void found_smaller_token(const Hold& later, const Hold& earlier);
  // Its text is made only if it is listed.
  template <class Text>
  void found(FindingKind kind, TimeRange time, std::size_t lock, Numbers events, Text text);

  const Event& event(std::size_t number) const { return history_.events[number]; }
  const Event& acquired(const Hold& hold) const { return event(hold.acquired); }
  std::string at(Instant time) const { return clock_text(story_, time); }
  std::string holder_text(const Hold& hold) const;
  std::string waiter_text(const Attempt& attempt) const;

  const History& history_;
  const Story& story_;
  const CheckSettings settings_;
  const RunningTimes running_;
  std::vector<Numbers> holds_of_;  // each lock's, by the time of acquired
  Report report_;
};

Checker::Checker(const History& history, const Story& story, const CheckSettings& settings)
    : history_(history),
      story_(story),
      settings_(settings),
      running_(story),
      holds_of_(story.locks.size()) {
  for (std::size_t i = 0; i < story.holds.size(); ++i) holds_of_[story.holds[i].lock].push_back(i);
}

Report Checker::check() {
  for (const Numbers& holds : holds_of_) {
    check_overlaps(holds);
    check_token_order(holds);
    check_tokens_unique(holds);
  }
  check_writes();
  check_losses();
  check_claims();
  const std::vector<Wait> waits = waits_of(history_, story_);
  for (const Wait& wait : waits) check_wait(wait);
  std::stable_sort(report_.findings.begin(), report_.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.time.from < b.time.from; });
  report_.summary = summarize(history_, story_, settings_.notice_time);
  report_.summary.waits = sum_of(waits, story_);
  return std::move(report_);
}

template <class Text>
void Checker::found(FindingKind kind, TimeRange time, std::size_t lock, Numbers events, Text text) {
  const auto index = static_cast<std::size_t>(kind);
  ++report_.counts[index];
  if (report_.counts[index] > settings_.listed_max) return;
  report_.findings.push_back({kind, time, lock, std::move(events), text()});
}

std::string Checker::holder_text(const Hold& hold) const {
  const Event& told = acquired(hold);
  return fmt::format("{} (acquired at {}, {})", told.who, at(told.at), place_of(history_, told));
}

std::string Checker::waiter_text(const Attempt& attempt) const {
  const Event& told = event(*attempt.waits);
  return fmt::format("lock \"{}\": {} waited from {} on ({})", told.lock, told.who, at(told.at),
                     place_of(history_, told));
}

// Beliefs by their beginning; each is compared with those that last when it begins.
void Checker::check_overlaps(const Numbers& holds) {
  std::vector<Belief> beliefs;
  for (const std::size_t hold : holds) {
    for (const TimeRange& time : story_.holds[hold].believed) {
      if (!time.is_empty()) beliefs.push_back({time, hold});
    }
  }
  std::stable_sort(beliefs.begin(), beliefs.end(),
                   [](const Belief& a, const Belief& b) { return a.time.from < b.time.from; });
  Believed lasting;
  for (const Belief& belief : beliefs) {
    lasting.erase(lasting.begin(), lasting.upper_bound(belief.time.from));
    std::size_t& count = report_.counts[static_cast<std::size_t>(FindingKind::overlap)];
    const std::size_t sum = count + lasting.size();
    for (auto other = lasting.begin(); other != lasting.end() && count < settings_.listed_max;
         ++other) {
      found_overlap(*other->second, belief);
    }
    count = sum;  // of pairs, without looking at all of them
    lasting.emplace(belief.time.to, &belief);
  }
}

void Checker::found_overlap(const Belief& a, const Belief& b) {
  const Hold& first = story_.holds[a.hold];
  const Hold& second = story_.holds[b.hold];
  const TimeRange both{b.time.from, std::min(a.time.to, b.time.to)};
  found(FindingKind::overlap, both, first.lock, {first.acquired, second.acquired}, [&] {
    return fmt::format("lock \"{}\" had two holders for {}, from {}: {} and {}",
                       story_.locks[first.lock], precise_duration(both.length()), at(both.from),
                       holder_text(first), holder_text(second));
  });
}

// By the beginning of their attempts, each is compared with the largest token of those that had
// succeeded by then. Of attempts that overlap nothing is promised but that their tokens differ.
void Checker::check_token_order(const Numbers& holds) {
  Numbers by_asked;
  for (const std::size_t hold : holds) {
    if (story_.holds[hold].token != 0) by_asked.push_back(hold);
  }
  const Numbers by_acquired = by_asked;
  std::stable_sort(by_asked.begin(), by_asked.end(), [&](std::size_t a, std::size_t b) {
    return acquired(story_.holds[a]).asked < acquired(story_.holds[b]).asked;
  });
  const Hold* largest = nullptr;
  auto earlier = by_acquired.begin();
  for (const std::size_t number : by_asked) {
    const Hold& hold = story_.holds[number];
    for (; earlier != by_acquired.end(); ++earlier) {
      const Hold& other = story_.holds[*earlier];
      if (acquired(other).at >= acquired(hold).asked) break;
      if (largest == nullptr || other.token > largest->token) largest = &other;
    }
    if (largest != nullptr && hold.token <= largest->token) found_smaller_token(hold, *largest);
  }
}

void Checker::found_smaller_token(const Hold& later, const Hold& earlier) {
  const Event& told = acquired(later);
  found(FindingKind::token_order, {told.at, told.at}, later.lock,
        {earlier.acquired, later.acquired}, [&] {
          return fmt::format(
              "lock \"{}\": {} asked at {} and got token {}, no larger than the {} of {}",
              story_.locks[later.lock], holder_text(later), at(told.asked), later.token,
              earlier.token, holder_text(earlier));
        });
}

void Checker::check_tokens_unique(const Numbers& holds) {
  std::map<std::uint64_t, std::size_t> holder_of;
  for (const std::size_t number : holds) {
    const Hold& hold = story_.holds[number];
    if (hold.token == 0) continue;
    const auto [before, is_new] = holder_of.emplace(hold.token, number);
    if (is_new) continue;
    const Hold& first = story_.holds[before->second];
    const Instant when = acquired(hold).at;
    found(FindingKind::token_twice, {when, when}, hold.lock, {first.acquired, hold.acquired}, [&] {
      return fmt::format("lock \"{}\": token {} was given twice, to {} and to {}",
                         story_.locks[hold.lock], hold.token, holder_text(first),
                         holder_text(hold));
    });
  }
}

void Checker::check_writes() {
  std::vector<std::optional<std::size_t>> largest(story_.locks.size());  // an accepted write
  for (std::size_t i = 0; i < history_.events.size(); ++i) {
    const Event& write = event(i);
    if (write.what != What::wrote || !write.accepted || write.token == 0) continue;
    const std::size_t lock = story_.holds[*story_.hold_of[i]].lock;
    std::optional<std::size_t>& seen = largest[lock];
    if (!seen || write.token >= event(*seen).token) {
      seen = i;
      continue;
    }
    const Event& larger = event(*seen);
    found(FindingKind::old_write, {write.at, write.at}, lock, {*seen, i}, [&] {
      return fmt::format(
          "lock \"{}\": a write of {} with token {} was accepted at {} ({}), though one of {} with "
          "token {} had been at {} ({})",
          write.lock, write.who, write.token, at(write.at), place_of(history_, write), larger.who,
          larger.token, at(larger.at), place_of(history_, larger));
    });
  }
}

void Checker::check_losses() {
  for (const Hold& hold : story_.holds) {
    if (outcome_of(history_, story_, running_, hold, settings_.notice_time) != Outcome::late)
      continue;
    const std::optional<std::size_t> told = hold.lost ? hold.lost : hold.releases;
    const Instant until = told ? event(*told).at : story_.time.to;
    Numbers events = {hold.acquired};
    if (told) events.push_back(*told);
    found(FindingKind::late_loss, {hold.valid_until, until}, hold.lock, std::move(events), [&] {
      const std::string how = told ? fmt::format("{} told of it {} later ({})", acquired(hold).who,
                                                 precise_duration(until - hold.valid_until),
                                                 place_of(history_, event(*told)))
                                   : fmt::format("{} never told of it", acquired(hold).who);
      return fmt::format("lock \"{}\": the validity of {} ended at {} while its client ran; {}",
                         story_.locks[hold.lock], holder_text(hold), at(hold.valid_until), how);
    });
  }
}

// Rules Q2 and Q4, as far as a history can know. Of each claim, acquired or extended, there are
//
//   asked <= began < decided <= told
//
// `began` is the reading of the clock that the rule counts from, just before the first bytes of the
// request. No history has it: `asked` precedes the client's wait for other holders, and whatever
// else comes before the request that succeeds. So only what follows from asked and told counts.
//
// A claim after its hold's release or loss counts for nothing, and neither does one whose time was
// over when it came to be told: nobody relied on it.
void Checker::check_claims() {
  std::vector<Claim> claims(story_.holds.size());
  for (std::size_t i = 0; i < history_.events.size(); ++i) {
    const Event& told = event(i);
    if (told.what != What::acquired && told.what != What::extended) continue;
    const Hold& hold = story_.holds[*story_.hold_of[i]];
    const std::optional<std::size_t> end = hold.lost ? hold.lost : hold.releases;
    if (end && *end < i) continue;
    Claim& claim = claims[*story_.hold_of[i]];
    const Duration ttl = told.ttl_ms > 0 ? std::chrono::milliseconds(told.ttl_ms) : claim.ttl;
    const bool is_over = told.valid_until <= told.at;
    if (!is_over) {
      if (told.what == What::extended) check_revival(i, claim, ttl);
      check_length(i, claim, ttl);
    }
    claim = {is_over ? std::max(claim.valid_until, told.valid_until) : told.valid_until, ttl};
  }
}

// Rule Q4: an extension is decided before the old validity ends. Two things prove that it was not:
//
// - It began too late. Rule Q2 read backwards tells the earliest beginning that gives a validity up
//   to valid_until. It proves nothing where it lies after `told`: then Q2 itself was broken.
// - Its client ran for telling_time after the old end, and had told nothing. One that was stopped
//   may have had the deciding reply before, and no chance to tell.
void Checker::check_revival(std::size_t number, const Claim& before, Duration ttl) {
  const Event& told = event(number);
  const Instant end = before.valid_until;
  if (told.at < end) return;
  const Hold& hold = story_.holds[*story_.hold_of[number]];
  const Duration longest = ttl - coordinator::drift_allowance(ttl, history_.header.clock_drift);
  const Instant earliest = told.valid_until - longest;
  const bool began_late = ttl > Duration(0) && earliest >= end && earliest <= told.at;
  const Duration ran = running_.running_within(hold.client, {end, told.at});
  if (!began_late && ran < settings_.telling_time) return;
  found(FindingKind::revived, {end, told.at}, hold.lock, {hold.acquired, number}, [&] {
    const std::string proof =
        began_late ? fmt::format("by a request that was sent {} after that end at the earliest",
                                 precise_duration(earliest - end))
                   : fmt::format("and its client had run for {} of that", precise_duration(ran));
    return fmt::format(
        "lock \"{}\": the validity of {} ended at {}; it was extended {} later ({}), {}", told.lock,
        holder_text(hold), at(end), precise_duration(told.at - end), place_of(history_, told),
        proof);
  });
}

// Rule Q2: a validity ends at began + TTL - (TTL * d + 2 ms). The latest that a history leaves for
// `began` is `told`, so a longer one breaks the rule however fast the nodes answered; what stays
// unseen is a validity that is too long by less than began to told took. An extension that would
// end before the old validity leaves that as it is (rule Q4).
void Checker::check_length(std::size_t number, const Claim& before, Duration ttl) {
  const Event& told = event(number);
  if (ttl == Duration(0)) return;
  const Instant latest = coordinator::validity_end(told.at, ttl, history_.header.clock_drift);
  if (told.valid_until <= std::max(latest, before.valid_until)) return;
  const Hold& hold = story_.holds[*story_.hold_of[number]];
  Numbers events = {hold.acquired};
  if (number != hold.acquired) events.push_back(number);
  found(FindingKind::long_validity, {told.at, told.at}, hold.lock, std::move(events), [&] {
    return fmt::format(
        "lock \"{}\": {} had a validity of {} left at {} ({}); a TTL of {} allows {} at most",
        told.lock, holder_text(hold), precise_duration(told.valid_until - told.at), at(told.at),
        place_of(history_, told), precise_duration(ttl),
        precise_duration(TimeRange{told.at, latest}.length()));
  });
}

// Rule Q7, as far as lines.h can tell it from a history.
void Checker::check_wait(const Wait& wait) {
  const Attempt& attempt = story_.attempts[wait.attempt];
  const TimeRange time{event(*attempt.waits).at, attempt.time.to};
  if (wait.later.size() > settings_.overtaken_max) {
    const Hold& last = story_.holds[wait.later.back()];
    found(FindingKind::starved, time, attempt.lock, {*attempt.waits, last.acquired}, [&] {
      return fmt::format("{}; {} that came later got it before, the last of them {}",
                         waiter_text(attempt), wait.later.size(), holder_text(last));
    });
  }
  if (wait.idle.length() > settings_.idle_max) {
    found(FindingKind::starved, wait.idle, attempt.lock, {*attempt.waits}, [&] {
      return fmt::format("{}; from {} on nobody had it for {}", waiter_text(attempt),
                         at(wait.idle.from), precise_duration(wait.idle.length()));
    });
  }
  check_patience(attempt);
}

// Whoever waits in vain is told so when its own patience is over: there is no other reason.
void Checker::check_patience(const Attempt& attempt) {
  const Instant until = event(*attempt.waits).until;
  if (attempt.hold || !attempt.answer || attempt.time.to >= until) return;
  const TimeRange left{attempt.time.to, until};
  found(FindingKind::starved, left, attempt.lock, {*attempt.waits, *attempt.answer}, [&] {
    const Event& answer = event(*attempt.answer);
    return fmt::format("{}, for {}; it was refused {} before that was over ({}, {})",
                       waiter_text(attempt), precise_duration(until - event(*attempt.waits).at),
                       precise_duration(left.length()),
                       answer.why.empty() ? "no reason" : answer.why, place_of(history_, answer));
  });
}

}  // namespace

std::string_view name_of(FindingKind kind) {
  return kNames.at(static_cast<std::size_t>(kind));
}

bool Report::is_clean() const {
  return count() == 0;
}

std::size_t Report::count() const {
  std::size_t sum = 0;
  for (const std::size_t kind : counts) sum += kind;
  return sum;
}

std::string clock_text(const Story& story, Instant time) {
  const Duration since = time - story.time.from;
  return fmt::format("{:.6f} s", std::chrono::duration<double>(since).count());
}

Report check(const History& history, const Story& story, const CheckSettings& settings) {
  return Checker(history, story, settings).check();
}

}  // namespace redlock::drill
