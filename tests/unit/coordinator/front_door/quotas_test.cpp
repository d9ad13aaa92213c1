// max-locks at a front door, by random commands of three users, one of whom may have any number:
// who may have so many never has more, and as many whenever he asks for them.
#include "base/random.h"
#include "tests/support/door_world.h"
#include "tests/support/sanitized.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;

namespace {

constexpr std::array<std::string_view, 3> kUsers = {"a", "b", "operator"};
constexpr std::array<std::size_t, 2> kMost = {4, 3};
constexpr std::size_t kKeys = 8;

// Whose a lock is, by what is seen at the door before and after each command: who makes it, or
// gives it another value, has it since (rule L4).
struct Quotas {
  explicit Quotas(unsigned seed) : random(seed) {
    for (const std::size_t user : {0u, 1u}) {
      CHECK(eye(fmt::format("ACL SETUSER {} on >x ~* +@all max-locks:{}", kUsers[user],
                            kMost[user])) == "+OK");
    }
    for (std::size_t user = 0; user < kUsers.size(); ++user) clients.push_back(connect(user));
  }

  DoorClient connect(std::size_t user) {
    DoorClient client = world.connect();
    if (user < kMost.size()) {
      CHECK(client(fmt::format("AUTH {} x", kUsers[user])) == "+OK");
    }
    return client;
  }

  std::size_t below(std::size_t end) { return random.below(end); }
  std::string key() { return fmt::format("k{}", below(kKeys)); }
  std::string value() { return std::string(1, "abc123"[below(6)]); }
  std::string ttl() {
    if (below(12) != 0) return "40000";
    is_short = true;
    return fmt::to_string(20 + below(200));
  }
  std::string command() {
    const std::string k = key();
    const std::string v = value();
    switch (below(20)) {
      case 0:
      case 1:
        return fmt::format("SET {} {} NX PX {}", k, v, ttl());
      case 2:
        return fmt::format("SET {} {} PX {}", k, v, ttl());
      case 3:
        return fmt::format("SET {} {} XX KEEPTTL", k, v);
      case 4:
        return fmt::format("SET {} {} IFEQ {} PX {}", k, v, value(), ttl());
      case 5:
        return fmt::format("MSET {} {} {} {}", k, v, key(), value());
      case 6:
        return fmt::format("MSETNX {} {} {} {}", k, v, key(), value());
      case 7:
        return fmt::format("INCR {}", k);
      case 8:
        return fmt::format("HSET {} f {}", k, v);
      case 9:
        return fmt::format("HDEL {} f", k);
      case 10:
        return fmt::format("LOCK.ACQUIRE {} {} PX {}", k, v, ttl());
      case 11:
        return fmt::format("LOCK.EXTEND {} {} PX {}", k, v, ttl());
      case 12:
        return fmt::format("LOCK.RELEASE {} {}", k, v);
      case 13:
      case 14:
        return fmt::format("PEXPIRE {} {}", k, ttl());
      case 15:
        return fmt::format("DEL {} {}", k, key());
      case 16:
        return fmt::format("GETDEL {}", k);
      case 17:
        return fmt::format(
            "EVAL \"redis.call('set', KEYS[1], ARGV[1], 'PX', 40000) "
            "return redis.call('del', KEYS[2])\" 2 {} {} {}",
            k, key(), v);
      case 18:
        return fmt::format(
            "EVAL \"for i = 1, 3 do redis.call('set', KEYS[i], ARGV[1], 'PX', "
            "40000) end\" 3 k0 k1 {} {}",
            k, v);
      default:
        return fmt::format("PEXPIRE {} 0", k);
    }
  }

  using Seen = std::array<std::string, kKeys>;
  Seen look() {
    Seen values;
    for (std::size_t i = 0; i < kKeys; ++i) values[i] = eye(fmt::format("GET k{}", i));
    return values;
  }
  void see(std::size_t user) {
    const Seen before = std::exchange(seen, look());
    for (std::size_t i = 0; i < kKeys; ++i) {
      const bool is_hash = seen[i].starts_with("-WRONGTYPE");
      if (seen[i] == "(nil)") {
        owners.erase(i);
      } else if (before[i] == "(nil)" || (seen[i] != before[i] && !is_hash)) {
        owners[i] = user;
      }
    }
  }
  std::size_t count(std::size_t user) const {
    return static_cast<std::size_t>(
        std::count_if(owners.begin(), owners.end(), [&](auto& of) { return of.second == user; }));
  }
  // Until what had a short TTL is over at the nodes, too.
  void wait() {
    world.nodes().pass(3s);
    is_short = false;
    see(kUsers.size());
  }
  // How many more he gets.
  std::size_t room_of(std::size_t user) {
    std::size_t room = 0;
    while (clients[user](fmt::format("SET more-{} v NX PX 60000", room)) == "+OK") ++room;
    for (std::size_t i = 0; i < room; ++i) {
      CHECK(eye(fmt::format("DEL more-{}", i)) == "(integer) 1");
    }
    return room;
  }
  void step() {
    const std::size_t user = below(kUsers.size());
    DoorClient& client = clients[user];
    std::vector<std::string> lines;
    if (below(8) == 0) {
      lines = {"MULTI", command(), command(), "EXEC"};
    } else {
      lines = {command()};
    }
    for (const std::string& line : lines) {
      INFO(kUsers[user] << ": " << line);
      last += fmt::format("\n{}: {}", kUsers[user], line);
      client.send(line);
      if (&line == &lines.back() && below(16) == 0) {
        client.hang_up();
        world.nodes().pass(100ms);
        client = connect(user);
      } else {
        client.receive();
      }
    }
    see(user);
  }
  void check() {
    INFO(last);
    last.clear();
    if (is_short) wait();
    for (const std::size_t user : {0u, 1u}) {
      REQUIRE(count(user) <= kMost[user]);
      REQUIRE(room_of(user) == kMost[user] - count(user));
    }
  }

  Random random;
  DoorWorld world;
  DoorClient eye = world.connect();
  std::vector<DoorClient> clients;
  Seen seen = look();
  std::map<std::size_t, std::size_t> owners;  // by key
  bool is_short = false;                      // since the last wait()
  std::string last;
};

}  // namespace

TEST_CASE("a user has as many locks at a door as it counts of him, whatever is sent") {
  for (unsigned seed = 1; seed <= (kSanitized ? 4 : 20); ++seed) {
    Quotas quotas(seed);
    for (int i = 0; i < 300; ++i) {
      quotas.step();
      if (i % 6 == 0) quotas.check();
    }
    quotas.check();
  }
}

TEST_CASE("a lock counts until the slowest of the nodes' clocks says that it is over (rule L4)") {
  DoorWorld world;
  DoorClient alice = world.connect();
  CHECK(alice("ACL SETUSER a on >x ~* +@all max-locks:1") == "+OK");
  CHECK(alice("AUTH a x") == "+OK");
  CHECK(alice("SET printer 1 NX PX 10000") == "+OK");
  const coordinator::DoorTimes times;
  world.nodes().pass(stretch(padded(10s, times), times.clock_drift) - 10ms);
  CHECK(alice("SET scanner 1 NX PX 10000").substr(0, 7) == "-NOPERM");
  world.nodes().pass(20ms);
  CHECK(alice("SET scanner 1 NX PX 10000") == "+OK");
}

// Another door ends the second lock of the script while it is asked to be extended: the script runs
// once more, with the first in its hands.
TEST_CASE("a lock that a command got in an earlier commit counts once") {
  for (int step = 0; step < 100; ++step) {
    INFO("step " << step);
    DoorWorld world(5, 2);
    DoorClient alice = world.connect();
    DoorClient bob = world.connect();
    DoorClient other = world.connect(2);
    CHECK(alice("ACL SETUSER a on >x ~* +@all max-locks:2") == "+OK");
    CHECK(alice("AUTH a x") == "+OK");
    CHECK(bob("AUTH a x") == "+OK");
    CHECK(other("SET ended 1 NX PX 10000") == "+OK");
    alice.send(
        "EVAL \"redis.call('set', KEYS[1], 1, 'NX', 'PX', 10000) "
        "return redis.call('pexpire', KEYS[2], 20000)\" 2 got ended");
    world.nodes().pass(step / 10 * 500us);
    other.send("DEL ended");
    world.nodes().pass(step % 10 * 500us);
    CHECK(bob("SET mine 1 NX PX 10000") == "+OK");
    CHECK(alice.receive().starts_with("(integer)"));
    CHECK(alice("SET third 1 NX PX 10000").starts_with("-NOPERM"));
  }
}
