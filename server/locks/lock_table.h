// LockTable: the locks of a node, by key and by deadline.
//
// Two classes, so that who may change a lock is a fact of types. LockLookup is what everybody may
// do: look. LockTable adds what makes, moves and ends locks; Grants alone (server/grants/grants.h)
// has one that can be changed.
//
// Pure: time is an argument. A lock is over at its deadline for whoever looks: find() gives an
// expired one back on the spot and answers that there is none (rule C5). reclaim() gives back the
// memory of those that nobody looks at.
//
// References and views to a lock stay valid until the next put(), erase() or find() that meets an
// expired lock, and reclaim().
//
// Thread safety: none. Invariant: a lock with a deadline is linked in the wheel by it.
#pragma once

#include "base/hash.h"
#include "base/time.h"
#include "server/locks/expiry_wheel.h"
#include "server/locks/key_notes.h"
#include "server/locks/latest_deadline.h"
#include "server/locks/lock.h"
#include "server/locks/lock_arena.h"
#include "server/locks/lock_index.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace redlock::server {

class LockLookup {
 public:
  LockLookup(const LockLookup&) = delete;
  LockLookup& operator=(const LockLookup&) = delete;

  // nullptr when there is none, or it is over.
  const Lock* find(std::string_view key, Instant now);

  // These keys will be looked up soon: fetches what that takes, all of them at a time. A table that
  // lives in the processor's caches needs none of it.
  bool is_worth_expecting() const { return bytes() > kCachedBytes; }
  void expect(std::span<const std::string_view> keys) const;
  static constexpr std::size_t kExpectedMax = 32;

  // Of the key, as the notes tell it.
  std::uint32_t hash_of(std::string_view key) const {
    return static_cast<std::uint32_t>(keyed_hash(key, hash_seed_) >> 32);
  }
  // What others want to know of keys.
  KeyNotes& notes() { return notes_; }
  const KeyNotes& notes() const { return notes_; }

  // Those not yet given back count.
  std::size_t size() const { return index_.size(); }
  std::size_t without_deadline() const { return without_deadline_; }
  // Locks that ended by their deadline, since the start.
  std::uint64_t expired() const { return expired_; }
  std::size_t bytes() const { return arena_.bytes() + index_.bytes(); }
  // What one lock takes: its record and its slot in the index.
  static std::size_t bytes_of(const Lock& lock) {
    return LockArena::room(lock.bytes()) + LockIndex::kSlotBytes;
  }

  // Every lock, in no order: look(const Lock&). The table must not be changed meanwhile.
  template <class Look>
  void for_each(Look look) const {
    index_.for_each([&](LockRef ref) { look(arena_.at(ref)); });
  }
  // Every lock in several calls, between which the table may change (LockIndex::scan says how). A
  // lock that is there all the time is met just once. Locks that are over are met too.
  template <class Look>
  std::uint32_t scan(std::uint32_t from, std::size_t count, Look look) const {
    std::vector<LockRef> found;
    const std::uint32_t next = index_.scan(from, count, found);
    for (const LockRef ref : found) look(arena_.at(ref));
    return next;
  }

 protected:
  LockLookup(std::uint64_t hash_seed, Duration max_ttl)
      : hash_seed_(hash_seed), wheel_(arena_), latest_deadline_(max_ttl) {}
  ~LockLookup() = default;

  // Where a key's lock is, or would be (ref 0). Most commands look at a lock more than once, a
  // script does so command by command: the last that was found is found again by its name, and the
  // last that was not, by a copy of it, until it is made.
  struct Place {
    LockRef ref = 0;
    std::uint32_t hash = 0;
  };
  Place place_of(std::string_view key) const {
    const bool is_same_word = last_found_.ref != 0 && key.data() == last_found_in_;
    if (is_same_word && arena_.at(last_found_.ref).key() == key) return last_found_;
    if (missed_.in != nullptr && missed_.in == key.data() && missed_.key() == key) {
      return {0, missed_.hash};
    }
    const std::uint32_t hash = hash_of(key);
    return {index_.find(hash, [&](LockRef ref) { return arena_.at(ref).key() == key; }), hash};
  }
  // Its record is another lock's from now on, or none's.
  void give_back(LockRef ref) {
    if (ref == last_found_.ref) last_found_ = {};
    arena_.free(ref, arena_.at(ref).bytes());
  }
  void note_end(std::uint32_t hash) {
    if (notes_.any_wanted()) notes_.add_end(hash);
  }
  void forget(LockRef ref, std::uint32_t hash);  // unlinks and gives back
  void unlink(LockRef ref);
  void count_expired(const Lock& lock);

  std::uint64_t hash_seed_;
  LockArena arena_;
  LockIndex index_;
  ExpiryWheel wheel_;
  LatestDeadline latest_deadline_;
  std::size_t without_deadline_ = 0;
  std::uint64_t expired_ = 0;
  Place last_found_;                     // by find()
  const char* last_found_in_ = nullptr;  // the bytes of the word by which it was; only compared
  // The last key that find() looked for in vain, if it is no longer than most; in: as above,
  // nullptr when there is none.
  struct Missed {
    const char* in = nullptr;
    std::uint32_t hash = 0;
    std::uint32_t size = 0;
    std::array<char, 32> bytes = {};

    std::string_view key() const { return {bytes.data(), size}; }
    void note(std::string_view key, std::uint32_t its_hash) {
      if (key.size() > bytes.size()) return;
      in = key.data();
      hash = its_hash;
      size = static_cast<std::uint32_t>(key.copy(bytes.data(), bytes.size()));
    }
  };
  Missed missed_;
  KeyNotes notes_;

 private:
  static constexpr std::size_t kCachedBytes = 256 * 1024;
};

class LockTable final : public LockLookup {
 public:
  // The seed keys the hash, so that clients cannot prepare keys that collide.
  explicit LockTable(std::uint64_t hash_seed, Duration max_ttl = 60s)
      : LockLookup(hash_seed, max_ttl) {}

  // Makes or replaces it. nullptr when there is no memory for it; then what was there stays. A
  // value that is put where it stands already is an extension. REQUIRES: key.size() <=
  // kKeyBytesMax, value.size() <= kValueBytesMax, the label's text is not longer than
  // kLabelBytesMax; none of them looks into the table.
  const Lock* put(std::string_view key, std::string_view value, Instant deadline,
                  std::uint64_t token, Instant now, LockKind kind = LockKind::text,
                  const LockLabel& label = {}, bool is_extended = false);

  // It is an extension, to whatever deadline. REQUIRES: there is such a lock (as find() just told).
  void set_deadline(std::string_view key, Instant deadline, Instant now);
  // REQUIRES: as set_deadline.
  void set_token(std::string_view key, std::uint64_t token);
  // False when there was none, or it was over.
  bool erase(std::string_view key, Instant now);
  void clear();

  // Gives back locks that are over, in at most `budget` steps: one for each, and some for memory
  // that goes back to the system. `last_deadline` is of the last one given back.
  struct Reclaimed {
    std::size_t count = 0;
    Instant last_deadline{};
  };
  Reclaimed reclaim(Instant now, std::size_t budget);
  // When reclaim() will next have something to do.
  std::optional<Instant> next_reclaim() const { return wheel_.next_work(); }

  // When the last of the live locks will be over.
  LatestDeadline& latest_deadline() { return latest_deadline_; }
  const LatestDeadline& latest_deadline() const { return latest_deadline_; }

 private:
  void link(LockRef ref, Instant now);
};

}  // namespace redlock::server
