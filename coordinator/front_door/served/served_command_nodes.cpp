// What a command asks the nodes, what comes of it, and how the command ends.
#include "base/invariant.h"
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/served_command.h"
#include "coordinator/quorum/tally.h"

#include <algorithm>
#include <iterator>

namespace redlock::coordinator {

using protocol::Reply;

namespace {

// Others hold a lock that was not got: for so long whoever asks next reads first, as an attempt
// would have to be undone at each node.
constexpr Duration kHeldByOthersTime = 1s;

bool is_unanimous(const std::vector<Answer>& answers) {
  return std::none_of(answers.begin(), answers.end(),
                      [](const Answer& answer) { return answer.kind == AnswerKind::no; });
}

}  // namespace

// --- readings

void ServedCommand::read(const std::vector<std::string>& keys, Now now) {
  INVARIANT(readings_.empty() && !commit_, "a question while another is open");
  for (const std::string& key : keys) {
    ++parts_.stats.readings;
    const OperationId operation = parts_.group.read(
        {.name = key, .held_by = held_by, .wants_token = body_->wants_token()}, now.monotonic,
        [this, key](ReadResult result) { note_reading(key, std::move(result)); });
    readings_.push_back({operation, key});
  }
}

void ServedCommand::note_reading(const std::string& key, ReadResult result) {
  std::erase_if(readings_, [&](const Reading& reading) { return reading.key == key; });
  read_.emplace_back(key, std::move(result));
  if (readings_.empty()) parts_.on_event(number_);
}

void ServedCommand::take_readings(Now now) {
  if (asked_for_token_) return take_token(now);
  for (auto& [key, result] : std::exchange(read_, {})) {
    KeyState& state = *find(key);
    state.answers = std::move(result.answers);
    last_answers_ = state.answers;
    if (result.verdict == ReadVerdict::no_quorum) {
      ++parts_.stats.no_quorum;
      fail(no_quorum_text(parts_.group.nodes(), last_answers_, doubt()), now);
      continue;
    }
    const bool is_free = result.verdict == ReadVerdict::free;
    const NodeReading* told = labelled(result.readings, result.value);
    state.label = told == nullptr ? KeyLabel() : KeyLabel{told->label, told->held};
    const bool is_as_known = state.value && !is_free && *state.value == result.value;
    if (!is_as_known) state.ttl = 0ns;
    state.value = is_free ? std::nullopt : std::optional(std::move(result.value));
    state.deadline = later(result.began, told_left(result.left, parts_.times));
    state.read_at = now.monotonic;
    state.kept_until = later(result.began, result.left);
    state.token = result.token;
    state.has_settled_token = body_->wants_token();
    state.certainty =
        result.verdict == ReadVerdict::possible ? Certainty::possible : Certainty::confirmed;
    if (is_free) {
      parts_.known.forget(key);
    } else {
      parts_.known.remember(key, {state.value, state.deadline, state.ttl}, now.monotonic);
    }
    parts_.on_certain(state, result.began);
    look_at_partly_done(state, now);
  }
  if (!finished()) work(now);
}

// What is done is seen as before it, so that the next run wants the same, and finds it done. Where
// others went on from it, or the lock is gone, it may have been done and may not.
void ServedCommand::look_at_partly_done(KeyState& state, Now now) {
  const auto is_of_key = [&](const PartlyDone& partly) { return partly.done.key == state.key; };
  std::vector<PartlyDone> open;
  std::copy_if(partly_done_.begin(), partly_done_.end(), std::back_inserter(open), is_of_key);
  std::erase_if(partly_done_, is_of_key);
  for (PartlyDone& partly : open) {
    switch (fate_of(partly, state)) {
      case Fate::done:
        state = std::move(partly.before);
        return keep_done(std::move(partly.done), now);
      case Fate::unclear:
        return fail(std::string(kDoneInPart), now);
      case Fate::open:
        partly_done_.push_back(std::move(partly));
        break;
      case Fate::undone:
        break;
    }
  }
}

// A number is had by one value at most that a quorum ever holds (rule D9).
ServedCommand::Fate ServedCommand::fate_of(const PartlyDone& partly, const KeyState& state) {
  if (state.certainty == Certainty::possible) return Fate::open;
  const HeldBy before = held_by(*partly.before.value);
  const HeldBy after = state.value ? held_by(*state.value) : HeldBy();
  const bool is_same_lock = after.holder == before.holder;
  if (partly.done.kind == ChangeKind::release) return is_same_lock ? Fate::undone : Fate::done;
  if (!is_same_lock) return Fate::unclear;
  if (*state.value == partly.done.value) return Fate::done;
  const std::uint32_t number = before.number + 1;
  if (after.number > number) return Fate::unclear;
  return after.number == number ? Fate::undone : Fate::open;
}

// --- commits

void ServedCommand::commit(std::vector<WantedChange> changes, Now now) {
  for (const WantedChange& change : changes) parts_.on_change(change);
  const Instant patient_until = later(came_.monotonic, waited_ + parts_.times.acquire_time);
  const Duration patience = std::max<Duration>(patient_until - now.monotonic, 0ns);
  commit_.emplace(Commit::Parts{parts_.group, parts_.times, parts_.random, parts_.worth},
                  std::move(changes), patience, now.monotonic,
                  [this] { parts_.on_event(number_); });
}

void ServedCommand::take_commit(Now now) {
  commit_->go_on(now.monotonic);
  if (!commit_->finished()) return;
  const CommitOutcome outcome = commit_->outcome();
  std::vector<WantedChange> changes = commit_->take_changes();
  std::vector<CommittedChange> results = commit_->take_results();
  commit_.reset();
  for (std::size_t at = 0; at < changes.size(); ++at) {
    WantedChange& change = changes[at];
    CommittedChange& result = results[at];
    note_what_may_be_done(change.kind, result);
    Done done{.key = change.key,
              .kind = change.kind,
              .after = std::move(change.after),
              .ttl = change.ttl,
              .value = std::move(result.value),
              .began = result.began,
              .token = result.token,
              .is_elsewhere = change.kind == ChangeKind::release && !is_unanimous(result.answers)};
    if (result.outcome == CommitOutcome::done) {
      keep_done(std::move(done), now);
      continue;
    }
    if (result.is_partly) partly_done_.push_back({*find(change.key), std::move(done)});
    if (result.outcome == CommitOutcome::otherwise) note_otherwise(change, result.began, now);
    if (!result.answers.empty()) last_answers_ = std::move(result.answers);
  }
  if (partly_done_.empty()) end_taking();  // what it has got counts by itself
  if (outcome == CommitOutcome::done) return note_done(now);
  if (outcome != CommitOutcome::otherwise) return fail_commit(outcome, now);
  if (body_->is_plain_try() && changes.size() == 1) return answer_held(changes[0].key, now);
  if (is_out_of_time(now)) {
    return fail(cannot_be_told_text(parts_.group.nodes(), last_answers_, doubt()), now);
  }
  work(now);
}

// What too few nodes have said to may be done all the same, now or later; what was sent to bring a
// deadline forward may be so wherever it arrives; an extension that met a later deadline, or a
// group whose nodes change, may be done at some nodes.
void ServedCommand::note_what_may_be_done(ChangeKind kind, const CommittedChange& result) {
  if (kind == ChangeKind::create || result.outcome == CommitOutcome::pending) return;
  const bool is_refused =
      result.outcome == CommitOutcome::otherwise && !result.is_partly && !result.may_move;
  may_have_changed_ = may_have_changed_ || !is_refused || kind == ChangeKind::shorten;
}

void ServedCommand::keep_done(Done done, Now now) {
  count_lock(done, now);
  KeyState& state = *find(done.key);  // as it was before
  state.certainty = Certainty::confirmed;
  state.read_at = {};
  std::erase_if(partly_done_, [&](const PartlyDone& it) { return it.done.key == done.key; });
  switch (done.kind) {
    case ChangeKind::create:
      ++parts_.stats.granted;
      parts_.stats.grant_times.add(now.monotonic - came_.monotonic);
      break;
    case ChangeKind::extend:
      ++parts_.stats.extended;
      break;
    case ChangeKind::replace:
      ++parts_.stats.replaced;
      break;
    case ChangeKind::release:
      note_released(done, now);
      break;
    default:
      ++parts_.stats.shortened;
  }
  if (done.kind != ChangeKind::release) {
    const Instant deadline = done.after->deadline;
    parts_.known.remember(done.key, {done.value, deadline, done.ttl}, now.monotonic);
    if (parts_.lines.is_contended(done.key)) tell_others(done);
  }
  done_.push_back(std::move(done));
}

// Of a lock whose TTL is not known, late is only what came after its end. Nodes that missed a
// replacement, or that alone have it, do not know the value that is released: what they have would
// be in others' way until it runs out (rule D9).
void ServedCommand::note_released(const Done& done, Now now) {
  ++parts_.stats.released;
  const KeyState& state = *find(done.key);
  if (state.deadline != Instant{}) {
    const Instant asked = ran_at_.monotonic;
    parts_.stats.left_at_release.add(std::max<Duration>(state.deadline - asked, 0ns));
    if (is_late_release(state.deadline, state.ttl, asked)) ++parts_.stats.released_late;
  }
  if (state.value && (done.is_elsewhere || held_by(*state.value).number > 0)) {
    parts_.group.release_prefix(
        known_lock(done.key, std::string(lock_prefix(*state.value)), parts_.worth), now.monotonic);
  }
  parts_.known.forget(done.key);
}

void ServedCommand::tell_others(const Done& done) {
  parts_.on_certain({.key = done.key,
                     .value = done.value,
                     .deadline = done.after->deadline,
                     .ttl = done.ttl,
                     .token = done.token,
                     .certainty = Certainty::confirmed},
                    done.began);
}

void ServedCommand::note_otherwise(const WantedChange& change, Instant began, Now now) {
  find(change.key)->certainty = Certainty::unknown;
  if (change.kind != ChangeKind::create) return parts_.known.forget(change.key);
  parts_.known.remember(change.key, {std::nullopt, now.monotonic + kHeldByOthersTime},
                        now.monotonic);
  parts_.on_held(change.key, began);
}

// Nodes that were topped up behind an acquisition had another token until then, and a quorum may
// have answered an extension before: a reading waits until the token is settled (rule F5).
bool ServedCommand::lacks_token() const {
  if (!body_->wants_token() || asked_for_token_ || done_.size() != 1) return false;
  return done_[0].kind != ChangeKind::release && done_[0].token == 0;
}

// Whatever the reading tells: all is done.
void ServedCommand::take_token(Now now) {
  const ReadResult result = std::move(read_[0].second);
  read_.clear();
  const bool is_same = lock_prefix(result.value) == lock_prefix(done_[0].value);
  if (is_same && result.verdict == ReadVerdict::held) done_[0].token = result.token;
  note_done(now);
}

// All is done. What tells of a lock goes out within the acquire time, or not at all (rule D2).
void ServedCommand::note_done(Now now) {
  if (lacks_token()) {
    asked_for_token_ = true;
    return read({done_[0].key}, now);
  }
  for (const Done& done : done_) {
    if (done.kind == ChangeKind::release) continue;
    const Instant send_by = later(done.began, parts_.times.acquire_time);
    if (now.monotonic > send_by) {
      const Duration took = now.monotonic - done.began;
      const bool is_new = done.kind == ChangeKind::create;
      if (is_new && !may_have_changed_) ++parts_.stats.undone_late;
      return fail(is_new && !may_have_changed_
                      ? too_late_text(took, parts_.times.acquire_time)
                      : extended_too_late_text(took, parts_.times.acquire_time),
                  now);
    }
    if (!takes_nothing_as_.empty() && body_->only_takes()) {
      return fail(std::string(takes_nothing_as_), now);
    }
    promise_.send_by = std::min(promise_.send_by, send_by);
  }
  const bool only_creates = std::all_of(
      done_.begin(), done_.end(), [](const Done& done) { return done.kind == ChangeKind::create; });
  for (const Done& done : done_) {
    if (only_creates) promise_.created.push_back({done.key, done.value});
  }
  answer(now);
}

void ServedCommand::fail_commit(CommitOutcome outcome, Now now) {
  const std::vector<NamedNode>& nodes = parts_.group.nodes();
  switch (outcome) {
    case CommitOutcome::too_late:
      ++parts_.stats.undone_late;
      return refuse(too_late_text(now.monotonic - came_.monotonic, parts_.times.acquire_time), now);
    case CommitOutcome::unfenced:
      return refuse(unfenced_text(nodes, last_answers_), now);
    default:
      is_beyond_limits_ = coordinator::is_beyond_limits(last_answers_);
      ++parts_.stats.no_quorum;
      return fail(no_quorum_text(nodes, last_answers_, doubt()), now);
  }
}

void ServedCommand::on_event(Now now) {
  if (finished()) return;
  if (commit_) return take_commit(now);
  if (readings_.empty() && !read_.empty()) return take_readings(now);
  if (readings_.empty() && parts_.lines.has_turn(number_)) on_turn(now);
}

// --- the end

// Whoever holds it: to a plain try the answer is the same.
void ServedCommand::answer_held(const std::string& key, Now now) {
  const KnownRecord held{key, SeenRecord{.payload = {}, .deadline = now.monotonic + 1ms}, nullptr};
  last_ = body_->run({&held, 1}, now);
  ++parts_.stats.refused_held;
  answer(now);
}

// What may still come of an earlier commit is not what this run tells of.
void ServedCommand::answer(Now now) {
  if (!partly_done_.empty()) return fail(std::string(kDoneInPart), now);
  if (tells_time_left()) {
    const Instant send_by = later(ran_at_.monotonic, parts_.times.acquire_time);
    promise_.send_by = std::min(promise_.send_by, send_by);
  }
  std::vector<SettledKey> settled;
  settled.reserve(last_.touched.size());
  for (const TouchedKey& touched : last_.touched) {
    const KeyState& state = *find(touched.key);
    settled.push_back({state, state.token});
    for (const Done& done : done_) {
      if (done.key == touched.key && done.token > 0) settled.back().token = done.token;
    }
  }
  describe_broken();
  finish(body_->reply(last_, settled, now));
}

void ServedCommand::finish(Reply reply) {
  end_taking();
  reply_ = std::move(reply);
  for (const KeyLines::Number next : parts_.lines.leave(number_)) parts_.on_event(next);
  parts_.on_event(number_);
}

void ServedCommand::fail_untold(const KeyState& state, Now now) {
  ++parts_.stats.possible;
  fail(cannot_be_told_text(parts_.group.nodes(), state.answers, doubt()), now);
}

// Nobody was told of what it has created. But what was sent behind that may be done: undone, less
// would be held than before it and than after it, and the same request would be done again by
// another door (rule D7).
void ServedCommand::fail(std::string text, Now now) {
  if (finished()) return;
  if (!may_have_changed_) undo_done(now);
  promise_ = {};
  if (!may_have_changed_) last_.broken.clear();
  for (server::BrokenLock& broken : last_.broken) broken.is_certain = false;
  describe_broken();
  finish(Reply::error(std::move(text)));
}

// The text says, or lets its reader think, that nothing was done: which it is not, where an earlier
// commit has changed something.
void ServedCommand::refuse(std::string text, Now now) {
  fail(may_have_changed_ ? std::string(kDoneInPart) : std::move(text), now);
}

void ServedCommand::undo(const std::string& value, const std::string& key, Now now) {
  parts_.known.forget(key);
  parts_.quotas.end(key);
  parts_.group.undo(known_lock(key, value, parts_.worth), now.monotonic);
}

void ServedCommand::undo_done(Now now) {
  for (const Done& done : std::exchange(done_, {})) {
    if (done.kind != ChangeKind::create) continue;
    undo(done.value, done.key, now);
  }
}

void ServedCommand::end(std::string_view error, Now now) {
  if (finished()) return;
  if (commit_) commit_->abandon(now.monotonic);
  commit_.reset();
  for (const Reading& reading : std::exchange(readings_, {})) {
    parts_.group.cancel(reading.operation, now.monotonic);
  }
  refuse(std::string(error), now);
}

}  // namespace redlock::coordinator
