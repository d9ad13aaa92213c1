// ReleaseMarks: which values were released for good, so that nobody brings them back (rule Q3).
//
// A release can reach a quorum of nodes while an extension of the same lock is on its way: its
// holder would find the lock at the other nodes, and top up those that have just released it. So a
// final release leaves a mark (a tombstone) of key and value: 64 bits of a keyed hash, and an end.
//
//   marks.add(key, value, end);       // LOCK.RELEASE … FINAL
//   if (marks.has(key, value, now)) …  // before a grant or a top-up
//
// Values are used once (rule Q6), so a mark is in nobody's way. Two values with the same hash would
// cost one of them a refusal, which its coordinator answers with a new value.
//
// Memory is bounded: beyond Limits::marks the oldest mark goes first. Marks stand in blocks in the
// order in which they came, each linked to the one before it with the same low bits of its hash:
//
//   heads    | 7 |   | 9 |               the newest mark of each chain
//              |       |
//   marks    … 2 … 4<--7 … 8 9 …         `older`: the next one of the chain
//            gone ^ oldest
//
// A chain runs from new to old, so the mark that goes first is always the last of its chain: a link
// to a mark that is gone is the chain's end, and to forget a mark is to count on (zlib keeps the
// hash chains of its window in this way). So nothing here ever moves or grows a table. A link also
// holds a part of the hash, and whether the mark is its chain's last: to know that a value has no
// mark, which is nearly always so, takes one look at a head and none at the marks.
//
// Pure: time is an argument. Thread safety: none. Invariant: no mark ends before an older one.
#pragma once

#include "base/memory/zeroed_pages.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace redlock::server {

// As it stands in a snapshot. The key of the hash goes with it, as another run draws another.
struct SavedMark {
  std::uint64_t hash_key = 0;
  std::uint64_t hash = 0;
  Instant end;

  friend bool operator==(const SavedMark&, const SavedMark&) = default;
};

class ReleaseMarks {
 public:
  // Some seconds of releases at the rate of a busy node, in 9 MB.
  static constexpr unsigned kMarkBits = 18;
  static constexpr std::size_t kMarksMax = std::size_t{1} << kMarkBits;

  // Powers of two, so that a number's low bits tell its place. Smaller ones are for tests.
  struct Limits {
    unsigned mark_bits = kMarkBits;
    unsigned block_bits = 10;  // less than mark_bits
    std::uint32_t first = 1;   // number of the first mark; the numbers wrap around
  };
  // The key of the hash is a secret, so that no client can prepare values that collide.
  explicit ReleaseMarks(std::uint64_t hash_key) : ReleaseMarks(hash_key, Limits{}) {}
  ReleaseMarks(std::uint64_t hash_key, const Limits& limits);

  // The mark stays until `end`, or longer where an older one does.
  void add(std::string_view key, std::string_view value, Instant end) {
    add_hash(hash_of(key, value), end);
  }
  // Costs nothing where there are no marks.
  bool has(std::string_view key, std::string_view value, Instant now) const {
    return size() > 0 && has_hash(hash_of(key, value), now);
  }

  // Gives back the memory of marks that have ended, a block at a time. What is over counts for
  // nobody, whether it is given back or not.
  void reclaim(Instant now);
  // When reclaim() will next have something to do.
  std::optional<Instant> next_reclaim() const;

  // Of the last run, the oldest first. REQUIRES: before any add(), and all of one hash_key.
  void restore(const SavedMark& saved);
  // Those that have not ended, the oldest first: keep(const SavedMark&).
  template <class Keep>
  void save(Instant now, Keep keep) const {
    for (std::uint32_t number = oldest_; number != next_; ++number) {
      const Mark& mark = at(number);
      if (now < mark.end) keep(SavedMark{hash_key_, mark.hash, mark.end});
    }
  }

  // Those that are over and not yet given back count.
  std::size_t size() const { return next_ - oldest_; }
  std::size_t bytes() const;

 private:
  // A mark's number, without its upper bits; whether it is the last of its chain; and bits of its
  // hash that do not choose the chain. The number wraps around long after the mark is gone.
  struct Link {
    static constexpr unsigned kNumberBits = kMarkBits + 2;
    static constexpr unsigned kTagBits = 32 - kNumberBits - 1;

    std::uint32_t number : kNumberBits;
    std::uint32_t is_last : 1;
    std::uint32_t tag : kTagBits;
  };
  static_assert(sizeof(Link) == 4);
  struct Mark {
    std::uint64_t hash;
    Instant end;
    Link older;
  };
  static_assert(sizeof(Mark) == 24);
  using Block = std::unique_ptr<Mark[]>;

  std::uint64_t hash_of(std::string_view key, std::string_view value) const;
  bool has_hash(std::uint64_t hash, Instant now) const;
  void add_hash(std::uint64_t hash, Instant end);
  void begin_block();
  void forget_before(std::uint32_t number);
  void forget_all();

  std::size_t marks_max() const { return std::size_t{1} << limits_.mark_bits; }
  std::uint32_t block_marks() const { return std::uint32_t{1} << limits_.block_bits; }
  std::uint32_t place_in_block(std::uint32_t number) const { return number & (block_marks() - 1); }
  // The ring has places for twice the marks: the block that is going has its own.
  const Block& block_of(std::uint32_t number) const {
    return blocks_[(number >> limits_.block_bits) & (blocks_.size() - 1)];
  }
  Block& block_of(std::uint32_t number) {
    return blocks_[(number >> limits_.block_bits) & (blocks_.size() - 1)];
  }
  const Mark& at(std::uint32_t number) const { return block_of(number)[place_in_block(number)]; }
  // Twice the marks, so that few chains have more than one.
  std::size_t heads() const { return 2 * marks_max(); }
  Link& head_of(std::uint64_t hash) const {
    return static_cast<Link*>(heads_.begin())[hash & (heads() - 1)];
  }
  static std::uint32_t tag_of(std::uint64_t hash) {
    return static_cast<std::uint32_t>(hash >> (64 - Link::kTagBits));
  }
  // Among the marks, the oldest is 0.
  std::uint32_t rank_of(Link link) const {
    return (link.number - oldest_) & ((std::uint32_t{1} << Link::kNumberBits) - 1);
  }
  // Of the marks that are there, how many stand in the oldest one's block.
  std::uint32_t in_oldest_block() const;

  const Limits limits_;
  std::uint64_t hash_key_;
  std::vector<Block> blocks_;  // a ring; there are just those in which a mark stands
  Block spare_;        // the block that went last serves again: a busy node allocates nothing
  ZeroedPages heads_;  // Link[heads()]; none while there is no mark
  std::uint32_t oldest_;
  std::uint32_t next_;  // the number of the next mark
};

}  // namespace redlock::server
