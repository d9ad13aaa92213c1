// Hashes as locks: what a grant is and what is not, how long they live, what survives.
#include "server/commands/families.h"
#include "server/locks/packed_hash.h"
#include "tests/support/node_fixture.h"

#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

// Redisson's reentrant lock: how its scripts take it, and give it back.
constexpr const char* kTake =
    "EVAL \"if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 "
    "then redis.call('hincrby', KEYS[1], ARGV[2], 1) redis.call('pexpire', KEYS[1], ARGV[1]) "
    "return nil end return redis.call('pttl', KEYS[1])\" 1 ";
constexpr const char* kGiveBack =
    "EVAL \"if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end "
    "if redis.call('hincrby', KEYS[1], ARGV[2], -1) > 0 then "
    "redis.call('pexpire', KEYS[1], ARGV[1]) return 0 end "
    "redis.call('del', KEYS[1]) return 1\" 1 ";

std::string take(NodeFixture& node, const std::string& words) {
  return node(kTake + words);
}
std::string give_back(NodeFixture& node, const std::string& words) {
  return node(kGiveBack + words);
}

std::uint64_t token_of(NodeFixture& node, std::string_view key) {
  const Lock* lock = node.node().locks().find(key, node.now().monotonic);
  REQUIRE(lock != nullptr);
  return lock->token();
}

struct Saved {
  std::string key;
  std::string value;
  Instant deadline;
  std::uint64_t token;
  LockKind kind;
};

std::vector<Saved> saved_by(NodeFixture& node) {
  std::vector<Saved> all;
  const auto keep = [&](const SavedLock& lock) {
    all.push_back(
        {std::string(lock.key), std::string(lock.value), lock.deadline, lock.token, lock.kind});
  };
  node.node().grants().save(node.now().monotonic, keep, [](const SavedMark&) {});
  return all;
}

}  // namespace

TEST_CASE("a reentrant lock is taken again by its holder, and by nobody else") {
  NodeFixture node;
  CHECK(take(node, "printer 10000 alice") == "(nil)");
  node.advance(1s);
  CHECK(take(node, "printer 10000 bob") == "(integer) 9000");
  CHECK(take(node, "printer 10000 alice") == "(nil)");
  CHECK(node("HGETALL printer") == "[\"alice\", \"2\"]");
  CHECK(give_back(node, "printer 10000 bob") == "(nil)");
  CHECK(give_back(node, "printer 10000 alice") == "(integer) 0");
  CHECK(give_back(node, "printer 10000 alice") == "(integer) 1");
  CHECK(node("EXISTS printer") == "(integer) 0");
  CHECK(take(node, "printer 10000 bob") == "(nil)");
  node.advance(10s);
  CHECK(take(node, "printer 10000 alice") == "(nil)");
  CHECK(node.node().stats().ttl_imposed == 0);  // each had a TTL of its own
}

TEST_CASE("a hash that is made without a TTL gets max-ttl, and it is counted (rule L2)") {
  NodeFixture node;
  for (const char* make : {"HSET k f v", "HMSET k f v", "HSETNX k f v", "HINCRBY k f 1",
                           "EVAL \"return redis.call('HSET', KEYS[1], 'f', 'v')\" 1 k"}) {
    INFO(make);
    const auto imposed = node.node().stats().ttl_imposed;
    node(make);
    CHECK(node("PTTL k") == "(integer) 65000");
    CHECK(node.node().stats().ttl_imposed == imposed + 1);
    node.advance(1s);
    node("HSET k g w");  // a change: the deadline stays, and nothing is imposed
    CHECK(node("PTTL k") == "(integer) 64000");
    CHECK(node.node().stats().ttl_imposed == imposed + 1);
    node("DEL k");
  }
}

TEST_CASE("where no TTL is required a hash has none (rule L3)") {
  Settings settings;
  settings.require_ttl = false;
  NodeFixture node(settings);
  node("HSET k f v");
  CHECK(node("PTTL k") == "(integer) -1");
  CHECK(node.node().locks().without_deadline() == 1);
}

TEST_CASE("to make a hash is a grant with a token; to change it is neither (rules F2, L4)") {
  NodeFixture node;
  node("HSET k alice 1");
  const std::uint64_t token = token_of(node, "k");
  CHECK(token > 0);
  CHECK(node.node().stats().granted == 1);
  node("PEXPIRE k 10000");
  node("HSET k alice 2 bob 1");
  node("HINCRBY k alice 1");
  node("HSETNX k carol 1");
  node("HMSET k carol 2");
  node("HDEL k bob");
  CHECK(token_of(node, "k") == token);
  CHECK(node("PTTL k") == "(integer) 10000");
  CHECK(node.node().stats().granted == 1);
  CHECK(node.node().stats().released == 0);
  node("HDEL k alice carol");  // the last fields
  CHECK(node.node().stats().released == 1);
  node("HSET k bob 1");
  CHECK(token_of(node, "k") > token);
}

TEST_CASE("a text over a hash and a hash's bytes as a text are grants to another (rule L4)") {
  NodeFixture node;
  node("HSET k f v");
  const std::uint64_t token = token_of(node, "k");
  const std::string bytes(node.node().locks().find("k", node.now().monotonic)->value());
  node.node().grants().grant("k", bytes, node.now().monotonic + 1s, node.now().monotonic);
  CHECK(token_of(node, "k") > token);
  CHECK(node("TYPE k") == "+string");
  CHECK(node("HGET k f") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
}

TEST_CASE("coordinators find a hash held, and nobody's") {
  NodeFixture node;
  constexpr const char* kWrongKind =
      "-WRONGTYPE Operation against a key holding the wrong kind of value";
  node("HSET k f v");
  node("PEXPIRE k 10000");
  CHECK(node("LOCK.ACQUIRE k alice PX 1000") == "[(integer) 0, (integer) 10000]");
  CHECK(node("LOCK.EXTEND k alice PX 1000") == kWrongKind);
  CHECK(node("LOCK.EXTEND k alice PX 1000 TOKEN 7") == kWrongKind);
  CHECK(node("LOCK.CONFIRM k alice 7") == kWrongKind);
  CHECK(node("LOCK.HOLDER k") == kWrongKind);
  CHECK(node("LOCK.RELEASE k alice") == kWrongKind);
  CHECK(node("SET k bob IFEQ alice PX 1000") == kWrongKind);
  CHECK(node("PTTL k") == "(integer) 10000");
}

TEST_CASE("a recovering node makes no hash, and answers as an empty one (rule R10)") {
  NodeStart start;
  start.delay = 5s;
  start.grant_from = Instant(24h) + 5s;
  NodeFixture node({}, start);
  for (const char* make : {"HSET k f v", "HMSET k f v", "HSETNX k f v", "HINCRBY k f 1"}) {
    CHECK(node(make) == "-ERR recovering after a restart, no new locks for 5000 ms");
  }
  CHECK(take(node, "k 10000 alice")
            .starts_with("-ERR recovering after a restart, no new locks for 5000 ms"));
  CHECK(give_back(node, "k 10000 alice") == "(nil)");
  CHECK(node("HDEL k f") == "(integer) 0");
  CHECK(node("HGETALL k") == "[]");
  CHECK(node("HGET k f") == "(nil)");
  node.advance(5s);
  CHECK(node("HSET k f v") == "(integer) 1");
}

TEST_CASE("a clean stop keeps a hash, its deadline and its token (rule R9)") {
  NodeFixture before;
  before("HSET k alice 1 bob 2");
  before("PEXPIRE k 10000");
  before("SET text v PX 10000");
  const std::vector<Saved> saved = saved_by(before);
  REQUIRE(saved.size() == 2);

  NodeStart start;
  Settings settings;
  CollectedLog log;
  start.started_at = Instant(24h);
  Node node(all_families(), settings, start,
            {[] { return ProcessFacts{}; }, log, nullptr, nullptr});
  for (const Saved& lock : saved) {
    REQUIRE(node.grants().restore({lock.key, lock.value, lock.deadline, lock.token, lock.kind}));
  }
  Now now{Instant(24h) + 1s, WallTime(0s)};
  node.begin_run(now);
  TestClient client(node, now);
  client.send("HGETALL k", now);
  CHECK(client.receive() == "[\"alice\", \"1\", \"bob\", \"2\"]");
  client.send("PTTL k", now);
  CHECK(client.receive() == "(integer) 9000");
  CHECK(node.locks().find("k", now.monotonic)->token() == token_of(before, "k"));
  client.send("GET text", now);
  CHECK(client.receive() == "\"v\"");
}

TEST_CASE("the fields of a hash are one value, and one that would be too large stays as it was") {
  NodeFixture node;
  const std::string most(64 * 1024 - 9, 'v');  // with the head, two lengths and the name 64 KB
  CHECK(node("HSET k f " + most) == "(integer) 1");
  const std::string refusal = node("HSET k f " + most + "v");
  CHECK(refusal == "-ERR a hash of 65537 bytes is too large: value-size-limit is 65536");
  CHECK(node("HSETNX k g 1").starts_with("-ERR a hash of 65540 bytes"));
  CHECK(node("HINCRBY k g 1").starts_with("-ERR a hash of 65540 bytes"));
  CHECK(node("HSTRLEN k f") == "(integer) " + std::to_string(most.size()));
  CHECK(node("HLEN k") == "(integer) 1");
  CHECK(node("HSET other f " + most + "v") == refusal);
  CHECK(node("EXISTS other") == "(integer) 0");
  CHECK(node("CONFIG SET value-size-limit 16mb") == "+OK");
  CHECK(node("HSET k f " + most + most) == "(integer) 0");
  CHECK(node("CONFIG SET value-size-limit 64kb") == "+OK");
  CHECK(node("HSTRLEN k f") == "(integer) " + std::to_string(2 * most.size()));
  CHECK(node("HSET k g 1").starts_with("-ERR a hash of "));
  CHECK(node("HDEL k f") == "(integer) 1");
}

TEST_CASE("a key that no record can name is refused for a hash too") {
  NodeFixture node;
  const std::string key(kKeyBytesMax + 1, 'k');
  for (const std::string make : {"HSET ", "HSETNX ", "HINCRBY "}) {
    CHECK(node(make + key + " f 1").starts_with("-ERR a key of 65536 bytes"));
  }
  CHECK(node("HGET " + key + " f") == "(nil)");
}

TEST_CASE("above maxmemory no field is added, and the last one can still be taken away") {
  Settings settings;
  NodeFixture node(settings);
  node("HSET k f v");
  CHECK(node("CONFIG SET maxmemory 1") == "+OK");
  CHECK(node("HSET k g w") == "-OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(node("HINCRBY k g 1") == "-OOM command not allowed when used memory > 'maxmemory'.");
  CHECK(node("HDEL k f") == "(integer) 1");
  CHECK(node("EXISTS k") == "(integer) 0");
}

TEST_CASE("keyspace events of a hash are those that Redis tells") {
  NodeFixture node;
  REQUIRE(node("CONFIG SET notify-keyspace-events KA") == "+OK");
  TestClient listener = node.connect();
  listener.send("SUBSCRIBE __keyspace@0__:k", node.now());
  listener.receive();
  const auto told = [&] {
    std::string all;
    for (std::string one = listener.receive(); one != "(none)"; one = listener.receive()) {
      const std::size_t begin = one.rfind(", \"") + 3;
      all += one.substr(begin, one.size() - begin - 2) + " ";
    }
    return all;
  };
  node("HSET k f v g w");
  CHECK(told() == "hset ");
  node("HSETNX k f other");
  CHECK(told() == "");
  node("HSETNX k h 1");
  CHECK(told() == "hset ");
  node("HINCRBY k h 1");
  CHECK(told() == "hincrby ");
  node("HDEL k nothing");
  CHECK(told() == "");
  node("HDEL k f g");
  CHECK(told() == "hdel ");
  node("HDEL k h");
  CHECK(told() == "hdel del ");
}

TEST_CASE("MEMORY USAGE tells what a lock takes, to the byte") {
  NodeFixture node;
  node("SET " + std::string(17, 'k') + " " + std::string(40, 'v') + " PX 1000");
  CHECK(node("MEMORY USAGE " + std::string(17, 'k')) == "(integer) 89");  // 81 and the index's 8
  node("SET k " + std::string(50'000, 'v') + " PX 1000");
  CHECK(node("MEMORY USAGE k") == "(integer) 50039");
}
