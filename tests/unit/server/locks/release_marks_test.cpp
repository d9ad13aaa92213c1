// Which values were released for good (rule Q3).
#include "server/locks/release_marks.h"

#include "base/random.h"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Instant kNow(24h);
constexpr std::uint64_t kKey = 7;

std::vector<SavedMark> saved_by(const ReleaseMarks& marks, Instant now) {
  std::vector<SavedMark> all;
  marks.save(now, [&](const SavedMark& mark) { all.push_back(mark); });
  return all;
}

// The same in the plainest way.
class Model {
 public:
  explicit Model(std::size_t marks_max) : marks_max_(marks_max) {}

  void add(const std::string& pair, Instant end) {
    if (!marks_.empty()) end = std::max(end, marks_.back().end);
    marks_.push_back({pair, end});
    if (marks_.size() > marks_max_) marks_.pop_front();
  }
  bool has(const std::string& pair, Instant now) const {
    return std::any_of(marks_.begin(), marks_.end(),
                       [&](const Mark& mark) { return mark.pair == pair && now < mark.end; });
  }
  std::size_t live(Instant now) const {
    return static_cast<std::size_t>(std::count_if(
        marks_.begin(), marks_.end(), [&](const Mark& mark) { return now < mark.end; }));
  }

 private:
  struct Mark {
    std::string pair;
    Instant end;
  };
  std::size_t marks_max_;
  std::deque<Mark> marks_;
};

}  // namespace

TEST_CASE("a mark is of one value under one key, and ends at its instant") {
  ReleaseMarks marks(kKey);
  CHECK_FALSE(marks.has("printer", "alice", kNow));
  marks.add("printer", "alice", kNow + 10s);
  CHECK(marks.has("printer", "alice", kNow));
  CHECK(marks.has("printer", "alice", kNow + 10s - 1ns));
  CHECK_FALSE(marks.has("printer", "alice", kNow + 10s));
  CHECK_FALSE(marks.has("printer", "bob", kNow));
  CHECK_FALSE(marks.has("lamp", "alice", kNow));
  CHECK_FALSE(marks.has("printera", "lice", kNow));
  CHECK_FALSE(marks.has("", "printeralice", kNow));
}

TEST_CASE("a value that is released again is marked for longer") {
  ReleaseMarks marks(kKey);
  marks.add("printer", "alice", kNow + 10s);
  marks.add("printer", "alice", kNow + 15s);
  CHECK(marks.has("printer", "alice", kNow + 12s));
}

TEST_CASE("beyond the limit the oldest mark goes first") {
  ReleaseMarks marks(kKey);
  const auto value = [](std::size_t i) { return std::to_string(i); };
  for (std::size_t i = 0; i < ReleaseMarks::kMarksMax; ++i) marks.add("k", value(i), kNow + 60s);
  CHECK(marks.has("k", "0", kNow));
  marks.add("k", "one more", kNow + 60s);
  CHECK(marks.size() == ReleaseMarks::kMarksMax);
  CHECK_FALSE(marks.has("k", "0", kNow));
  CHECK(marks.has("k", "1", kNow));
  CHECK(marks.has("k", value(ReleaseMarks::kMarksMax - 1), kNow));
  CHECK(marks.has("k", "one more", kNow));
  CHECK(marks.bytes() < 9u << 20);
}

TEST_CASE("marks that are over give their memory back, a block at a time") {
  ReleaseMarks marks(kKey);
  CHECK(marks.bytes() == 0);
  CHECK_FALSE(marks.next_reclaim());
  for (int i = 0; i < 5'000; ++i) marks.add("k", std::to_string(i), kNow + 10s + Duration(i));
  const std::size_t most = marks.bytes();
  CHECK(most > 5'000 * 20);
  REQUIRE(marks.next_reclaim());
  CHECK(*marks.next_reclaim() < kNow + 10s + 5'000ns);
  marks.reclaim(*marks.next_reclaim() - 1ns);
  CHECK(marks.bytes() == most);
  marks.reclaim(kNow + 10s + 4'500ns);
  CHECK(marks.bytes() < most);
  ReleaseMarks two_blocks(kKey);
  for (int i = 0; i < 1'500; ++i) two_blocks.add("k", std::to_string(i), kNow);
  CHECK(marks.bytes() == two_blocks.bytes());  // the last one, and one to spare
  CHECK(marks.has("k", "4999", kNow));
  marks.reclaim(kNow + 11s);
  CHECK(marks.size() == 0);
  CHECK(marks.bytes() == 0);
  CHECK_FALSE(marks.next_reclaim());
  marks.add("k", "again", kNow + 20s);
  CHECK(marks.has("k", "again", kNow + 11s));
  ReleaseMarks new_ones(kKey);
  new_ones.add("k", "again", kNow + 20s);
  CHECK(marks.bytes() == new_ones.bytes());  // none to spare is left
}

TEST_CASE("marks take the memory of their heads, and of the blocks in which they stand") {
  ReleaseMarks marks(kKey, {.mark_bits = 4, .block_bits = 2, .first = 0});
  constexpr std::size_t kHeads = 32 * 4;
  constexpr std::size_t kBlock = 4 * 24;
  for (std::size_t count = 1; count <= 16; ++count) {
    CAPTURE(count);
    marks.add("k", std::to_string(count), kNow + 10s);
    CHECK(marks.bytes() == kHeads + (count + 3) / 4 * kBlock);
  }
}

TEST_CASE("a mark never ends before an older one, so that the oldest block is over first") {
  ReleaseMarks marks(kKey);
  marks.add("k", "old", kNow + 60s);
  marks.add("k", "new", kNow + 1s);
  CHECK(marks.has("k", "new", kNow + 59s));
  CHECK(*marks.next_reclaim() == kNow + 60s);
}

TEST_CASE("marks pass to another run with the key of their hash, without those that are over") {
  ReleaseMarks before(kKey);
  before.add("k", "a", kNow + 1s);
  before.add("k", "b", kNow + 9s);
  const std::vector<SavedMark> saved = saved_by(before, kNow + 1s);
  REQUIRE(saved.size() == 1);
  ReleaseMarks after(kKey + 1);
  for (const SavedMark& mark : saved) after.restore(mark);
  CHECK_FALSE(after.has("k", "a", kNow));
  CHECK(after.has("k", "b", kNow + 2s));
  CHECK_FALSE(after.has("k", "b", kNow + 9s));
  after.add("k", "c", kNow + 10s);
  CHECK(after.has("k", "c", kNow + 2s));
  CHECK(saved_by(after, kNow).size() == 2);
}

TEST_CASE("marks do what the plainest container does, also where their numbers wrap around") {
  const unsigned mark_bits = GENERATE(2u, 4u, 7u);
  const unsigned block_bits = GENERATE(0u, 1u);
  const std::uint32_t first = GENERATE(0u, 1u, 0xFFFF'FF80u);
  CAPTURE(mark_bits, block_bits, first);
  ReleaseMarks marks(kKey, {.mark_bits = mark_bits, .block_bits = block_bits, .first = first});
  Model model(std::size_t{1} << mark_bits);
  Random random(mark_bits * 31 + block_bits + first);
  Instant now = kNow;
  for (int step = 0; step < 20'000; ++step) {
    const std::string pair = std::to_string(random.below(3u << mark_bits));
    switch (random.below(4)) {
      case 0:
        marks.add("k", pair, now + 100ms);
        model.add(pair, now + 100ms);
        break;
      case 1:
        now += Duration(static_cast<std::int64_t>(random.below(40'000'000)));
        break;
      case 2:
        marks.reclaim(now);
        if (random.below(50) == 0) now += 100ms;
        break;
      default:
        break;
    }
    REQUIRE(marks.has("k", pair, now) == model.has(pair, now));
    REQUIRE(marks.size() <= std::size_t{1} << mark_bits);
    REQUIRE(saved_by(marks, now).size() == model.live(now));
    const auto next = marks.next_reclaim();
    REQUIRE(next.has_value() == (marks.size() > 0));
  }
}
