#include "server/locks/release_marks.h"

#include "base/hash.h"
#include "base/invariant.h"

#include <algorithm>
#include <utility>

namespace redlock::server {

ReleaseMarks::ReleaseMarks(std::uint64_t hash_key, const Limits& limits)
    : limits_(limits), hash_key_(hash_key), oldest_(limits.first), next_(limits.first) {
  INVARIANT(limits.block_bits < limits.mark_bits, "a block of marks as large as all of them");
  INVARIANT(limits.mark_bits <= kMarkBits, "more marks than a link can tell apart");
  blocks_.resize(std::size_t{2} << (limits.mark_bits - limits.block_bits));
}

// The key's hash is the key under which the value is hashed, so that no two pairs run together.
std::uint64_t ReleaseMarks::hash_of(std::string_view key, std::string_view value) const {
  return keyed_hash(value, keyed_hash(key, hash_key_));
}

// A link that was written long ago may name a number that is in use again. The rank falls with each
// step all the same, so the walk ends; and a mark of another chain has another hash.
bool ReleaseMarks::has_hash(std::uint64_t hash, Instant now) const {
  Link link = head_of(hash);
  for (std::uint32_t rank = rank_of(link), above = next_ - oldest_; rank < above;
       rank = rank_of(link)) {
    if (link.tag != tag_of(hash) && link.is_last) return false;
    const Mark& mark = at(oldest_ + rank);
    if (mark.hash == hash) return now < mark.end;
    if (link.is_last) return false;
    link = mark.older;
    above = rank;
  }
  return false;
}

void ReleaseMarks::add_hash(std::uint64_t hash, Instant end) {
  if (size() == marks_max()) forget_before(oldest_ + 1);
  if (size() > 0) end = std::max(end, at(next_ - 1).end);
  begin_block();
  Link& head = head_of(hash);
  block_of(next_)[place_in_block(next_)] = {hash, end, head};
  head.is_last = rank_of(head) >= size();
  head.number = next_ & ((std::uint32_t{1} << Link::kNumberBits) - 1);
  head.tag = tag_of(hash) & ((std::uint32_t{1} << Link::kTagBits) - 1);
  ++next_;
}

// A node with few marks uses few pages of the heads. A busy one looks at another page with each
// grant and each release, and where several nodes share a processor these drive each other's pages
// out of its TLB.
void ReleaseMarks::begin_block() {
  Block& block = block_of(next_);
  if (block != nullptr) return;
  block =
      spare_ != nullptr ? std::move(spare_) : std::make_unique_for_overwrite<Mark[]>(block_marks());
  if (heads_.begin() == nullptr) heads_ = ZeroedPages(heads() * sizeof(Link));
  if (size() >= marks_max() / 2) heads_.let_be_huge();
}

// REQUIRES: it is there, and of the oldest one's block or the first behind that.
void ReleaseMarks::forget_before(std::uint32_t number) {
  if (place_in_block(number) == 0) spare_ = std::move(block_of(oldest_));
  oldest_ = number;
}

std::uint32_t ReleaseMarks::in_oldest_block() const {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(size(), block_marks() - place_in_block(oldest_)));
}

// The newest mark of a block ends last.
std::optional<Instant> ReleaseMarks::next_reclaim() const {
  if (size() == 0) return std::nullopt;
  return at(oldest_ + in_oldest_block() - 1).end;
}

void ReleaseMarks::reclaim(Instant now) {
  for (auto due = next_reclaim(); due && *due <= now; due = next_reclaim()) {
    if (in_oldest_block() == size()) return forget_all();
    forget_before(oldest_ + in_oldest_block());
  }
}

void ReleaseMarks::forget_all() {
  oldest_ = next_;
  for (Block& block : blocks_) block.reset();
  spare_.reset();
  heads_ = {};
}

void ReleaseMarks::restore(const SavedMark& saved) {
  INVARIANT(size() == 0 || saved.hash_key == hash_key_, "marks of different keys");
  hash_key_ = saved.hash_key;
  add_hash(saved.hash, saved.end);
}

std::size_t ReleaseMarks::bytes() const {
  if (heads_.begin() == nullptr) return 0;
  const std::uint32_t from_first_block = next_ - 1 - oldest_ + place_in_block(oldest_);
  const std::size_t blocks = (from_first_block >> limits_.block_bits) + 1;
  return (blocks + (spare_ != nullptr ? 1 : 0)) * block_marks() * sizeof(Mark) +
         heads() * sizeof(Link);
}

}  // namespace redlock::server
