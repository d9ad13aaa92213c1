// What a command counts for its user (max-locks), what it has done to others' locks, and who takes
// nothing any more: a client that has gone (rule D5), or any, of a door that stops (D6).
#include "coordinator/front_door/served/door_errors.h"
#include "coordinator/front_door/served/served_command.h"

#include <utility>

namespace redlock::coordinator {

namespace {

// Another value under a key is another's lock (rule L4); a hash is its maker's.
bool is_taken(ChangeKind kind, const std::optional<SeenRecord>& after) {
  return kind == ChangeKind::create ||
         (kind == ChangeKind::replace && after->kind == server::LockKind::text);
}

}  // namespace

// What its user is about to have; false: he may not have so many (max-locks).
bool ServedCommand::begin_taking(const std::vector<WantedChange>& changes, Now now) {
  end_taking();
  const protocol::User* const user = body_->taker();
  if (user == nullptr) return true;
  DoorQuotas::Keys taken;
  DoorQuotas::Keys ended;
  for (const WantedChange& change : changes) {
    if (is_taken(change.kind, change.after)) taken.push_back(change.key);
    if (change.kind == ChangeKind::release) ended.push_back(change.key);
  }
  const auto taking = parts_.quotas.begin_taking(*user, taken, ended, now.monotonic);
  taking_ = taking.value_or(0);
  return taking.has_value();
}

void ServedCommand::end_taking() {
  if (taking_ > 0) parts_.quotas.end_taking(*body_->taker(), std::exchange(taking_, 0));
}

// Until the last of its nodes has given it back, for that long it can be extended: its client's own
// TTL is over before (rule D2).
void ServedCommand::count_lock(const Done& done, Now now) {
  if (done.kind == ChangeKind::release) return parts_.quotas.end(done.key);
  const Duration kept = stretch(padded(done.ttl, parts_.times), parts_.times.clock_drift);
  const Instant deadline = later(now.monotonic, kept);
  if (is_taken(done.kind, done.after)) {
    parts_.quotas.note_taken(body_->taker(), done.key, deadline);
  } else if (done.kind == ChangeKind::extend) {
    parts_.quotas.extend(done.key, deadline);  // nodes keep a later one, too
  } else {
    parts_.quotas.move(done.key, deadline);
  }
}

std::vector<Claim> ServedCommand::taken() const {
  std::vector<Claim> taken;
  for (const Done& done : done_) {
    if (is_taken(done.kind, done.after)) {
      taken.push_back({done.key, done.value});
    }
  }
  return taken;
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

// --- who takes nothing any more

void ServedCommand::client_gone(Now now) {
  if (finished()) return;
  stop_taking(kClientGone, now);
  if (finished()) ++parts_.stats.undone_gone;
}

void ServedCommand::stop_taking(std::string_view why, Now now) {
  if (finished()) return;
  takes_nothing_as_ = why;
  if (commit_ ? commit_->only_creates() : body_->only_takes()) end(why, now);
}

}  // namespace redlock::coordinator
