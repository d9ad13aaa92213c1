#include "tests/process/kill_storm/victim.h"

#include "base/text/number.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace redlock::kill_storm {
namespace {

constexpr Duration kWindow = 50ms;
constexpr Duration kLoweredWithin = 20ms;  // rule R5
constexpr Duration kEndAfterDeadline = 20ms;
constexpr Duration kPatience = 30s;
constexpr Duration kPause = 2ms;  // between two pieces of load
constexpr Duration kProbePauseMax = 20ms;
constexpr std::size_t kUnderWayMax = 16;  // commands; more are not added
constexpr std::uint64_t kPieceMax = 6;    // commands sent together

double as_ms(Duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

// A line of INFO.
std::string_view field(std::string_view info, std::string_view name) {
  const std::string begin = fmt::format("\n{}:", name);
  const std::size_t at = info.find(begin);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = info.substr(at + begin.size());
  return rest.substr(0, rest.find('\r'));
}

Duration milliseconds_of(std::string_view digits) {
  return std::chrono::milliseconds(parse_int64(digits).value_or(0));
}

// "… no new locks for 12 ms"
Duration refused_for(std::string_view error) {
  constexpr std::string_view kBefore = "no new locks for ";
  const std::size_t at = error.find(kBefore);
  if (at == std::string_view::npos) return 0ns;
  const std::string_view rest = error.substr(at + kBefore.size());
  return milliseconds_of(rest.substr(0, rest.find(' ')));
}

}  // namespace

Victim::Victim(std::unique_ptr<NodeProcess> node, std::uint64_t seed, const StormOptions& options,
               Findings& findings)
    : node_(std::move(node)),
      options_(options),
      findings_(findings),
      random_(seed),
      load_(std::to_string(node_->port()), seed ^ 1) {
  start();
}

Victim::~Victim() {
  findings_.grants += load_.grants();
}

void Victim::start() {
  node_->start();
  state_ = State::connecting;
  const Instant at = now();
  next_step_ = at;
  give_up_ = at + kPatience;
  // It knows no lock from before, so that it had no turn before now excuses nothing.
  last_trip_ = turned_since_ = at;
}

bool Victim::step() {
  if (state_ == State::over) return false;
  if (connection_) read_answers();
  const Instant at = now();
  if (at > give_up_) {
    defect("no grant for 30 s after a start");
    state_ = State::over;
  }
  if (at < next_step_ || state_ == State::over) return state_ != State::over;
  if (kill_at_ != Instant() && at >= kill_at_) {
    kill_node();
  } else if (state_ == State::connecting) {
    connect();
  } else if (state_ == State::recovering) {
    probe();
  } else {
    add_load();
  }
  return state_ != State::over;
}

// Until it listens. INFO goes first, so that it tells how the node started; the first try for a
// lock stands behind it, and is answered when the run is durable (rule R9).
void Victim::connect() {
  connection_ = Connection::dial(node_->port());
  next_step_ = now() + 1ms;
  if (!connection_) return;
  state_ = State::recovering;
  end_.reset();
  has_info_ = was_refused_ = false;
  constexpr std::uint64_t kOneOf = 6;
  const bool dies_soon = kill_ && random_.below(kOneOf) == 0;
  kill_at_ = dies_soon ? now() + std::chrono::milliseconds(random_.below(300)) : Instant();
  probe();
}

void Victim::request_info(Instant sent) {
  connection_->add({"INFO", "restart"});
  info_sent_ = sent;
}

void Victim::probe() {
  if (load_.under_way() > 0) {
    next_step_ = now() + 1ms;
    return;
  }
  const Instant sent = now();
  request_info(sent);
  add(load_.probe(sent));
  flush(sent);
  next_step_ = sent + kProbePauseMax;
}

void Victim::add(const Load::Words& words) {
  if (!words.empty()) connection_->add(words);
}

void Victim::flush(Instant sent) {
  connection_->flush();
  if (!trip_ && load_.under_way() > 0) {
    trip_ = sent;
    trip_waits_for_ = load_.under_way();
  }
}

void Victim::read_answers() {
  connection_->receive();
  const Instant answered = now();
  while (auto reply = connection_->next_reply()) {
    if (info_sent_) {
      take_info(*reply, answered);
      continue;
    }
    if (load_.under_way() == 0) return defect("an answer that nobody waits for");
    const std::size_t before = load_.under_way();
    const bool granted = load_.answer(*reply, answered);
    if (load_.under_way() < before) note_trip();
    for (const std::string& text : load_.take_defects()) defect(text);
    if (state_ != State::recovering) continue;
    const Duration wait = std::min(refused_for(reply->text()) - 2ms, kProbePauseMax);
    next_step_ = answered + std::max<Duration>(wait, 1ms);
    check_probe(granted, answered);
  }
  if (!connection_->is_open() && state_ != State::over) {
    defect("the node closed the connection");
    state_ = State::over;
  }
}

void Victim::note_trip() {
  if (!trip_ || --trip_waits_for_ > 0) return;
  turned_since_ = last_trip_;
  last_trip_ = *trip_;
  trip_.reset();
}

// What each answer says about the end must agree with all before it.
void Victim::take_info(const protocol::Reply& reply, Instant answered) {
  const Instant sent = *std::exchange(info_sent_, std::nullopt);
  const std::string_view text = reply.text();
  const bool recovers = field(text, "state") == "recovering";
  if (!has_info_ && kill_) {
    const std::string_view cause = field(text, "cause");
    if (cause != "crash") defect(fmt::format("INFO tells the cause {}", cause));
    if (recovers && milliseconds_of(field(text, "delay_ms")) == 0ns) {
      defect("INFO tells no delay of a recovering node");
    }
  }
  const bool is_first = !std::exchange(has_info_, true);
  if (!recovers) return;
  const Duration left = milliseconds_of(field(text, "delay_left_ms"));
  const Between end{sent + left - 1ms, answered + left};
  if (!end_ && is_first) end_ = end;
  if (!end_) return defect("it recovers after it served");
  end_ = {std::max(end_->earliest, end.earliest), std::min(end_->latest, end.latest)};
  if (end_->earliest > end_->latest) defect("the end of the delay moves");
}

void Victim::check_probe(bool granted, Instant answered) {
  if (!granted) {
    was_refused_ = true;
    return;
  }
  if (end_) findings_.first_grant_after_end.push_back(answered - end_->earliest);
  if (was_refused_ && !end_) defect("a try was refused, with no delay in INFO");
  if (kill_) check_start();
  if (state_ != State::over) begin_load();
}

// Checks 2 to 4 of the header.
void Victim::check_start() {
  const Kill kill = *std::exchange(kill_, std::nullopt);
  const AtTheKill& found = kill.found;
  ++findings_.checked;
  findings_.in_a_wider_window += kill.is_wider && !kill.within_the_delay ? 1 : 0;
  findings_.within_the_delay += kill.within_the_delay ? 1 : 0;
  if (!found.possible_until) ++findings_.without_a_lock;
  if (end_) {
    ++findings_.with_delay;
    if (end_->latest < found.certain_until) {
      defect(fmt::format("the delay ends {:.1f} ms before the deadline of a live lock",
                         as_ms(found.certain_until - end_->latest)));
    }
  }
  Instant latest = found.possible_until.value_or(Instant()) + kEndAfterDeadline;
  if (kill.last_end) latest = std::max(latest, *kill.last_end);
  if (end_ && found.possible_until && !kill.last_end) {
    findings_.end_after_deadline.push_back(end_->earliest - *found.possible_until);
  }
  if (!end_ || !options_.checks_time || end_->earliest <= latest) return;
  defect(found.possible_until ? fmt::format("the delay ends {:.1f} ms after the latest deadline",
                                            as_ms(end_->earliest - *found.possible_until))
                              : fmt::format("a delay of {:.1f} ms more, and no lock was live",
                                            as_ms(end_->earliest - kill.begun)));
}

void Victim::begin_load() {
  if (findings_.kills >= options_.kills) {
    state_ = State::over;
    return;
  }
  state_ = State::loaded;
  mood_ = static_cast<Mood>(random_.below(4));
  const Instant at = now();
  const auto busy = std::chrono::milliseconds(100 + random_.below(700));
  const auto quiet = std::chrono::milliseconds(random_.below(400));
  quiet_from_ = at + busy;
  kill_at_ =
      at + busy + (mood_ == Mood::then_quiet || mood_ == Mood::then_released ? quiet : Duration(0));
  kill_at_ += std::chrono::microseconds(random_.below(5000));
  give_up_ = kill_at_ + kPatience;
  next_step_ = at;
}

void Victim::add_load() {
  const Instant sent = now();
  next_step_ = std::min(sent + kPause, kill_at_);
  if (load_.under_way() >= kUnderWayMax) return;
  const std::uint64_t count = 1 + random_.below(kPieceMax);
  for (std::uint64_t i = 0; i < count; ++i) add(next_command(sent));
  flush(sent);
}

Load::Words Victim::next_command(Instant sent) {
  const bool is_quiet = sent >= quiet_from_;
  switch (mood_) {
    case Mood::long_ttls:
      return load_.change({50ms, 5s}, sent);
    case Mood::short_ttls:
      return load_.change({50ms, 200ms}, sent);
    case Mood::then_quiet:
      return is_quiet ? load_.look(sent) : load_.change({50ms, 200ms}, sent);
    case Mood::then_released: {
      if (!is_quiet) return load_.change({50ms, 5s}, sent);
      auto release = load_.release_one(sent);
      return release.empty() ? load_.look(sent) : release;
    }
  }
  return {};
}

void Victim::kill_node() {
  Kill next;
  next.begun = now();
  node_->kill();
  const Instant dead = now();
  kill_at_ = {};
  ++findings_.kills;
  const bool in_delay = state_ == State::recovering && (end_ || kill_);
  state_ = State::connecting;
  // What the node had sent before it died is an answer like any other.
  connection_->receive();
  while (auto reply = connection_->next_reply()) {
    if (std::exchange(info_sent_, std::nullopt)) continue;
    if (load_.under_way() > 0) load_.answer(*reply, dead);
  }
  for (const std::string& text : load_.take_defects()) defect(text);
  load_.killed(dead);
  const Instant turned = turned_since_ - kLoweredWithin;
  next.is_wider = turned < next.begun - kWindow;
  next.found = load_.at_the_kill(std::min(next.begun - kWindow, turned));
  next.within_the_delay = in_delay;
  if (in_delay && end_) next.last_end = end_->latest;
  // A start that did not live to tell its delay owes what the one before it owed.
  if (in_delay && kill_ && !has_info_) {
    next.last_end = kill_->last_end;
    if (kill_->found.possible_until) {
      next.last_end = std::max(next.last_end.value_or(Instant()),
                               *kill_->found.possible_until + kEndAfterDeadline);
    }
  }
  kill_ = next;
  info_sent_.reset();
  trip_.reset();
  connection_.reset();
  start();
}

void Victim::defect(const std::string& text) {
  findings_.defects.push_back(
      fmt::format("node {}, kill {}: {}", node_->port(), findings_.kills, text));
}

}  // namespace redlock::kill_storm
