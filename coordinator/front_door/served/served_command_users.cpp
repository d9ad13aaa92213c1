// What a command counts for its user (max-locks), and what it has done to others' locks.
#include "coordinator/front_door/served/served_command.h"

#include <utility>

namespace redlock::coordinator {

// What its user is about to have; false: he may not have so many (max-locks).
bool ServedCommand::begin_taking(const std::vector<WantedChange>& changes, Now now) {
  end_taking();
  const protocol::User* const user = body_->taker();
  if (user == nullptr) return true;
  std::vector<std::string_view> keys;
  for (const WantedChange& change : changes) {
    if (change.kind == ChangeKind::create) keys.push_back(change.key);
  }
  const auto taking = parts_.quotas.begin_taking(*user, keys, now.monotonic);
  taking_ = taking.value_or(0);
  return taking.has_value();
}

void ServedCommand::end_taking() {
  if (taking_ > 0) parts_.quotas.end_taking(*body_->taker(), std::exchange(taking_, 0));
}

void ServedCommand::count_lock(const Done& done) {
  switch (done.kind) {
    case ChangeKind::create:
      return parts_.quotas.note_taken(body_->taker(), done.key, done.after->deadline);
    case ChangeKind::release:
      return parts_.quotas.end(done.key);
    default:
      return parts_.quotas.move(done.key, done.after->deadline);
  }
}

// Which locks they were that the last run broke.
void ServedCommand::describe_broken() {
  for (server::BrokenLock& broken : last_.broken) {
    const KeyState* state = find(broken.key);
    if (state == nullptr || !state->value) continue;
    broken.token = lock_number(*state->value);
    broken.label = state->label.text;
  }
}

}  // namespace redlock::coordinator
