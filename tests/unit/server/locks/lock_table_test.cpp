#include "server/locks/lock_table.h"

#include "base/random.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

constexpr Instant kStart{24h};

std::string value_of(const Lock* lock) {
  return lock == nullptr ? "(nil)" : std::string(lock->value());
}

}  // namespace

TEST_CASE("what was looked for in vain is found once it is made, and is told by its bytes") {
  LockTable table(1);
  const Instant now = kStart;
  std::string word = "printer";
  CHECK(table.find(word, now) == nullptr);
  CHECK(table.find(word, now) == nullptr);
  REQUIRE(table.put(word, "alice", now + 10s, 1, now) != nullptr);
  REQUIRE(table.find(word, now) != nullptr);
  CHECK(table.erase(word, now));
  CHECK(table.find(word, now) == nullptr);
  word = "scanner";  // in the same place
  REQUIRE(table.put(word, "bob", now + 10s, 2, now) != nullptr);
  CHECK(table.find("scanner", now) != nullptr);
  CHECK(table.find("printer", now) == nullptr);
  CHECK(table.size() == 1);
  word = "printer";
  CHECK(table.find(word, now) == nullptr);
  REQUIRE(table.put("printer", "carl", now + 10s, 3, now) != nullptr);  // from another place
  CHECK(table.find(word, now)->value() == "carl");
  CHECK(table.size() == 2);
}

TEST_CASE("a lock is there until its deadline and gone at it, to the nanosecond (rule C5)") {
  LockTable table(1);
  table.put("printer", "alice", kStart + 10s, 0, kStart);
  CHECK(value_of(table.find("printer", kStart + 10s - 1ns)) == "alice");
  CHECK(value_of(table.find("printer", kStart + 10s)) == "(nil)");
  CHECK(table.size() == 0);
  CHECK(table.expired() == 1);
}

TEST_CASE("a lock that is put again has the new value and deadline, whatever their sizes") {
  LockTable table(1);
  for (const std::size_t size : {5u, 6u, 500u, 40'000u, 0u, 100'000u, 3u}) {
    const std::string value(size, 'v');
    table.put("key", value, kStart + 10s, size, kStart);
    const Lock* lock = table.find("key", kStart);
    REQUIRE(lock != nullptr);
    CHECK(lock->value() == value);
    CHECK(lock->token() == size);
    CHECK(table.size() == 1);
  }
  CHECK(table.erase("key", kStart));
  CHECK_FALSE(table.erase("key", kStart));
  CHECK_FALSE(table.next_reclaim().has_value());
}

TEST_CASE("locks without a deadline are counted and never reclaimed (rule L3)") {
  LockTable table(1);
  table.put("eternal", "v", kNever, 0, kStart);
  CHECK(table.without_deadline() == 1);
  const Instant much_later = kStart + 24h * 365;
  CHECK(table.reclaim(much_later, 100).count == 0);
  table.set_deadline("eternal", much_later + 1s, much_later);
  CHECK(table.without_deadline() == 0);
  CHECK(table.reclaim(much_later + 2s, 100).count == 1);
}

TEST_CASE("memory comes back without a look, a budget at a time") {
  LockTable table(1);
  for (int i = 0; i < 10'000; ++i) {
    table.put("lock:" + std::to_string(i), "value", kStart + 100ms, 0, kStart);
  }
  const std::size_t full = table.bytes();
  std::size_t given_back = 0;
  while (given_back < 10'000) {
    const auto reclaimed = table.reclaim(kStart + 101ms, 512);
    CHECK(reclaimed.count <= 512);
    given_back += reclaimed.count;
    if (reclaimed.count > 0) CHECK(reclaimed.last_deadline == kStart + 100ms);
  }
  CHECK(table.size() == 0);
  CHECK(table.bytes() < full / 4);
}

TEST_CASE("memory that goes back to the system takes its part of the budget (rule C5)") {
  constexpr std::size_t kLocks = 700;
  constexpr std::size_t kBudget = 256;
  const std::size_t value_bytes = GENERATE(8'000u, 9'000u);  // eight in a chunk; each in its own
  CAPTURE(value_bytes);
  LockTable table(1);
  const std::string value(value_bytes, 'v');
  for (std::size_t i = 0; i < kLocks; ++i) {
    table.put("lock:" + std::to_string(i), value, kStart + 100ms, 0, kStart);
  }
  std::size_t most = 0;
  std::size_t turns = 0;  // that gave something back
  while (table.size() > 0) {
    const std::size_t count = table.reclaim(kStart + 101ms, kBudget).count;
    most = std::max(most, count);
    turns += count > 0 ? 1 : 0;
  }
  CHECK(kLocks / turns < kBudget / 2);
  // As many as are given back between two looks at what went back to the system.
  if (value_bytes == 9'000) CHECK(most <= LockTable::kExpectedMax);
}

TEST_CASE("the table agrees with a map under random commands") {
  const std::uint64_t seed = 4;
  INFO("seed " << seed);
  Random random(seed);
  LockTable table(seed);
  struct Known {
    std::string value;
    Instant deadline;
  };
  std::map<std::string, Known> model;
  Instant now = kStart;
  const auto is_there = [&](const std::string& key) {
    const auto found = model.find(key);
    return found != model.end() && now < found->second.deadline;
  };
  for (int step = 0; step < 100'000; ++step) {
    now += Duration(random.below(2'000'000));
    const std::string key(1 + random.below(40), static_cast<char>('a' + random.below(26)));
    switch (random.below(6)) {
      case 0:
      case 1: {
        const std::string value(random.below(60), 'v');
        const Instant deadline =
            random.below(50) == 0 ? kNever : now + Duration(random.below(3'000'000'000));
        REQUIRE(table.put(key, value, deadline, 0, now) != nullptr);
        model[key] = {value, deadline};
        break;
      }
      case 2:
        REQUIRE(table.erase(key, now) == is_there(key));
        model.erase(key);
        break;
      case 3:
        if (is_there(key)) {
          model[key].deadline = now + Duration(random.below(3'000'000'000));
          table.set_deadline(key, model[key].deadline, now);
        }
        break;
      case 4: {
        const std::vector<std::string_view> keys(random.below(LockTable::kExpectedMax + 1), key);
        table.expect(keys);  // a hint, which changes nothing
        break;
      }
      default:
        table.reclaim(now, random.below(20));
        break;
    }
    REQUIRE(value_of(table.find(key, now)) == (is_there(key) ? model[key].value : "(nil)"));
  }
}

TEST_CASE("locks without a deadline, which stand on no wheel, can be expected as well") {
  LockTable table(1);
  const Instant now(1h);
  const std::string value(40, 'v');  // of which a record that is used again is full
  for (const Instant deadline : {now + 1h, kNever}) {
    for (int i = 0; i < 100; ++i) {
      REQUIRE(table.put(std::to_string(i), value, deadline, 0, now) != nullptr);
    }
    for (int i = 0; i < 100; ++i) {
      const std::string key = std::to_string(i);
      table.expect(std::vector<std::string_view>{key});
      if (deadline != kNever) table.erase(key, now);
    }
  }
  CHECK(table.size() == 100);
}

TEST_CASE("a lock is a text or a hash, and a hash is held by no value") {
  LockTable table(1);
  table.put("text", "alice", kStart + 10s, 1, kStart);
  CHECK_FALSE(table.find("text", kStart)->is_hash());
  CHECK(table.find("text", kStart)->holds("alice"));
  CHECK_FALSE(table.find("text", kStart)->holds("bob"));

  table.put("hash", "alice", kStart + 10s, 2, kStart, LockKind::hash);
  const Lock* hash = table.find("hash", kStart);
  CHECK(hash->is_hash());
  CHECK(hash->value() == "alice");
  CHECK(hash->bytes() == Lock::bytes_for(LockKind::hash, 4, 5));
  CHECK_FALSE(hash->holds("alice"));

  table.put("hash", "alice", kStart + 10s, 3, kStart);
  CHECK(table.find("hash", kStart)->holds("alice"));
}

TEST_CASE("touched keys are noted while somebody wants it, whether there is a lock or not") {
  LockTable table(1);
  std::vector<std::string> touched;
  table.put("printer", "alice", kStart + 10s, 0, kStart);
  CHECK(table.find("printer", kStart) != nullptr);
  table.notes().want(KeyNotes::touched, true);
  table.find("printer", kStart);
  table.find("scanner", kStart);
  table.erase("plotter", kStart);
  table.notes().take_touched(touched);
  CHECK(touched == std::vector<std::string>{"printer", "scanner", "plotter"});
  table.find("printer", kStart);
  table.notes().want(KeyNotes::touched, false);
  table.find("printer", kStart);
  table.notes().take_touched(touched);
  CHECK(touched.empty());
}

// The table finds the last lock again by the word that it was found by: also where that word is the
// same bytes of a buffer, which say something else by now, or the record is another lock's.
TEST_CASE("what was found last is found again only while it is there, and under its own name") {
  LockTable table(1);
  std::string word = "printer";
  const auto find_printer = [&] {
    table.put("printer", "alice", kStart + 10s, 0, kStart);
    return value_of(table.find(word, kStart));
  };
  CHECK(find_printer() == "alice");
  table.erase("printer", kStart);
  CHECK(value_of(table.find(word, kStart)) == "(nil)");
  CHECK(find_printer() == "alice");
  table.put("printer", std::string(1000, 'b'), kStart + 10s, 0, kStart);  // in another record
  CHECK(value_of(table.find(word, kStart)) == std::string(1000, 'b'));
  CHECK(find_printer() == "alice");
  CHECK(table.reclaim(kStart + 11s, 100'000).count == 1);
  CHECK(value_of(table.find(word, kStart)) == "(nil)");
  CHECK(find_printer() == "alice");
  table.clear();
  CHECK(value_of(table.find(word, kStart)) == "(nil)");
  CHECK(find_printer() == "alice");
  table.put("scanner", "bob", kStart + 10s, 0, kStart);
  word = "scanner";
  CHECK(value_of(table.find(word, kStart)) == "bob");
  word = "plotter";
  CHECK(value_of(table.find(word, kStart)) == "(nil)");
}

// A record's head is short or long by the lengths of what it holds.
TEST_CASE("keys, values, labels and tokens of all sizes are told as they were given") {
  LockTable table(1);
  const Token token = GENERATE(Token{0}, Token{1}, kTokenMax);
  for (const std::size_t key_bytes : {0u, 1u, 17u, 31u, 32u, 255u, 65'535u}) {
    for (const std::size_t value_bytes : {0u, 1u, 40u, 63u, 64u, 100u, 70'000u}) {
      const std::string key(key_bytes, 'k');
      const std::string value(value_bytes, 'v');
      for (const LockKind kind : {LockKind::text, LockKind::hash}) {
        for (const LockLabel label : {LockLabel{}, LockLabel{"host:7", kStart + 1ns}}) {
          const Lock* lock = table.put(key, value, kStart + 10s, token, kStart, kind, label);
          REQUIRE(lock == table.find(key, kStart));
          REQUIRE(lock->key() == key);
          REQUIRE(lock->value() == value);
          REQUIRE(lock->kind() == kind);
          REQUIRE(lock->label().text == label.text);
          REQUIRE(lock->label().since == label.since);
          REQUIRE(lock->token() == token);
          REQUIRE(lock->deadline() == kStart + 10s);
          table.set_token(key, kTokenMax - token);
          table.set_deadline(key, kStart + 20s + 1ns, kStart);
          lock = table.find(key, kStart);
          REQUIRE(lock->token() == kTokenMax - token);
          REQUIRE(lock->deadline() == kStart + 20s + 1ns);
          REQUIRE(lock->is_extended());
          REQUIRE(lock->key() == key);
          REQUIRE(lock->value() == value);
          REQUIRE(table.erase(key, kStart));
        }
      }
    }
  }
}

TEST_CASE("a deadline beyond 146 years of the clock ends then, and is not taken for none") {
  LockTable table(1);
  const Instant last(Duration((std::int64_t{1} << 62) - 2));
  table.put("late", "v", kNever - 1ns, 0, kStart);
  CHECK(table.without_deadline() == 0);
  CHECK(table.find("late", kStart)->deadline() == last);
  CHECK(table.find("late", last - 1ns) != nullptr);
  CHECK(table.find("late", last) == nullptr);
  table.put("eternal", "v", kNever, 0, kStart);
  CHECK(table.find("eternal", kNever - 1ns) != nullptr);
}

TEST_CASE("a lock of 17 and 40 bytes takes 81, and no other memory") {
  CHECK(Lock::bytes_for(LockKind::text, 17, 40) == 81);
  CHECK(LockArena::room(81) == 81);
}
