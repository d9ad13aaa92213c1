// hold-strict: a held lock ends, changes or gets an earlier deadline only by who names its value.
//
// Every write command that the node tells of in COMMAND has a row here at least: one without a
// decision fails the first test.
#include "lua/scripts/known_scripts.h"
#include "protocol/resp/errors.h"
#include "tests/support/node_fixture.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

enum class Outcome {
  refused,  // HELD: all keys are as they were
  nothing,  // another answer, and all keys are as they were
  effect,   // it does what it says, as it breaks no lock
};

struct Row {
  std::string_view line;
  Outcome outcome;
};

// Held: lock by "alice-0123456789abcdef", counter by "5", hash by its field "alice"; 30 s each.
constexpr std::string_view kValue = "alice-0123456789abcdef";

constexpr Row kRows[] = {
    {"SET lock mallory PX 60000", Outcome::refused},
    {"SET lock alice-0123456789abcdef PX 60000", Outcome::refused},  // it does not compare
    {"SET lock mallory XX PX 60000", Outcome::refused},
    {"SET lock mallory GET PX 60000", Outcome::refused},
    {"SET lock mallory KEEPTTL", Outcome::refused},
    {"SET lock mallory IFNE bob PX 60000", Outcome::refused},
    {"SET lock mallory PXAT 1", Outcome::refused},  // ends it
    {"SET hash mallory PX 60000", Outcome::refused},
    {"SET lock mallory NX PX 60000", Outcome::nothing},
    {"SET lock mallory IFEQ bob PX 60000", Outcome::nothing},
    {"SET lock bob IFEQ alice-0123456789abcdef PX 10000", Outcome::effect},
    {"SET free mallory PX 60000", Outcome::effect},
    {"SETNX lock mallory", Outcome::nothing},
    {"SETEX lock 60 mallory", Outcome::refused},
    {"SETEX free 60 mallory", Outcome::effect},
    {"PSETEX lock 60000 mallory", Outcome::refused},
    {"GETSET lock mallory", Outcome::refused},
    {"GETSET free mallory", Outcome::effect},
    {"GETDEL lock", Outcome::refused},
    {"GETDEL free", Outcome::nothing},
    {"GETEX lock", Outcome::nothing},
    {"GETEX lock PX 1000", Outcome::refused},
    {"GETEX lock PXAT 1", Outcome::refused},
    {"GETEX lock PX 60000", Outcome::effect},
    {"MSET free mallory lock mallory", Outcome::refused},
    {"MSET free mallory other mallory", Outcome::effect},
    {"MSETNX free mallory lock mallory", Outcome::nothing},
    {"DEL lock", Outcome::refused},
    {"DEL free lock", Outcome::refused},
    {"DEL free", Outcome::nothing},
    {"DEL hash", Outcome::refused},
    {"UNLINK counter lock", Outcome::refused},
    {"DELIFEQ lock mallory", Outcome::nothing},
    {"DELIFEQ lock alice-0123456789abcdef", Outcome::effect},
    {"DELEX lock", Outcome::refused},
    {"DELEX lock IFNE mallory", Outcome::refused},
    {"DELEX lock IFEQ mallory", Outcome::nothing},
    {"DELEX lock IFEQ alice-0123456789abcdef", Outcome::effect},
    {"EXPIRE lock 29", Outcome::refused},
    {"EXPIRE lock 0", Outcome::refused},
    {"EXPIRE lock 31", Outcome::effect},
    {"EXPIRE lock 30", Outcome::nothing},
    {"EXPIRE lock 29 GT", Outcome::nothing},
    {"EXPIRE lock 29 LT", Outcome::refused},
    {"EXPIRE hash 29", Outcome::refused},
    {"PEXPIRE lock 29999", Outcome::refused},
    {"PEXPIRE lock -1", Outcome::refused},
    {"PEXPIRE lock 30001", Outcome::effect},
    {"EXPIREAT lock 1700000029", Outcome::refused},
    {"EXPIREAT lock 1700000031", Outcome::effect},
    {"PEXPIREAT lock 1", Outcome::refused},
    {"PEXPIREAT lock 1700000030000", Outcome::nothing},
    {"PERSIST lock", Outcome::effect},  // later than any deadline; refused where TTLs are required
    {"INCR counter", Outcome::refused},
    {"INCR free", Outcome::effect},
    {"INCRBY counter 2", Outcome::refused},
    {"DECR counter", Outcome::refused},
    {"DECRBY counter 2", Outcome::refused},
    {"HSET hash mallory 1", Outcome::refused},
    {"HSET hash alice 2", Outcome::refused},
    {"HSET free mallory 1", Outcome::effect},
    {"HMSET hash mallory 1", Outcome::refused},
    {"HSETNX hash mallory 1", Outcome::refused},
    {"HSETNX hash alice 7", Outcome::nothing},
    {"HINCRBY hash alice -1", Outcome::refused},
    {"HDEL hash alice", Outcome::refused},
    {"HDEL hash mallory", Outcome::nothing},
    {"FLUSHALL", Outcome::refused},
    {"FLUSHDB ASYNC", Outcome::refused},
    {"LOCK.ACQUIRE lock mallory PX 60000", Outcome::nothing},
    {"LOCK.EXTEND lock mallory PX 60000", Outcome::nothing},
    {"LOCK.EXTEND lock alice-0123456789abcdef PX 60000", Outcome::effect},
    {"LOCK.REPLACE lock mallory bob PX 1000 SHORTEN", Outcome::nothing},
    {"LOCK.REPLACE lock alice-0123456789abcdef bob PX 1000 SHORTEN", Outcome::effect},
    {"LOCK.RELEASE lock mallory FINAL", Outcome::nothing},
    {"LOCK.RELEASE lock alice-0123456789abcdef", Outcome::effect},
    {"LOCK.RELEASE lock alice-0123456789 PREFIX", Outcome::effect},
    {"LOCK.CONFIRM lock mallory 1", Outcome::nothing},
};

Settings strict() {
  Settings settings;
  settings.hold_strict = true;
  settings.require_ttl = false;  // for GETSET and PERSIST
  return settings;
}

class StrictNode {
 public:
  StrictNode() {
    node(fmt::format("SET lock {} NX PX 30000", kValue));
    node("SET counter 5 NX PX 30000");
    node("HSET hash alice 1");
    // A hash has no deadline at first, so any is an earlier one.
    constexpr std::string_view kExpire = "\"return redis.call('pexpire', 'hash', 30000)\"";
    node(fmt::format("SCRIPT LOAD {}", kExpire));
    node(fmt::format("EVAL {} 0", kExpire));
    CHECK(node("PTTL hash") == "(integer) 30000");
  }
  std::string keys() {
    std::string all;
    for (const std::string_view key : {"lock", "counter", "hash", "free", "other"}) {
      for (const std::string_view ask : {"TYPE", "GET", "HGETALL", "PTTL"}) {
        all += node(fmt::format("{} {}", ask, key)) + "\n";
      }
    }
    return all;
  }

  NodeFixture node{strict()};
};

std::string script_of(std::string_view line) {
  std::string words;
  const auto split = split_quoted_words(line);
  for (const std::string& word : *split) words += (words.empty() ? "'" : ", '") + word + "'";
  return fmt::format("return redis.call({})", words);
}

std::string_view name_of(std::string_view line) {
  return line.substr(0, line.find(' '));
}

bool is_held_error(std::string_view answer) {
  return answer.find("HELD ") != std::string_view::npos;
}

bool may_script(NodeFixture& node, std::string_view line) {
  const std::string_view name = name_of(line);
  return !node.node().commands().find({&name, 1}).entry->command->spec.has(protocol::kNoScript);
}

void check(const Row& row, StrictNode& strict, const std::string& before, std::string_view answer) {
  INFO(row.line << " -> " << answer);
  CHECK(is_held_error(answer) == (row.outcome == Outcome::refused));
  CHECK((strict.keys() != before) == (row.outcome == Outcome::effect));
}

}  // namespace

TEST_CASE("with hold-strict a decision stands for every write command") {
  std::set<std::string, std::less<>> decided;
  for (const Row& row : kRows) decided.emplace(name_of(row.line));
  NodeFixture node;
  for (const protocol::CommandSpec* spec : node.node().commands().specs()) {
    if (spec->has(protocol::kWrite)) CHECK(decided.contains(protocol::upper_case(spec->name)));
  }
}

TEST_CASE("with hold-strict a held lock is changed by its value alone") {
  for (const Row& row : kRows) {
    SECTION(std::string(row.line)) {
      StrictNode strict;
      const std::string before = strict.keys();
      check(row, strict, before, strict.node(row.line));
    }
    SECTION(fmt::format("in MULTI: {}", row.line)) {
      StrictNode strict;
      const std::string before = strict.keys();
      strict.node("MULTI");
      if (strict.node(row.line) != "+QUEUED") continue;  // LOCK.EXTEND and LOCK.CONFIRM
      check(row, strict, before, strict.node("EXEC"));
    }
    SECTION(fmt::format("in a script that nobody knows: {}", row.line)) {
      StrictNode strict;
      if (!may_script(strict.node, row.line)) continue;
      const std::string before = strict.keys();
      check(row, strict, before, strict.node(fmt::format("EVAL \"{}\" 0", script_of(row.line))));
    }
    SECTION(fmt::format("in a script that was loaded: {}", row.line)) {
      StrictNode strict;
      if (!may_script(strict.node, row.line)) continue;
      const std::string before = strict.keys();
      const std::string script = script_of(row.line);
      strict.node(fmt::format("SCRIPT LOAD \"{}\"", script));
      const bool changes = row.outcome != Outcome::nothing;
      CHECK_FALSE(is_held_error(strict.node(fmt::format("EVAL \"{}\" 0", script))));
      CHECK((strict.keys() != before) == changes);
    }
  }
}

TEST_CASE("with hold-strict no, a node does as it is told") {
  for (const Row& row : kRows) {
    Settings settings = strict();
    settings.hold_strict = false;
    NodeFixture node(settings);
    node("SET lock alice-0123456789abcdef NX PX 30000");
    CHECK_FALSE(is_held_error(node(row.line)));
  }
}

TEST_CASE("hold-strict does not protect a lock that ran out, nor what it does not hold") {
  StrictNode strict;
  strict.node.advance(30s);  // before it was given back even
  CHECK(strict.node("FLUSHALL") == "+OK");
  strict.node("SET lock alice NX PX 100");
  strict.node.advance(100ms);
  CHECK(strict.node("SET lock bob PX 100") == "+OK");
  strict.node.advance(100ms);
  CHECK(strict.node("DEL lock") == "(integer) 0");
  CHECK(strict.node("INCR lock") == "(integer) 1");
}

TEST_CASE("hold-strict believes of those who load scripts operators alone") {
  StrictNode strict;
  constexpr std::string_view kLoad = "SCRIPT LOAD \"return redis.call('del', KEYS[1])\"";
  strict.node("ACL SETUSER team on >secret ~* &* +@lock +script");
  TestClient team = strict.node.connect();
  const auto by_team = [&](std::string_view line) {
    team.send(line, strict.node.now());
    return team.receive();
  };
  CHECK(by_team("AUTH team secret") == "+OK");
  const std::string loaded = by_team(kLoad);
  const std::string sha1 = loaded.substr(1, loaded.size() - 2);
  CHECK(is_held_error(by_team("EVALSHA " + sha1 + " 1 lock")));
  CHECK(strict.node(kLoad) == loaded);
  CHECK(by_team("EVALSHA " + sha1 + " 1 lock") == "(integer) 1");
}

TEST_CASE("hold-strict lets Redisson delete the latch of its release") {
  StrictNode strict;
  constexpr std::string_view kRelease = "6866459238a13a701d42f4971f12d9f3a50e2442";
  const std::string latch = "redisson_unlock_latch:{hash}:17";
  CHECK(strict.node(fmt::format("EVALSHA {} 3 hash channel {} 0 30000 alice publish 5000", kRelease,
                                latch)) == "(integer) 1");
  CHECK(strict.node("EXISTS hash " + latch) == "(integer) 1");
  CHECK(strict.node("DEL " + latch) == "(integer) 1");
  CHECK(strict.node("SET redisson_unlock_latc x NX PX 10000") == "+OK");  // no other name is free
  CHECK(strict.node("DEL redisson_unlock_latc").starts_with("-HELD"));
}

TEST_CASE("a refusal of hold-strict says what to do instead") {
  StrictNode strict;
  CHECK(strict.node("DEL lock") ==
        "-HELD lock is held, and DEL does not name the value that holds it: use LOCK.RELEASE lock "
        "value (hold-strict is yes)");
  CHECK(strict.node("SET 'lock' x PX 5").find("use SET lock value NX PX") != std::string::npos);
  CHECK(strict.node("PEXPIRE lock 5").find("LOCK.REPLACE lock") != std::string::npos);
  CHECK(strict.node("HDEL hash alice").find("lock library") != std::string::npos);
  CHECK(strict.node("FLUSHDB").find("FLUSHDB names no value") != std::string::npos);
}

TEST_CASE("with hold-strict a deadline is no earlier for repeating its wall-clock time") {
  StrictNode strict;
  strict.node.now().wall += 400us;  // the clocks are not read in the same instant
  CHECK(strict.node("PEXPIREAT lock 1700000030000") == "(integer) 1");
  CHECK(strict.node("PTTL lock") == "(integer) 30000");
  strict.node.now().wall += 200us;
  CHECK(is_held_error(strict.node("PEXPIREAT lock 1700000030000")));
}

TEST_CASE("a known script changes no held lock whose value it was not given") {
  // "alice-" is how the value begins: bsm/redislock's script compares as many bytes as it is told.
  const std::vector<std::string> words = {"alice-", "mallory", "1", "1000", "0", "publish"};
  for (const lua::KnownScript& script : lua::known_scripts()) {
    using Form = lua::NativeForm;
    const std::size_t keys = script.form.keys == Form::kAny ? 1 : script.form.keys;
    const std::size_t args = script.form.args == Form::kAny ? 2 : script.form.args;
    StrictNode strict;
    const std::string before = strict.keys();
    std::size_t combinations = keys;
    for (std::size_t i = 0; i < args; ++i) combinations *= words.size();
    for (std::size_t nth = 0; nth < combinations * 2; ++nth) {
      std::string line = fmt::format("EVALSHA {} {}", script.sha1, keys);
      for (std::size_t key = 0; key < keys; ++key) {
        const std::string_view held = nth % 2 == 0 ? "lock" : "hash";
        line += nth / 2 % keys == key ? fmt::format(" {}", held) : fmt::format(" key{}", key);
      }
      std::size_t left = nth / 2 / keys;
      for (std::size_t arg = 0; arg < args; ++arg, left /= words.size()) {
        line += " " + words[left % words.size()];
      }
      strict.node(line);
    }
    INFO(script.body);
    CHECK(strict.keys() == before);
  }
}

TEST_CASE(
    "a known script that has a lock of its caller changes no other, whatever key it is given") {
  const std::vector<std::string> words = {"mallory", "1", "1000", "del", "set"};
  for (const lua::KnownScript& script : lua::known_scripts()) {
    const std::size_t keys = script.form.keys;
    if (keys == 1 || keys == lua::NativeForm::kAny) continue;
    StrictNode strict;
    const std::string before = strict.keys();
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < script.form.args; ++i) combinations *= words.size();
    for (std::size_t nth = 0; nth < combinations * (keys - 1) * 3; ++nth) {
      const std::string_view held = std::array{"lock", "hash", "counter"}[nth % 3];
      std::string line = fmt::format("EVALSHA {} {} mine", script.sha1, keys);
      for (std::size_t key = 1; key < keys; ++key) {
        line +=
            nth / 3 % (keys - 1) == key - 1 ? fmt::format(" {}", held) : fmt::format(" k{}", key);
      }
      std::size_t left = nth / 3 / (keys - 1);
      for (std::size_t arg = 0; arg < script.form.args; ++arg, left /= words.size()) {
        line += " " + words[left % words.size()];
      }
      strict.node("HSETNX mine mallory 1");
      strict.node(line);
    }
    INFO(script.body);
    CHECK(strict.keys() == before);
  }
}

TEST_CASE("with hold-strict a fenced lock counts its tokens, and nothing else") {
  StrictNode strict;
  constexpr std::string_view kTake = "49babb5a1e6a0c5f188c2ae62b93b51cdfd63e45";
  constexpr std::string_view kCounter = "redisson_lock_token:{mine}";
  const auto take = [&](std::string_view lock, std::string_view counter) {
    return strict.node(fmt::format("EVALSHA {} 2 {} {} 1000 mallory", kTake, lock, counter));
  };
  CHECK(take("mine", kCounter) == "[(integer) -1, (integer) 1]");
  CHECK(take("mine", kCounter) == "[(integer) -1, (integer) 2]");
  CHECK(is_held_error(take("mine", "counter")));
  CHECK(is_held_error(strict.node(fmt::format("INCR {}", kCounter))));
  CHECK(is_held_error(strict.node(fmt::format("DEL {}", kCounter))));
}

TEST_CASE("with hold-strict a known script releases, extends and replaces what is its caller's") {
  StrictNode strict;
  const auto eval = [&](std::string_view name, std::string_view words) {
    return strict.node(fmt::format("EVALSHA {} {}", name, words));
  };
  constexpr std::string_view kRedisPyExtend = "a4e8783852e6b949f9ef3a97212805108459a890";
  constexpr std::string_view kObtain = "80a1b5f2cfccec3b7119ba7721d2127682b691a7";
  constexpr std::string_view kRelease = "647c65a442733a1aa440f99908d249d13b4d6c4a";
  constexpr std::string_view kForceUnlock = "605e338249a7a1d40df83b04f7658354f883b41b";
  CHECK(eval(kRedisPyExtend, fmt::format("1 lock {} 5000 1", kValue)) == "(integer) 1");
  CHECK(strict.node("PTTL lock") == "(integer) 5000");  // earlier, as its holder wants it
  CHECK(eval(kObtain, fmt::format("1 lock {}+more 22 9000", kValue)) == "+OK");
  CHECK(eval(kRelease, fmt::format("1 lock {}+more", kValue)) == "(integer) 1");
  CHECK(is_held_error(eval(kForceUnlock, "2 hash channel 0 publish")));
  CHECK(strict.node("EXISTS hash lock") == "(integer) 1");
}
