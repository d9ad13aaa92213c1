// What a command waits for: its turn in the lines of its keys, and its turn to run, where that may
// take long. What others of a line learn meanwhile may be all that it needs.
#include "coordinator/front_door/served/served_command.h"

#include <algorithm>
#include <utility>

namespace redlock::coordinator {

// Whether it has its turn for all keys that it knows of.
bool ServedCommand::stand_in_line(Now now) {
  const bool has_turn = has_turn_in_line(now);
  if (!has_turn) wait(now);
  return has_turn;
}

bool ServedCommand::is_slow() const {
  if (!parts_.stopwatch) return false;
  if (ran_ >= server::TurnOrder::kLongWork || body_->may_take_long()) return true;
  return body_->is_script() && parts_.is_turn_over();
}

void ServedCommand::wait(Now now) {
  if (!waits_since_) waits_since_ = now.monotonic;
}

void ServedCommand::end_wait(Now now) {
  if (waits_since_) waited_ += now.monotonic - *waits_since_;
  waits_since_.reset();
}

bool ServedCommand::has_turn_in_line(Now now) {
  std::vector<std::string> keys;
  keys.reserve(keys_.size());
  for (const KeyState& state : keys_) keys.push_back(state.key);
  if (parts_.lines.stands_in(number_, keys)) return parts_.lines.has_turn(number_);
  for (const KeyLines::Number next : parts_.lines.leave(number_)) parts_.on_event(next);
  return parts_.lines.enter(number_, std::move(keys), now.monotonic);
}

void ServedCommand::run_again(Now now) {
  if (finished()) return;
  waits_to_run_ = false;
  end_wait(now);
  const std::vector<std::string> outdated = forget_outdated(now);
  if (!outdated.empty() && ++runs_ <= kRunsMax) return read(outdated, now);
  run_and_decide(now);
}

// What was read before it waited, and is no longer so, or may have become another's since: the
// answer would tell of a lock that is not there any more (rule D2).
std::vector<std::string> ServedCommand::forget_outdated(Now now) {
  std::vector<std::string> outdated;
  for (KeyState& state : keys_) {
    if (state.read_at == Instant{}) continue;
    const bool is_gone = state.value && now.monotonic >= state.kept_until;
    if (!is_gone && now.monotonic < later(state.read_at, parts_.times.acquire_time)) continue;
    state.certainty = Certainty::unknown;
    outdated.push_back(state.key);
  }
  return outdated;
}

// --- of others of the line

void ServedCommand::learn(const KeyState& key, Now now) {
  if (finished() || commit_ || !readings_.empty() || is_slow()) return;
  KeyState* state = find(key.key);
  if (state == nullptr || (body_->wants_token() && !key.has_settled_token)) return;
  *state = key;
  if (keys_.size() > 1) return;
  runs_ = 0;
  if (!run(now) || keys_.size() > 1 || last_.is_cut_short) return;
  if (last_.touched.size() != 1 || last_.touched[0].change() != ChangeKind::none) return;
  ++parts_.stats.shared;
  answer_unchanged(now);
}

void ServedCommand::learn_held(const std::string& key, Now now) {
  if (finished() || commit_ || !readings_.empty() || !body_->is_plain_try()) return;
  ++parts_.stats.shared;
  answer_held(key, now);
}

}  // namespace redlock::coordinator
