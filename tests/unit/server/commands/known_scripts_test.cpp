// The lock libraries' scripts on a fresh node, which knows them by their SHA-1: each does what its
// library counts on.
#include "tests/support/node_fixture.h"

#include <string>
#include <string_view>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

struct Script {
  std::string_view library;
  std::string_view sha1;
  std::string_view more = "";  // arguments behind the value, and behind the TTL
};

constexpr Script kReleases[] = {
    {"the Redis documentation", "647c65a442733a1aa440f99908d249d13b4d6c4a"},
    {"the Redis documentation, one line", "b70c2384248f88e6b75b9f89241a180f856ad852"},
    {"redis-py", "c3f8721cbb97f72bc19e972846bd7aaf91901658"},
    {"redsync", "e950836ed1e694540c503ef9972b8de518044d3b"},
    {"redsync, older", "00583931c4e4d483f6233879c133c71ed5393f9d"},
    {"bsm/redislock", "cf0e94b2e9ffc7e04395cf88f7583fc309985910"},
    {"redlock 5", "e4612211c9f8f51c257e26e056b0a654b3187242"},
    {"redlock 4", "0f0f23b9048b36752b5be114f357ba083449f908"},
    {"pottery", "a4aada0b36710970eedaaaeec4a6b7d8c78c4f80"},
    {"aioredlock", "0e084295a6567dabd5b7d5b4c99018cff95fceff"},
    {"redlock-rb", "8e4905cee18e7c3188d10f2b8b170e403baed34f"},
    {"redlock-py", "4e92fdc63815b3a0a2dd1c1df3694de73607c88d"},
    {"redis-semaphore", "7157921a7cc7cfba979acf6d63f073151df17d12"},
    {"rslock", "daf86bbf8740dd3ca86733367a016364b2110627"},
    {"ShedLock", "194f3902b2dd08557818d09fc2e7682d91480e53"},
    {"Spring, polling", "f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2"},
    {"Spring, told", "7a71e9443a2a41539fb115a5a27d5a748a871aed", "channel"}};

constexpr Script kExtensions[] = {
    {"redis-py, extend", "a4e8783852e6b949f9ef3a97212805108459a890", "1"},
    {"redis-py, reacquire", "1cac51482acf5858da00f6d685d68f886cd6b6b2"},
    {"redsync, by SET NX too", "b6b55c439e02c6f52ffb8be7ec8c0d0ac816ea79"},
    {"redsync", "d75bb8b5bd13532ddedd17762e772346e39b321e"},
    {"bsm/redislock", "a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf"},
    {"redlock 5", "aed6f382e410db8ba7926d4e5e9aab410bf2a78a"},
    {"redlock 4", "ce46f80993d5dac20dd066eb301a4e37994bdbed"},
    {"pottery", "ba015a80261b616e7a62d35df0b8e3edbe6c9414"},
    {"redis-semaphore", "594683e49a64ebaf975caf5f8079a1d097c438f1"},
    {"rslock", "17a49af0c4b1a9034503fa84f3570f5ca76c4cbf"},
    {"ShedLock", "67256370c2d1c87e2250898075542b1a7fa5b917"},
    {"Spring", "879e0f7b8d83c3266d4e996627438c05dbda0b89"}};

}  // namespace

TEST_CASE("every library's release frees its holder's lock and nobody else's") {
  for (const Script& script : kReleases) {
    CAPTURE(script.library);
    NodeFixture node;
    node("SET lock alice NX PX 10000");
    CHECK(node(fmt::format("EVALSHA {} 1 lock bob {}", script.sha1, script.more)) != "(none)");
    CHECK(node("GET lock") == "\"alice\"");
    const std::string answer =
        node(fmt::format("EVALSHA {} 1 lock alice {}", script.sha1, script.more));
    CHECK(answer == "(integer) 1");
    CHECK(node("EXISTS lock") == "(integer) 0");
  }
}

TEST_CASE("every library's extension extends its holder's lock and nobody else's") {
  for (const Script& script : kExtensions) {
    CAPTURE(script.library);
    NodeFixture node;
    node("SET lock alice NX PX 10000");
    node(fmt::format("EVALSHA {} 1 lock bob 30000 {}", script.sha1, script.more));
    CHECK(node("PTTL lock") == "(integer) 10000");
    CHECK(node(fmt::format("EVALSHA {} 1 lock alice 30000 {}", script.sha1, script.more)) ==
          "(integer) 1");
    CHECK(node("PTTL lock") == "(integer) 30000");
    CHECK(node("GET lock") == "\"alice\"");
  }
}

TEST_CASE("Spring's registry takes a lock, and takes it again") {
  NodeFixture node;
  const std::string acquire = "EVALSHA 175897a4e379e99e79a54937be09226f76cdcfe5 1 lock ";
  CHECK(node(acquire + "alice 10000") == "(integer) 1");
  CHECK(node(acquire + "bob 10000") == "(nil)");
  CHECK(node(acquire + "alice 20000") == "(integer) 1");
  CHECK(node("PTTL lock") == "(integer) 20000");
}

TEST_CASE("Redisson's RLock counts its holder's locks, and tells others how long it is held") {
  NodeFixture node;
  const std::string acquire = "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 lock 30000 ";
  const std::string extend = "EVALSHA 6a3d31570dc6f4b0bd32bcdc8e75667747c6f635 1 lock 40000 ";
  // key, channel, the latch of this release; message, TTL, holder, PUBLISH, TTL of the latch
  const auto release = [](int latch, std::string_view holder) {
    return fmt::format(
        "EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 lock channel latch:{} 0 30000 {} "
        "publish 1000",
        latch, holder);
  };
  CHECK(node(acquire + "alice:1") == "(nil)");  // acquired
  CHECK(node(acquire + "alice:1") == "(nil)");
  node.advance(1s);
  CHECK(node(acquire + "bob:1") == "(integer) 29000");
  CHECK(node(extend + "alice:1") == "[(integer) 1]");
  CHECK(node(extend + "bob:1") == "[(integer) 0]");
  CHECK(node("PTTL lock") == "(integer) 40000");
  CHECK(node(release(1, "bob:1")) == "(nil)");
  CHECK(node(release(2, "alice:1")) == "(integer) 0");  // held once more
  CHECK(node(release(2, "alice:1")) == "(integer) 0");  // the same request, sent again
  CHECK(node("HGET lock alice:1") == "\"1\"");
  CHECK(node(release(3, "alice:1")) == "(integer) 1");
  CHECK(node("EXISTS lock") == "(integer) 0");
  CHECK(node(acquire + "bob:1") == "(nil)");
  CHECK(node.node().stats().ttl_imposed == 0);  // each HINCRBY was followed by its PEXPIRE
}

TEST_CASE("Redisson's FencedLock counts tokens in a key that ends with max-ttl here (rule L2)") {
  NodeFixture node;
  const std::string acquire =
      "EVALSHA 49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45 2 lock lock:token 30000 ";
  CHECK(node(acquire + "alice:1") == "[(integer) -1, (integer) 1]");
  CHECK(node(acquire + "bob:1") == "[(integer) 30000, (integer) -1]");
  CHECK(node("PTTL lock:token") == "(integer) 65000");
  CHECK(node.node().stats().ttl_imposed == 1);
}
