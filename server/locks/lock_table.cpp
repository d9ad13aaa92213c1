#include "server/locks/lock_table.h"

#include "base/invariant.h"

#include <algorithm>
#include <array>

namespace redlock::server {

const Lock* LockLookup::find(std::string_view key, Instant now) {
  notes_.add_touch(key);
  const Place place = place_of(key);
  const auto [ref, hash] = place;
  if (ref == 0) {
    missed_.note(key, hash);
    return nullptr;
  }
  const Lock& lock = arena_.at(ref);
  if (!lock.is_over(now)) {
    last_found_ = place;
    last_found_in_ = key.data();
    return &lock;
  }
  count_expired(lock);
  forget(ref, hash);
  return nullptr;
}

// Three times memory answers before a lock is told or changed: for its slot, for its record, for
// the end of its value and its neighbours on the wheel. Each step asks for the whole batch what the
// step before it has found.
void LockLookup::expect(std::span<const std::string_view> keys) const {
  INVARIANT(keys.size() <= kExpectedMax, "more keys than are fetched at a time");
  std::array<std::uint32_t, kExpectedMax> hashes;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    hashes[i] = hash_of(keys[i]);
    index_.prefetch_slots(hashes[i]);
  }
  std::array<LockRef, kExpectedMax> refs;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    refs[i] = index_.likely_record(hashes[i]);
    if (refs[i] != 0) arena_.prefetch_record(refs[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (refs[i] == 0) continue;
    arena_.prefetch_end(refs[i]);
    if (arena_.at(refs[i]).has_deadline()) wheel_.prefetch_neighbours(refs[i]);
  }
}

const Lock* LockTable::put(std::string_view key, std::string_view value, Instant deadline,
                           std::uint64_t token, Instant now, LockKind kind, const LockLabel& label,
                           bool is_extended) {
  INVARIANT(label.text.size() <= kLabelBytesMax, "a label that no record can hold");
  INVARIANT(key.size() <= kKeyBytesMax, "a key that no record can hold");
  INVARIANT(value.size() <= kValueBytesMax, "a value that no record can hold");
  INVARIANT(token <= kTokenMax, "a token that no record can hold");
  const auto [old, hash] = place_of(key);
  missed_.in = nullptr;
  const std::size_t bytes = Lock::bytes_for(kind, key.size(), value.size(), label.bytes());
  is_extended = is_extended || (old != 0 && arena_.at(old).holds(value));
  LockRef ref = old;
  if (old == 0 || !LockArena::same_room(arena_.at(old).bytes(), bytes)) {
    ref = arena_.allocate(bytes);
    if (ref == 0) return nullptr;
    if (old == 0 && !index_.insert(hash, ref)) {
      arena_.free(ref, bytes);
      return nullptr;
    }
  }
  if (old != 0) unlink(old);
  if (old != 0 && old != ref) {
    index_.replace(hash, old, ref);
    give_back(old);
  }
  Lock& lock = arena_.at(ref);
  lock.set(kind, key, value, label, deadline, token);
  if (is_extended) lock.mark_extended();
  link(ref, now);
  notes_.add_change(hash);
  if (old == 0) notes_.add_take(hash);
  return &lock;
}

void LockTable::set_deadline(std::string_view key, Instant deadline, Instant now) {
  const auto [ref, hash] = place_of(key);
  INVARIANT(ref != 0, "a deadline for a lock that is not there");
  unlink(ref);
  Lock& lock = arena_.at(ref);
  lock.set_deadline(deadline);
  lock.mark_extended();
  link(ref, now);
  notes_.add_change(hash);
}

void LockTable::set_token(std::string_view key, std::uint64_t token) {
  const LockRef ref = place_of(key).ref;
  INVARIANT(ref != 0, "a token for a lock that is not there");
  INVARIANT(token <= kTokenMax, "a token that no record can hold");
  arena_.at(ref).set_token(token);
}

bool LockTable::erase(std::string_view key, Instant now) {
  notes_.add_touch(key);
  const auto [ref, hash] = place_of(key);
  if (ref == 0) return false;
  const bool was_over = arena_.at(ref).is_over(now);
  if (was_over) count_expired(arena_.at(ref));
  forget(ref, hash);
  return !was_over;
}

void LockTable::clear() {
  if (notes_.any_wanted()) {
    for_each([this](const Lock& lock) { note_end(hash_of(lock.key())); });
  }
  index_.clear();
  arena_ = LockArena();
  last_found_ = {};
  wheel_.clear();
  latest_deadline_.clear();
  without_deadline_ = 0;
}

// Some at a time, so that memory can fetch the slots of all while the first is given back. Locks
// that ended together are spread over all chunks, so at last these become empty together: a chunk
// that goes back to the system counts as many steps as take its time.
LockTable::Reclaimed LockTable::reclaim(Instant now, std::size_t budget) {
  struct Due {
    LockRef ref;
    std::uint32_t hash;
  };
  constexpr std::size_t kStepsOfChunk = 32;
  std::array<Due, kExpectedMax> due;
  Reclaimed reclaimed;
  std::size_t chunks_dropped = arena_.chunks_dropped();
  for (std::size_t count = due.size(); count == due.size(); reclaimed.count += count) {
    count = 0;
    while (count < due.size()) {
      const LockRef ref = wheel_.pop_due(now, budget);
      if (ref == 0) break;
      due[count] = {ref, hash_of(arena_.at(ref).key())};
      index_.prefetch_slots(due[count++].hash);
    }
    for (const auto [ref, hash] : std::span(due).first(count)) {
      const Lock& lock = arena_.at(ref);
      reclaimed.last_deadline = lock.deadline();
      latest_deadline_.remove(lock.deadline());
      count_expired(lock);
      note_end(hash);
      index_.erase(hash, ref);
      give_back(ref);
    }
    const std::size_t steps = (arena_.chunks_dropped() - chunks_dropped) * kStepsOfChunk;
    chunks_dropped = arena_.chunks_dropped();
    budget -= std::min(budget, steps);
  }
  return reclaimed;
}

void LockLookup::count_expired(const Lock& lock) {
  ++expired_;
  if (notes_.any_wanted()) notes_.add_expired(lock.key());
}

void LockLookup::forget(LockRef ref, std::uint32_t hash) {
  note_end(hash);
  unlink(ref);
  index_.erase(hash, ref);
  give_back(ref);
}

void LockLookup::unlink(LockRef ref) {
  const Instant deadline = arena_.at(ref).deadline();
  if (deadline != kNever) {
    wheel_.unlink(ref);
    latest_deadline_.remove(deadline);
  } else {
    --without_deadline_;
  }
}

void LockTable::link(LockRef ref, Instant now) {
  const Instant deadline = arena_.at(ref).deadline();
  if (deadline != kNever) {
    wheel_.link(ref, now);
    latest_deadline_.add(deadline, now);
  } else {
    ++without_deadline_;
  }
}

}  // namespace redlock::server
