#include "coordinator/front_door/records/record.h"

#include "base/random.h"
#include "coordinator/front_door/records/record_change.h"
#include "coordinator/quorum/padding.h"
#include "server/locks/packed_hash.h"

#include <set>
#include <string>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;
using server::LockKind;

namespace {

RandomBytes random_of(Random& random) {
  return [&random](std::span<unsigned char> bytes) {
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  };
}

std::string packed_hash() {
  server::HashFields fields;
  fields.set("alice", "1");
  return fields.pack();
}

}  // namespace

TEST_CASE("a record gives back its kind and payload, and never comes twice (rule D1)") {
  Random random(1);
  std::set<std::string> values;
  std::set<std::string, std::less<>> incarnations;
  for (int i = 0; i < 1000; ++i) {
    const std::string value = new_record(LockKind::text, "1", random_of(random));
    CHECK(value.size() == kRecordHeaderBytes + 1);
    CHECK(read_record(value).payload == "1");
    CHECK(read_record(value).kind == LockKind::text);
    CHECK_FALSE(read_record(value).is_foreign);
    values.insert(value);
    incarnations.emplace(held_by(value).holder);
    CHECK(held_by(value).number == 0);
  }
  CHECK(values.size() == 1000);
  CHECK(incarnations.size() == 1000);
  const std::string hash = new_record(LockKind::hash, packed_hash(), random_of(random));
  CHECK(read_record(hash).kind == LockKind::hash);
  CHECK(read_record(hash).payload == packed_hash());
}

TEST_CASE("a value of a client of the nodes themselves is foreign (rule D1)") {
  Random random(1);
  const std::string whole = new_record(LockKind::text, "", random_of(random));
  std::string other_kind = whole;
  other_kind[3] = 'Z';
  std::string broken_hash = whole + "not a hash";
  broken_hash[3] = 'H';
  const std::string values[] = {"",
                                "1",
                                std::string("\0rl", 3),
                                "\0rlT",
                                other_kind,
                                broken_hash,
                                whole.substr(0, kRecordHeaderBytes - 1),
                                "MDEyMzQ1Njc4OWFiY2RlZjAx-and more than a header has of bytes"};
  for (const std::string& value : values) {
    CHECK(read_record(value).is_foreign);
    CHECK(read_record(value).payload == value);
    CHECK(held_by(value).holder == value);
    CHECK(held_by(value).number == 0);
  }
  CHECK_FALSE(read_record(whole).is_foreign);
}

TEST_CASE(
    "the nodes keep a lock until its client is done, at any rates of their clocks (rule D2)") {
  for (const double drift : {0.0, 0.01, 0.1, 0.5}) {
    const DoorTimes times{300ms, 700ms, drift};
    for (const Duration ttl : {1ms, 99ms, 30'000ms, 3'600'000ms}) {
      // The worst: the node's clock runs fastest, those of door and client slowest.
      const auto held = Duration(
          static_cast<std::int64_t>(static_cast<double>(padded(ttl, times).count()) / (1 + drift)));
      CHECK(held >= ttl + times.acquire_time + times.reply_time);
      CHECK(padded(ttl, times) % 1ms == 0ns);
    }
  }
}

TEST_CASE("what is told of a lock is never more than its padding leaves, and never nothing") {
  const DoorTimes times{};
  for (const Duration ttl : {1ms, 5ms, 30'000ms, 3'600'000ms}) {
    CHECK(told_left(padded(ttl, times), times) <= std::max<Duration>(ttl, 1ms));
    CHECK(told_left(padded(ttl, times), times) >= ttl - 10ms);
  }
  CHECK(told_left(1200ms, times) == 1ms);
  CHECK(told_left(1ns, times) == 1ms);
}

TEST_CASE("the door's max-ttl is what the nodes' leaves") {
  const DoorTimes times{};
  CHECK(door_max_ttl(60s, times) == 57'903ms);
  for (const Duration nodes_max : {2s, 10s, 60s, 65s, 3600s}) {
    const Duration longest = door_max_ttl(nodes_max, times);
    CHECK(padded(longest, times) <= nodes_max);
    CHECK(padded(longest + 2ms, times) > nodes_max);
  }
  CHECK(door_max_ttl(1s, times) <= 0ms);
}

TEST_CASE("a change of a record is one of five operations (rule D4)") {
  const Instant now(24h);
  const SeenRecord held{LockKind::text, "alice", now + 10s};
  SeenRecord later = held;
  later.deadline += 1ns;
  SeenRecord other = held;
  other.payload = "bob";
  SeenRecord hash = held;
  hash.kind = LockKind::hash;
  CHECK(change_between(std::nullopt, std::nullopt) == ChangeKind::none);
  CHECK(change_between(held, held) == ChangeKind::none);
  CHECK(change_between(std::nullopt, held) == ChangeKind::create);
  CHECK(change_between(held, std::nullopt) == ChangeKind::release);
  CHECK(change_between(held, later) == ChangeKind::extend);
  CHECK(change_between(later, held) == ChangeKind::shorten);
  CHECK(change_between(held, other) == ChangeKind::replace);
  CHECK(change_between(held, hash) == ChangeKind::replace);
}

TEST_CASE("a value is of whom the lock was given to, or of others that came after him (rule D9)") {
  Random random(1);
  const RandomBytes bytes = random_of(random);
  const auto hash = [](std::initializer_list<std::string_view> names) {
    server::HashFields fields;
    for (const std::string_view name : names) fields.set(name, "1");
    return fields.pack();
  };
  const std::string taken = new_record(LockKind::hash, hash({"a"}), bytes);
  CHECK_FALSE(read_record(taken).has_changed_hands);
  const std::string counted = next_record(taken, LockKind::hash, hash({"a"}), bytes);
  CHECK_FALSE(read_record(counted).has_changed_hands);
  for (const auto& other : {hash({"b"}), hash({"a", "b"})}) {
    const std::string others = next_record(counted, LockKind::hash, other, bytes);
    CHECK(read_record(others).has_changed_hands);
    CHECK(read_record(others).kind == LockKind::hash);
    const std::string again = next_record(others, LockKind::hash, hash({"a"}), bytes);
    CHECK(read_record(again).has_changed_hands);
  }
  const std::string text = next_record(taken, LockKind::text, "a", bytes);
  CHECK(read_record(text).has_changed_hands);
  CHECK(read_record(next_record(text, LockKind::hash, hash({"a"}), bytes)).has_changed_hands);
}

TEST_CASE("each value of a lock has the next number, and bytes that never were (rule D9)") {
  Random random(1);
  const RandomBytes bytes = random_of(random);
  std::string value = new_record(LockKind::text, "1", bytes);
  const std::string first = value;
  std::set<std::string> values = {value};
  for (std::uint32_t number = 1; number <= 300; ++number) {
    value = next_record(value, LockKind::text, "1", bytes);
    CHECK(held_by(value).number == number);
    CHECK(held_by(value).holder == held_by(first).holder);
    CHECK(read_record(value).payload == "1");
    CHECK(values.insert(value).second);
  }
  CHECK(next_record(first, LockKind::text, "1", bytes) !=
        next_record(first, LockKind::text, "1", bytes));
  CHECK(has_next_record(value));
  value.replace(20, 4, std::string(4, '\xff'));
  CHECK_FALSE(has_next_record(value));
}
