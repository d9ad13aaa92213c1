// Known scripts without Lua and in Lua: two nodes that differ in nothing else are told the same,
// and whoever looks at them must see the same bytes: replies, keyspace events, what monitors are
// shown, INFO, SLOWLOG and LATENCY, and what the keys hold.
#include "base/random.h"
#include "lua/scripts/known_scripts.h"
#include "tests/support/node_fixture.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;

namespace {

using Words = std::vector<std::string>;

// One node with those who look at it.
class Side {
 public:
  Side(const Settings& settings, const NodeStart& start, bool is_native)
      : fixture_(settings, start, nullptr, is_native) {
    fixture_.reading_takes = 0us;  // of scripts without Lua few are timed
    for (std::size_t i = 0; i < kClients; ++i) clients_.push_back(fixture_.connect());
    tell(kResp3, {"HELLO", "3"});
    tell(kListener, {"PSUBSCRIBE", "*"});
  }

  static constexpr std::size_t kResp2 = 0, kResp3 = 1, kListener = 2, kMonitor = 3, kClients = 4;

  void tell(std::size_t client, const Words& words) {
    clients_[client].send(words, fixture_.now());
    if (clients_[client].session().has_given_way()) fixture_.do_due_work();
  }
  // What all of them were sent since, byte for byte.
  std::string sent() {
    std::string all;
    for (std::size_t i = 0; i < kClients; ++i) {
      auto& output = clients_[i].session().output();
      all += fmt::format("[client {}]\n{}", i, output.view());
      output.clear();
    }
    return all;
  }
  NodeFixture& operator*() { return fixture_; }
  std::uint64_t native_runs() { return fixture_.node().scripts().native_runs(); }

 private:
  NodeFixture fixture_;
  std::vector<TestClient> clients_;
};

// What Lua itself takes is all that may differ, and with it how long the text is.
std::string without_memory(std::string_view info) {
  std::string kept;
  while (!info.empty()) {
    const std::string_view line = info.substr(0, info.find("\r\n"));
    info.remove_prefix(std::min(line.size() + 2, info.size()));
    const bool is_memory = line.find("\n$") != std::string_view::npos ||
                           line.find("mem") != std::string_view::npos ||
                           line.find("allocator") != std::string_view::npos;
    if (!is_memory) kept += std::string(line) + "\n";
  }
  return kept;
}

class Both {
 public:
  explicit Both(const Settings& settings = {}, const NodeStart& start = {})
      : native_(settings, start, true), lua_(settings, start, false) {
    same();
  }

  void tell(std::size_t client, const Words& words) {
    INFO("client " << client << ": " << fmt::format("{}", fmt::join(words, " ")));
    native_.tell(client, words);
    lua_.tell(client, words);
    same();
  }
  void advance(Duration length) {
    for (Side* side : {&native_, &lua_}) {
      (**side).advance(length);
      (**side).do_due_work();
    }
    same();
  }
  void compare_all(const std::vector<std::string>& keys) {
    tell(Side::kResp2, {"KEYS", "*"});
    for (const std::string& key : keys) {
      tell(Side::kResp2, {"PTTL", key});
      tell(Side::kResp2, {"GET", key});
      tell(Side::kResp2, {"HGETALL", key});
    }
    tell(Side::kResp2, {"SLOWLOG", "GET", "-1"});
    native_.tell(Side::kResp2, {"INFO", "everything"});
    lua_.tell(Side::kResp2, {"INFO", "everything"});
    CHECK(without_memory(native_.sent()) == without_memory(lua_.sent()));
  }

  Side& native() { return native_; }
  Side& lua() { return lua_; }

 private:
  void same() {
    const std::string expected = lua_.sent();
    const std::string found = native_.sent();
    if (found != expected) FAIL("without Lua:\n" << found << "\nin Lua:\n" << expected);
  }

  Side native_;
  Side lua_;
};

// --- words for a script

enum class Role { value, ttl, command, number, wish, flag };

// What ARGV[nth] is, by what the body does with it.
Role role_of(std::string_view body, std::size_t nth) {
  const std::string arg = fmt::format("ARGV[{}]", nth);
  const auto has = [&](std::string_view before, std::string_view behind) {
    return body.find(fmt::format("{}{}{}", before, arg, behind)) != std::string_view::npos;
  };
  if (has("(", ", KEYS[2]")) return Role::command;
  if (has("tonumber(", ")")) return Role::number;
  if (has("", " == \"yes\"")) return Role::wish;
  if (has("", " == \"0\"")) return Role::flag;
  for (const std::string_view before :
       {"\"PX\", ", "'PX', ", "'px', ", "'pexpire', KEYS[1], ", "'pexpire', KEYS[i], ",
        "\"pexpire\", KEYS[1], ", "\"PEXPIRE\", KEYS[1], ", "lockTimeout = ", "newttl = "}) {
    if (has(before, "")) return Role::ttl;
  }
  return Role::value;
}

template <std::size_t kCount>
std::string any_of(Random& random, const std::array<std::string_view, kCount>& words) {
  return std::string(words[random.below(kCount)]);
}

std::string a_ttl(Random& random) {
  constexpr std::array<std::string_view, 10> kUsual = {"1",    "500",  "1000",  "2000",  "5000",
                                                       "9000", "9999", "10000", "30000", "60000"};
  constexpr std::array<std::string_view, 14> kUnusual = {"0",          "-1",
                                                         "abc",        "",
                                                         "1.5",        "007",
                                                         " 5",         "5 ",
                                                         "9e3",        "0x9",
                                                         "9999999999", "99999999999999999999",
                                                         "-0",         "9223372036854775807"};
  return random.below(8) > 0 ? any_of(random, kUsual) : any_of(random, kUnusual);
}

std::string a_value(Random& random) {
  constexpr std::array<std::string_view, 2> kHolders = {"alice", "bob"};
  const std::array<std::string_view, 4> unusual = {"", std::string_view("a\0b", 3), "7",
                                                   "carol\r\n"};
  if (random.below(50) == 0) return std::string(2000, 'l');
  return random.below(10) > 0 ? any_of(random, kHolders) : any_of(random, unusual);
}

std::string a_word(Random& random, Role role) {
  switch (role) {
    case Role::ttl:
      return a_ttl(random);
    case Role::command:
      return any_of<6>(random, {"publish", "publish", "SPUBLISH", "get", "nonsense", "eval"});
    case Role::number:
      return any_of<8>(random, {"5", "3", "1", "0", "100", "-2", "x", "1.5"});
    case Role::wish:
      return any_of<3>(random, {"yes", "yes", "no"});
    case Role::flag:
      return any_of<3>(random, {"0", "0", "1"});
    case Role::value:
      break;
  }
  return a_value(random);
}

const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> keys = {"a", "b", "c", "latch"};
  return keys;
}

std::string a_key(Random& random) {
  if (random.below(100) == 0) return std::string(1500, 'k');
  return all_keys()[random.below(all_keys().size())];
}

// As its library sends it, most often.
Words a_run(Random& random, const lua::KnownScript& script) {
  constexpr std::size_t kAny = lua::NativeForm::kAny;
  std::size_t keys = script.form.keys == kAny ? 1 + random.below(4) : script.form.keys;
  std::size_t args = script.form.args == kAny ? keys + 1 : script.form.args;
  if (random.below(12) == 0) keys = random.below(20);
  if (random.below(12) == 0) args = random.below(6);
  Words words = {"EVALSHA", std::string(script.sha1), std::to_string(keys)};
  if (random.below(3) == 0) words = {"EVAL", std::string(script.body), std::to_string(keys)};
  for (std::size_t i = 0; i < keys; ++i) words.push_back(a_key(random));
  for (std::size_t i = 1; i <= args; ++i) words.push_back(a_word(random, role_of(script.body, i)));
  return words;
}

// What else happens to a node.
void change_something(Random& random, Both& both) {
  const std::string key = a_key(random);
  const std::size_t client = random.below(2);
  switch (random.below(14)) {
    case 0:
    case 1:
      return both.tell(client, {"SET", key, a_value(random), "PX", a_ttl(random)});
    case 2:
      both.tell(client, {"HINCRBY", key, "alice", "1"});
      return both.tell(client, {"PEXPIRE", key, "5000"});
    case 3:
      return both.tell(client, {"DEL", key});
    case 4:
      return both.tell(client, {"SET", key, a_value(random)});  // refused where locks need a TTL
    case 5:
      return both.advance(std::chrono::milliseconds(random.below(4000)));
    case 6:
      return both.advance(std::chrono::nanoseconds(random.below(2'000'000)));
    case 7:
      return both.tell(client, {"CONFIG", "SET", "notify-keyspace-events",
                                any_of<4>(random, {"KEA", "Kg$x", "Em", ""})});
    case 8:
      return both.tell(Side::kMonitor, {random.below(2) == 0 ? "MONITOR" : "RESET"});
    case 9:
      return both.tell(client, {"CONFIG", "SET", "slowlog-log-slower-than",
                                any_of<3>(random, {"0", "-1", "10000"})});
    case 10:
      return both.tell(client, {"SCRIPT", "FLUSH"});
    case 11:
      return both.tell(client, {"CONFIG", "SET", "maxmemory", any_of<3>(random, {"1", "0", "0"})});
    case 12:
      return both.tell(client, {"WATCH", key});
    default:
      return both.tell(client, {"CONFIG", "SET", "max-ttl", any_of<2>(random, {"20s", "65s"})});
  }
}

void run_some(Random& random, Both& both) {
  const auto scripts = lua::known_scripts();
  const lua::KnownScript& script = scripts[random.below(scripts.size())];
  const std::size_t client = random.below(2);
  switch (random.below(10)) {
    case 0:  // between others, at one instant
      both.tell(client, {"MULTI"});
      for (int i = 0; i < 3; ++i)
        both.tell(client, a_run(random, scripts[random.below(scripts.size())]));
      return both.tell(client, {"EXEC"});
    case 1:
      both.tell(client, {"SCRIPT", "EXISTS", std::string(script.sha1)});
      both.tell(client, {"SCRIPT", "LOAD", std::string(script.body)});
      break;
    default:
      break;
  }
  const Words words = a_run(random, script);
  for (std::uint64_t again = random.below(3); again-- > 0;) both.tell(client, words);
  both.tell(client, words);
}

Settings settings_of(Random& random) {
  Settings settings;
  settings.require_ttl = random.below(2) == 0;
  settings.hold_strict = random.below(2) == 0;
  settings.restart_reply = random.below(2) == 0 ? RestartReply::held : RestartReply::error;
  return settings;
}

NodeStart start_of(Random& random) {
  NodeStart start;
  if (random.below(4) > 0) return start;
  start.delay = 5s;
  start.grant_from = Instant(24h) + start.delay;
  return start;
}

}  // namespace

TEST_CASE("a known script tells the same without Lua as in Lua, whatever it meets") {
  std::uint64_t native_runs = 0;
  std::uint64_t runs = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Settings settings = settings_of(random);
    Both both(settings, start_of(random));
    for (int step = 0; step < 150; ++step) {
      random.below(3) == 0 ? change_something(random, both) : run_some(random, both);
    }
    both.tell(Side::kMonitor, {"RESET"});
    both.compare_all(all_keys());
    CHECK(both.lua().native_runs() == 0);
    native_runs += both.native().native_runs();
    runs += (*both.native()).node().stats().commands_processed;
  }
  CHECK(native_runs > runs / 4);
}

TEST_CASE("a known script in its usual form runs without Lua") {
  for (const lua::KnownScript& script : lua::known_scripts()) {
    CAPTURE(script.body);
    Both both;
    constexpr std::size_t kAny = lua::NativeForm::kAny;
    const std::size_t keys = script.form.keys == kAny ? 1 : script.form.keys;
    const std::size_t args = script.form.args == kAny ? 2 : script.form.args;
    Words words = {"EVALSHA", std::string(script.sha1), std::to_string(keys)};
    for (std::size_t i = 0; i < keys; ++i) words.push_back(all_keys()[i]);
    for (std::size_t i = 1; i <= args; ++i) {
      const Role role = role_of(script.body, i);
      words.emplace_back(role == Role::ttl ? "1000" : role == Role::number ? "5" : "alice");
    }
    both.tell(Side::kResp2, words);
    CHECK(both.native().native_runs() == 1);
    words[0] = "EVAL";
    words[1] = script.body;
    both.tell(Side::kResp2, words);
    CHECK(both.native().native_runs() == 2);
    CHECK(both.lua().native_runs() == 0);
  }
}

TEST_CASE(
    "words of another number, or longer ones, are for Lua, and so is what is no known script") {
  constexpr const char* kRelease = "647c65a442733a1aa440f99908d249d13b4d6c4a";
  Both both;
  const std::string body(lua::known_script_body(kRelease));
  for (const Words& words :
       {Words{"EVALSHA", kRelease, "1", "a"}, Words{"EVALSHA", kRelease, "0", "a", "alice"},
        Words{"EVALSHA", kRelease, "2", "a", "b", "alice"},
        Words{"EVALSHA", kRelease, "1", "a", "alice", "more"},
        Words{"EVALSHA", kRelease, "1", "a", std::string(1025, 'v')},
        Words{"EVALSHA", kRelease, "1", std::string(1025, 'k'), "alice"},
        Words{"EVAL", body + " ", "1", "a", "alice"}}) {
    both.tell(Side::kResp2, words);
    CHECK(both.native().native_runs() == 0);
  }
  both.tell(Side::kResp2, {"EVAL", body, "1", "a", std::string(1024, 'v')});
  CHECK(both.native().native_runs() == 1);
}

TEST_CASE("a form that finds a word not for it has done nothing") {
  Both both;
  both.tell(Side::kResp2, {"CONFIG", "SET", "notify-keyspace-events", "KEA"});
  both.tell(Side::kResp2, {"SET", "a", "alice", "PX", "5000"});
  const Words extend = {
      "EVALSHA", "a4e8783852e6b949f9ef3a97212805108459a890", "1", "a", "alice", "0x10", "0"};
  both.tell(Side::kResp2, extend);
  both.tell(Side::kResp2, {"PTTL", "a"});
  CHECK(both.native().native_runs() == 0);
  both.compare_all(all_keys());
}

TEST_CASE("the error of a call in a known script tells its line") {
  NodeFixture node;
  node("HINCRBY a alice 1");
  CHECK(node("EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 a alice") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value script: "
        "c3f8721cbb97f72bc19e972846bd7aaf91901658, on @user_script:2.");
  CHECK(node.node().scripts().native_runs() == 1);
}

TEST_CASE("of known scripts without Lua one in sixteen is timed, and counts for all of them") {
  NodeFixture node;
  node.reading_takes = 10us;
  for (int i = 0; i < 15; ++i) node("EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 a alice");
  CHECK(node("INFO commandstats").find("cmdstat_evalsha:calls=15,usec=0") != std::string::npos);
  node("EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 a alice");
  CHECK(node("INFO commandstats").find("cmdstat_evalsha:calls=16,usec=") != std::string::npos);
  CHECK(node("LATENCY HISTOGRAM evalsha").find("\"calls\", (integer) 16") != std::string::npos);
  node("EVAL 'return 1' 0");  // Lua's are timed each
  CHECK(node("LATENCY HISTOGRAM eval").find("\"calls\", (integer) 1") != std::string::npos);
}
