// Running and deciding; what it asks the nodes is in served_command_nodes.cpp.
#include "coordinator/front_door/served/served_command.h"

#include "base/invariant.h"
#include "coordinator/front_door/served/door_errors.h"
#include "server/grants/refusals.h"

#include <algorithm>

namespace redlock::coordinator {

using protocol::Reply;

ServedCommand::ServedCommand(const Parts& parts, KeyLines::Number number,
                             std::unique_ptr<CommandBody> body, Now came)
    : parts_(parts), number_(number), body_(std::move(body)), came_(came), ran_at_(came) {}

ServedCommand::~ServedCommand() {
  for (const Reading& reading : readings_)
    parts_.group.cancel(reading.operation, ran_at_.monotonic);
}

// --- running

KeyState* ServedCommand::find(const std::string& key) {
  const auto found = std::find_if(keys_.begin(), keys_.end(),
                                  [&](const KeyState& state) { return state.key == key; });
  return found == keys_.end() ? nullptr : &*found;
}

KeyState& ServedCommand::state_of(const std::string& key, Now now) {
  if (KeyState* known = find(key)) return *known;
  keys_.push_back({.key = key});
  guess(keys_.back(), now);
  return keys_.back();
}

void ServedCommand::guess(KeyState& state, Now now) {
  const KnownLocks::Known* known = parts_.known.find(state.key, now.monotonic);
  state.value = known == nullptr ? std::nullopt : known->value;
  state.deadline = known == nullptr ? Instant{} : known->deadline;
  state.ttl = known == nullptr ? 0ns : known->ttl;
  state.certainty = known != nullptr && !known->value ? Certainty::unknown : Certainty::guess;
  state.read_at = {};
}

std::vector<KnownRecord> ServedCommand::records(Now now) const {
  std::vector<KnownRecord> records;
  records.reserve(keys_.size());
  for (const KeyState& state : keys_) {
    records.push_back(
        {state.key, state.seen(now.monotonic), state.value ? &*state.value : nullptr});
  }
  return records;
}

RunResult ServedCommand::run_once(Now now) {
  ++parts_.stats.runs;
  if (!parts_.stopwatch) return body_->run(records(now), now);
  const Instant began = parts_.stopwatch();
  RunResult result = body_->run(records(now), now);
  const Duration took = parts_.stopwatch() - began;
  last_took_ += took;
  ran_ += took;
  result.is_cut_short = result.is_cut_short || ran_ > kRunTimeMax;
  return result;
}

// Until every key that the run touched was among those that it was given: each run finds one more,
// or is the last. False: it cannot go on, and has failed.
bool ServedCommand::run(Now now) {
  if (++runs_ > kRunsMax) {
    refuse(std::string(kChangesTooOften), now);
    return false;
  }
  last_took_ = {};
  for (bool is_again = runs_ > 1;; is_again = true) {
    if (is_again) ++parts_.stats.runs_again;
    last_ = run_once(now);
    ran_at_ = now;
    if (last_.is_cut_short) return true;
    bool is_complete = true;
    for (const TouchedKey& touched : last_.touched) {
      if (find(touched.key) != nullptr) continue;
      is_complete = is_complete && !state_of(touched.key, now).value;
    }
    if (keys_.size() > kKeysMax) {
      refuse(std::string(kTooManyKeys), now);
      return false;
    }
    if (is_complete) break;
  }
  drop_untouched();
  return true;
}

// Keys that were expected, and that the run did without.
void ServedCommand::drop_untouched() {
  std::erase_if(keys_, [&](const KeyState& state) {
    const bool is_touched =
        std::any_of(last_.touched.begin(), last_.touched.end(),
                    [&](const TouchedKey& touched) { return touched.key == state.key; });
    return !is_touched && state.certainty == Certainty::guess;
  });
}

// Whether it went by what is left of a deadline, and that is a guess. Another run on another guess
// tells nothing of those between: a script may ask for any range.
bool ServedCommand::hangs_on_deadlines() const {
  if (!last_.reads_deadlines && !last_.moves_deadlines) return false;
  return std::any_of(keys_.begin(), keys_.end(), [](const KeyState& state) {
    return state.value && state.certainty == Certainty::guess;
  });
}

// Its client may rely on that from when it reads it, as on the TTL of an OK (rule D2).
bool ServedCommand::tells_time_left() const {
  return last_.reads_deadlines &&
         std::any_of(last_.touched.begin(), last_.touched.end(),
                     [](const TouchedKey& touched) { return touched.after.has_value(); });
}

// --- deciding

void ServedCommand::start(Now now) {
  for (const std::string& key : body_->expected_keys()) state_of(key, now);
  if (!run(now)) return;
  if (last_.is_cut_short) return refuse(std::string(kScriptTooLong), now);
  if (keys_.empty()) return answer(now);
  if (stand_in_line(now)) decide(behind_run(now));
}

// What was guessed, or learned, when it came may have changed since. Two creations that fail at
// once are two events, of which the second finds nothing to do.
void ServedCommand::on_turn(Now now) {
  if (finished() || commit_ || !readings_.empty() || waits_to_run_) return;
  if (waits_since_) parts_.stats.turn_waits.add(now.monotonic - *waits_since_);
  end_wait(now);
  for (KeyState& state : keys_) guess(state, now);
  runs_ = 0;
  work(now);
}

// What nodes answer is looked at when it comes: only the run waits, for those of others.
void ServedCommand::work(Now now) {
  if (!is_slow()) return run_and_decide(now);
  waits_to_run_ = true;
  wait(now);
  parts_.on_slow(number_);
}

void ServedCommand::run_and_decide(Now now) {
  if (!run(now)) return;
  if (stand_in_line(now)) decide(behind_run(now));
}

// The time of a long run is none that nodes took: what it asks and promises counts from its end.
Now ServedCommand::behind_run(Now now) const {
  return {later(now.monotonic, last_took_ < server::TurnOrder::kLongWork ? 0ns : last_took_),
          now.wall};
}

void ServedCommand::decide(Now now) {
  if (last_.is_cut_short) return refuse(std::string(kScriptTooLong), now);
  Plan plan = this->plan(now);
  if (finished()) return;
  if (!plan.to_read.empty()) return read(plan.to_read, now);
  if (!plan.error.empty()) return refuse(std::string(plan.error), now);
  if (plan.changes.empty()) return answer_unchanged(now);
  const bool only_creates =
      std::all_of(plan.changes.begin(), plan.changes.end(),
                  [](const WantedChange& change) { return change.kind == ChangeKind::create; });
  if (only_creates && !takes_nothing_as_.empty())
    return refuse(std::string(takes_nothing_as_), now);
  if (!begin_taking(plan.changes, now)) {
    return refuse(server::too_many_locks_text(body_->taker()->limits().max_locks), now);
  }
  commit(std::move(plan.changes), now);
}

ServedCommand::Plan ServedCommand::plan(Now now) {
  Plan plan;
  const bool hangs = hangs_on_deadlines();
  drop_unwanted(now);
  if (finished()) return plan;
  for (const TouchedKey& touched : last_.touched) {
    plan_key(touched, hangs, now, plan);
    if (finished()) break;
  }
  return plan;
}

// What earlier commits have done with keys that this run does without. Nobody was told of a
// creation: it is undone, where nothing was sent behind it that may be done (rule D7).
void ServedCommand::drop_unwanted(Now now) {
  const auto is_unwanted = [&](const Done& done) {
    return std::none_of(last_.touched.begin(), last_.touched.end(),
                        [&](const TouchedKey& touched) { return touched.key == done.key; });
  };
  for (const Done& done : done_) {
    if (!is_unwanted(done)) continue;
    if (done.kind != ChangeKind::create || may_have_changed_) {
      return fail(std::string(kDoneInPart), now);
    }
    undo(done.value, done.key, now);
  }
  std::erase_if(done_, is_unwanted);
}

void ServedCommand::plan_key(const TouchedKey& touched, bool hangs, Now now, Plan& plan) {
  KeyState& state = *find(touched.key);
  if (is_done_already(touched, state, now, plan) || finished()) return;
  if (!is_certain_enough(touched, state, hangs)) return plan.to_read.push_back(touched.key);
  const ChangeKind kind = touched.change();
  if (kind == ChangeKind::none) return;
  refuse_change(state, kind, now, plan);
  if (finished() || !plan.error.empty()) return;
  WantedChange change{.key = touched.key,
                      .kind = kind,
                      .value = state.value.value_or(""),
                      .is_guess = state.certainty == Certainty::guess};
  if (touched.after) {
    change.after = touched.after;
    change.ttl = ttl_of(*touched.after);
    change.fences = body_->fences();
    change.label = body_->label();
  }
  if (kind == ChangeKind::replace) change.move = deadline_move(*touched.before, *touched.after);
  plan.changes.push_back(std::move(change));
}

// A replacement begins where a quorum is known to hold the value before it, and for long enough
// (rule D9).
void ServedCommand::refuse_change(const KeyState& state, ChangeKind kind, Now now, Plan& plan) {
  if (!plan.error.empty()) return;
  const Duration least = least_time_to_replace(parts_.group.options().node_timeout);
  if (state.is_foreign()) {
    plan.error = kHeldByDirectClient;
  } else if (kind == ChangeKind::replace && !has_next_record(*state.value)) {
    plan.error = kTooManyValues;
  } else if (kind == ChangeKind::replace && state.certainty == Certainty::possible) {
    fail_untold(state, now);
  } else if (kind == ChangeKind::replace && state.kept_until - now.monotonic < least) {
    refuse(runs_out_text(least), now);
  }
}

// A write of one key alone is its own confirmation. What brings a deadline forward, or what would
// be refused, goes by no guess.
bool ServedCommand::is_certain_enough(const TouchedKey& touched, const KeyState& state,
                                      bool hangs) const {
  if (state.certainty == Certainty::confirmed || state.certainty == Certainty::possible) {
    return true;
  }
  if (state.certainty == Certainty::unknown || hangs || keys_.size() > 1) return false;
  switch (touched.change()) {
    case ChangeKind::create:
      return true;
    case ChangeKind::extend:
    case ChangeKind::release:
      return !state.is_foreign();
    default:
      return false;
  }
}

// What an earlier commit of this command has brought about stays, if the run wants it still, and
// for as long: a TTL that the client is told, and that no quorum was asked for, is one on which
// another gets the lock meanwhile (rule D2). A creation that is wanted in another way is undone, as
// in drop_unwanted(), and made anew. A deadline can be moved on in the same direction.
bool ServedCommand::is_done_already(const TouchedKey& touched, KeyState& state, Now now,
                                    Plan& plan) {
  const auto done = std::find_if(done_.begin(), done_.end(),
                                 [&](const Done& it) { return it.key == touched.key; });
  if (done == done_.end()) return false;
  const bool has_its_content = touched.change() == done->kind &&
                               touched.after.has_value() == done->after.has_value() &&
                               (!touched.after || touched.after->has_content_of(*done->after));
  if (has_its_content && has_its_time(touched, *done)) return true;
  if (done->kind == ChangeKind::create && !may_have_changed_) {
    undo(done->value, touched.key, now);
    done_.erase(done);
    state.certainty = Certainty::unknown;
    plan.to_read.push_back(touched.key);
    return true;
  }
  const bool is_longer = touched.after && ttl_of(*touched.after) > done->ttl;
  const bool goes_on = has_its_content && ((done->kind == ChangeKind::extend && is_longer) ||
                                           (done->kind == ChangeKind::shorten && !is_longer));
  if (!goes_on) {
    fail(std::string(kDoneInPart), now);
    return true;
  }
  done_.erase(done);
  return false;
}

// An extension that is wanted for less lasts longer than its client is told: nobody minds. What
// ends at one instant, whenever it is asked for (PXAT), has less left in a later run.
bool ServedCommand::has_its_time(const TouchedKey& touched, const Done& done) const {
  if (!touched.after) return true;
  const Duration ttl = ttl_of(*touched.after);
  const bool is_same_instant = touched.after->deadline + 1ms >= done.after->deadline;
  return ttl == done.ttl ||
         (ttl < done.ttl && (done.kind == ChangeKind::extend || is_same_instant));
}

// As the run asked for it.
Duration ServedCommand::ttl_of(const SeenRecord& after) const {
  return after.deadline - ran_at_.monotonic;
}

// What a quorum cannot tell is no answer to who asks, but to who only wants to know whether the
// lock is got.
void ServedCommand::answer_unchanged(Now now) {
  for (const TouchedKey& touched : last_.touched) {
    const KeyState& state = *find(touched.key);
    if (state.certainty == Certainty::possible && !body_->is_plain_try()) {
      return fail_untold(state, now);
    }
  }
  if (!done_.empty()) return note_done(now);  // by an earlier commit: it is told of as in time (D2)
  if (body_->is_plain_try()) ++parts_.stats.refused_held;
  answer(now);
}

// For its turn, and to run, it waits as long as it takes: that says nothing of the nodes.
bool ServedCommand::is_out_of_time(Now now) const {
  return now.monotonic - came_.monotonic - waited_ >= parts_.times.acquire_time;
}

}  // namespace redlock::coordinator
