// What users may do at a node: by each way on which a command comes.
#include "lua/scripts/known_scripts.h"
#include "tests/support/node_fixture.h"

#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace redlock::server {
namespace {

constexpr std::string_view kNoKey =
    "-NOPERM this user has no permissions to access one of the keys used as arguments";
constexpr std::string_view kNoKeyInScript =
    "-ERR The user executing the script can't access at least one of the keys mentioned in the "
    "command arguments";

std::string no_command(std::string_view name) {
  return fmt::format("-NOPERM this user has no permissions to run the '{}' command", name);
}

class TwoTeams : public NodeFixture {
 public:
  explicit TwoTeams(bool runs_natively = true)
      : NodeFixture({}, {}, nullptr, runs_natively), a_(connect()), b_(connect()) {
    CHECK((*this)("ACL SETUSER a on >pa ~a:* &a:* +@lock +scan +keys +ping") == "+OK");
    CHECK((*this)("ACL SETUSER b on >pb ~b:* &b:* +@lock") == "+OK");
    CHECK(a("AUTH a pa") == "+OK");
    CHECK(b("AUTH b pb") == "+OK");
  }

  std::string a(std::string_view line) { return say(a_, line); }
  std::string b(std::string_view line) { return say(b_, line); }
  std::string say(TestClient& client, std::string_view line) {
    client.send(line, now());
    if (client.session().has_given_way()) do_due_work();
    return client.receive();
  }

  TestClient a_;
  TestClient b_;
};

class InLua : public TwoTeams {
 public:
  InLua() : TwoTeams(false) {}
};

// redis-py's release: if redis.call('get', KEYS[1]) == ARGV[1] …
std::string release_script() {
  const auto scripts = lua::known_scripts();
  const auto found = std::find_if(scripts.begin(), scripts.end(), [](const auto& script) {
    return script.form.keys == 1 && script.form.args == 1 &&
           script.body.find("del") != std::string_view::npos;
  });
  REQUIRE(found != scripts.end());
  return std::string(found->sha1);
}

TEST_CASE_METHOD(TwoTeams, "a session with all rights is looked at by nobody") {
  TestClient plain = connect();
  CHECK(plain.session().is_plain());
  CHECK(plain.session().user_name() == "default");
  CHECK_FALSE(a_.session().is_plain());
  CHECK((*this)("ACL SETUSER default -flushall") == "+OK");
  CHECK(plain.session().is_restricted());  // at once, though it was connected before
  CHECK(say(plain, "FLUSHALL") == no_command("flushall"));
  CHECK((*this)("ACL SETUSER default +@all") == "+OK");
  CHECK(plain.session().is_plain());
}

TEST_CASE_METHOD(TwoTeams, "a command of a team goes with its own keys alone") {
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK(b("GET a:1") == kNoKey);
  CHECK(b("DEL b:1 a:1") == kNoKey);
  CHECK(b("LOCK.WAIT a:1 0") == kNoKey);
  CHECK(b("LOCK.HOLDER a:1") == kNoKey);
  CHECK(b("FLUSHALL") == no_command("flushall"));
  CHECK(b("CONFIG GET *") == no_command("config|get"));
  CHECK(a("GET a:1") == R"("x")");
}

TEST_CASE_METHOD(TwoTeams, "what is queued is judged when it comes, and again when it runs") {
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK(b("MULTI") == "+OK");
  CHECK(b("DEL a:1") == kNoKey);
  CHECK(b("EXEC") == "-EXECABORT Transaction discarded because of previous errors.");
  CHECK(a("MULTI") == "+OK");
  CHECK(a("DEL a:1") == "+QUEUED");
  CHECK(a("SET a:2 x NX PX 10000") == "+QUEUED");
  CHECK((*this)("ACL SETUSER a -del") == "+OK");
  CHECK(a("EXEC") ==
        "[-NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
        "EXEC call. This command is no longer allowed for the following reason: no permission to "
        "execute the command or subcommand, +OK]");
}

TEST_CASE_METHOD(TwoTeams, "a script may do what its caller may") {
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  const std::string refused = b("EVAL \"return redis.call('get', 'a:1')\" 0");
  CHECK(refused.starts_with(kNoKeyInScript));
  CHECK(b("EVAL \"return redis.pcall('del', 'a:1')\" 0") == kNoKeyInScript);
  CHECK(b("EVAL \"return 1\" 1 a:1") == kNoKey);
  CHECK(a("EVAL \"return redis.call('get', 'a:1')\" 0") == R"("x")");
  CHECK((*this)("EVAL \"return redis.call('get', 'a:1')\" 0") == R"("x")");
  CHECK(b("EVAL \"return redis.call('dbsize')\" 0")
            .starts_with("-ERR The user executing the script can't run this command or "
                         "subcommand"));
  CHECK((*this)("GET a:1") == R"("x")");
}

// The first key is the caller's own, so that EVALSHA itself goes.
TEST_CASE_METHOD(TwoTeams, "a known script without Lua is judged call by call") {
  const std::string sha1 = release_script();
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  const std::uint64_t before = node().scripts().native_runs();
  CHECK(a("EVALSHA " + sha1 + " 1 a:1 other") == "(integer) 0");
  CHECK(node().scripts().native_runs() == before + 1);
  CHECK((*this)("ACL SETUSER a -get") == "+OK");
  const std::string refused = a("EVALSHA " + sha1 + " 1 a:1 x");
  CHECK(refused.starts_with("-ERR The user executing the script can't run this command"));
  CHECK((*this)("EXISTS a:1") == "(integer) 1");
  CHECK((*this)("ACL SETUSER a +get -del") == "+OK");
  CHECK(a("EVALSHA " + sha1 + " 1 a:1 x")
            .starts_with("-ERR The user executing the script can't run this command"));
  CHECK((*this)("EXISTS a:1") == "(integer) 1");
  CHECK((*this)("ACL SETUSER a +del") == "+OK");
  CHECK(a("EVALSHA " + sha1 + " 1 a:1 x") == "(integer) 1");
}

TEST_CASE_METHOD(InLua, "and says in Lua the same") {
  const std::string sha1 = release_script();
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK((*this)("ACL SETUSER a -get") == "+OK");
  const std::string in_lua = a("EVALSHA " + sha1 + " 1 a:1 x");
  TwoTeams natively;
  CHECK(natively("ACL SETUSER a -get") == "+OK");
  CHECK(natively.a("EVALSHA " + sha1 + " 1 a:1 x") == in_lua);
}

TEST_CASE_METHOD(TwoTeams, "keys that a user may not read are not shown to him") {
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK(b("SET b:1 x NX PX 10000") == "+OK");
  CHECK(a("SCAN 0") == R"(["0", ["a:1"]])");
  CHECK(a("KEYS *") == R"(["a:1"])");
  CHECK(a("EVAL \"return redis.call('keys', '*')\" 0") == R"(["a:1"])");
  CHECK((*this)("ACL SETUSER a +dbsize +randomkey +slowlog") == "+OK");
  for (const auto* line : {"DBSIZE", "RANDOMKEY", "SLOWLOG GET"}) CHECK(a(line) == kNoKey);
}

TEST_CASE_METHOD(TwoTeams, "a monitor of some keys is shown the commands of its own user") {
  CHECK((*this)("ACL SETUSER a +monitor") == "+OK");
  TestClient monitor = connect();
  CHECK(say(monitor, "AUTH a pa") == "+OK");
  CHECK(say(monitor, "MONITOR") == "+OK");
  CHECK(b("SET b:1 x NX PX 10000") == "+OK");
  CHECK(b("EVAL \"return redis.call('get', 'b:1')\" 0") == R"("x")");
  CHECK((*this)("SET c:1 x NX PX 10000") == "+OK");
  CHECK(monitor.receive() == "(none)");
  CHECK(a("EVAL \"return redis.call('get', 'a:1')\" 0") == "(nil)");
  CHECK(monitor.receive().find("EVAL") != std::string::npos);
  CHECK(monitor.receive().find(R"("get" "a:1")") != std::string::npos);
}

TEST_CASE_METHOD(TwoTeams, "a lock of fields counts as a lock of its user") {
  CHECK((*this)("ACL SETUSER a +hset max-locks:1") == "+OK");
  CHECK(a("EVAL \"redis.call('hset', KEYS[1], 'f', 1) redis.call('pexpire', KEYS[1], 9000)\" "
          "1 a:1") == "(nil)");
  CHECK(a("SET a:2 x NX PX 10000").starts_with("-NOPERM this user has as many locks"));
}

TEST_CASE_METHOD(TwoTeams, "an event of a key is told to those who are shown the key") {
  CHECK((*this)("CONFIG SET notify-keyspace-events KEA") == "+OK");
  CHECK((*this)("ACL SETUSER a allchannels") == "+OK");
  TestClient listener = connect();
  CHECK(say(listener, "AUTH a pa") == "+OK");
  listener.send("PSUBSCRIBE *", now());
  listener.receive();
  CHECK(b("SET b:1 x NX PX 10000") == "+OK");
  CHECK(b("DEL b:1") == "(integer) 1");
  CHECK(listener.receive() == "(none)");
  CHECK(a("SETNX a:1 x") == "(integer) 1");
  CHECK(listener.receive().find("a:1") != std::string::npos);
}

TEST_CASE_METHOD(TwoTeams, "who waits for a key hears nothing once it is not his any more") {
  CHECK((*this)("ACL SETUSER a ~b:*") == "+OK");
  CHECK(b("SET b:1 x NX PX 10000") == "+OK");
  TestClient pushed = connect();
  CHECK(say(pushed, "HELLO 3 AUTH a pa").front() == '{');
  CHECK(say(pushed, "LOCK.WAIT b:1 60000 PUSH") == "+OK");
  CHECK(a("LOCK.WAIT b:1 60000") == "(none)");
  CHECK((*this)("ACL SETUSER a resetkeys ~a:*") == "+OK");
  CHECK(b("DEL b:1") == "(integer) 1");
  advance(1s);  // one of the line after the other
  do_due_work();
  CHECK(a_.receive() == kNoKey);
  CHECK(pushed.receive() == "(none)");
  CHECK(a("GET a:1") == "(nil)");
  CHECK((*this)("ACL LOG").find(R"("object", "b:1", "username", "a")") != std::string::npos);
}

TEST_CASE_METHOD(TwoTeams, "channels are a team's own") {
  CHECK(b("SUBSCRIBE a:news").starts_with("-NOPERM"));
  CHECK(b("PUBLISH a:news x").starts_with("-NOPERM"));
  CHECK(b("EVAL \"return redis.call('publish', 'a:news', 'x')\" 0")
            .starts_with("-ERR The user executing the script can't publish"));
  CHECK((*this)("ACL SETUSER b +pubsub") == "+OK");
  TestClient listener = connect();
  CHECK(say(listener, "AUTH a pa") == "+OK");
  listener.send("SUBSCRIBE a:news", now());
  CHECK(b("PUBSUB CHANNELS") == "[]");
  CHECK(b("PUBSUB NUMSUB a:news") == R"(["a:news", (integer) 0])");
  CHECK((*this)("PUBSUB NUMSUB a:news") == R"(["a:news", (integer) 1])");
  CHECK((*this)("ACL SETUSER a resetchannels") == "+OK");
  CHECK(listener.session().is_closing());
}

TEST_CASE_METHOD(TwoTeams, "a user who is removed is cut off, and who is off stays") {
  CHECK((*this)("ACL SETUSER a off") == "+OK");
  CHECK(a("PING") == "+PONG");
  CHECK(b("AUTH a pa").starts_with("-WRONGPASS"));
  CHECK((*this)("ACL DELUSER a b nobody") == "(integer) 2");
  CHECK(a_.session().is_closing());
  CHECK(b_.session().is_closing());
}

TEST_CASE_METHOD(TwoTeams, "no lock is longer than its user's max-ttl") {
  CHECK((*this)("ACL SETUSER a max-ttl:10s +setnx") == "+OK");
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK(a("PEXPIRE a:1 10001") ==
        "-ERR a TTL of 10001 ms is above the max-ttl of this user (10000 ms): ask for less");
  CHECK(a("LOCK.ACQUIRE a:2 x PX 10001").starts_with("-ERR a TTL of 10001 ms"));
  CHECK(a("EVAL \"return redis.pcall('set', 'a:2', 'x', 'PX', 10001)\" 0")
            .starts_with("-ERR a TTL of 10001 ms"));
  CHECK(a("SETNX a:3 x") == "(integer) 1");
  CHECK(a("PTTL a:3") == "(integer) 10000");
  CHECK(b("SET b:1 x NX PX 20000") == "+OK");
  CHECK((*this)("ACL SETUSER a +incr") == "+OK");
  CHECK((*this)("SET a:4 5 PX 20000") == "+OK");
  CHECK(a("SET a:4 6 KEEPTTL").starts_with("-ERR a TTL of 20000 ms is above the max-ttl of this"));
  CHECK(a("INCR a:4").starts_with("-ERR a TTL of 20000 ms is above the max-ttl of this user"));
  CHECK((*this)("SET a:4 5 PX 9000") == "+OK");
  CHECK(a("INCR a:4") == "(integer) 6");
  CHECK(a("SET a:4 7 KEEPTTL") == "+OK");
}

TEST_CASE_METHOD(TwoTeams, "a user has so many locks at a time, whoever ends them") {
  CHECK((*this)("ACL SETUSER a max-locks:2 +mset") == "+OK");
  const std::string full =
      "-NOPERM this user has as many locks as it may have at a time (max-locks 2)";
  CHECK(a("SET a:1 x NX PX 10000") == "+OK");
  CHECK(a("LOCK.ACQUIRE a:2 x PX 20000").starts_with("[(integer) 1"));
  CHECK(a("SET a:3 x NX PX 10000") == full);
  CHECK(a("EVAL \"return redis.pcall('set', 'a:3', 'x', 'PX', 1000)\" 0") == full);
  CHECK(a("HSET a:3 f v") == full);
  CHECK(a("MSET a:3 x") == full);
  CHECK(a("SET a:1 y PX 10000") == "+OK");  // its own, by another value
  CHECK(a("PEXPIRE a:1 30000") == "(integer) 1");
  CHECK((*this)("DEL a:2") == "(integer) 1");
  CHECK(a("SET a:3 x NX PX 10000") == "+OK");
  CHECK(a("SET a:4 x NX PX 10000") == full);
  CHECK(a("LOCK.EXTEND a:4 x PX 1000 TOKEN 7") == full);
  advance(10s);  // a:3 is over, and a:1 was extended
  CHECK(a("SET a:4 x NX PX 10000") == "+OK");
  CHECK(a("SET a:5 x NX PX 10000") == full);
  CHECK((*this)("SET a:4 y PX 10000") == "+OK");  // another's now
  CHECK(a("SET a:5 x NX PX 10000") == "+OK");
  CHECK((*this)("FLUSHALL") == "+OK");
  CHECK(a("MSET a:1 x a:2 x a:3 x") == full);
  CHECK(a("MSET a:1 x a:2 x") == "+OK");
  CHECK(a("MSET a:1 y a:2 y a:1 z") == "+OK");  // adds none
  CHECK(a("MSET a:1 y a:3 y") == full);
  CHECK((*this)("ACL SETUSER a max-locks:1") == "+OK");
  CHECK(a("MSET a:1 y a:2 y") == "+OK");
  CHECK(a("SET a:3 x NX PX 10000").starts_with("-NOPERM this user has as many locks"));
  CHECK((*this)("ACL SETUSER a max-locks:2") == "+OK");
  CHECK(a("SET a:2 x PXAT 1") == "+OK");  // over at once
  CHECK(a("SET a:3 x NX PX 10000") == "+OK");
  CHECK(b("SET b:1 x NX PX 10000") == "+OK");
}

TEST_CASE_METHOD(TwoTeams, "eval known runs what the node knows and what an operator has loaded") {
  CHECK((*this)("CONFIG SET eval known") == "+OK");
  CHECK(a("EVAL \"return 1\" 0").starts_with("-NOPERM this script is neither one"));
  CHECK(a("SCRIPT LOAD \"return 1\"").starts_with("-NOPERM"));
  CHECK((*this)("EVAL \"return 1\" 0").starts_with("-NOPERM"));
  CHECK(a("EVALSHA " + release_script() + " 1 a:1 x") == "(integer) 0");
  CHECK((*this)("SCRIPT LOAD \"return 1\"") == R"("e0e1f9fabfc9d4800c877a703b823ac0578ff8db")");
  CHECK(a("EVAL \"return 1\" 0") == "(integer) 1");
  CHECK(a("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0") == "(integer) 1");
  CHECK((*this)("SCRIPT FLUSH") == "+OK");
  CHECK(a("EVAL \"return 1\" 0").starts_with("-NOPERM"));
  CHECK((*this)("CONFIG SET eval all") == "+OK");
  CHECK((*this)("ACL SETUSER b eval-known") == "+OK");
  CHECK(a("EVAL \"return 2\" 0") == "(integer) 2");
  CHECK(b("EVAL \"return 2\" 0").starts_with("-NOPERM"));
  CHECK((*this)("ACL SETUSER b +config|set +script|load") == "+OK");
  CHECK(b("SCRIPT LOAD \"return 3\"").starts_with("-NOPERM"));  // an operator, but for his limit
}

TEST_CASE_METHOD(TwoTeams, "ACL LOG tells what was refused to whom, and by which way") {
  CHECK((*this)("ACL LOG RESET") == "+OK");
  b("GET a:1");
  b("GET a:1");
  b("EVAL \"return redis.pcall('get', 'a:2')\" 0");
  b("AUTH b wrong");
  const std::string log = (*this)("ACL LOG");
  CHECK(
      log.find(R"("count", (integer) 2, "reason", "key", "context", "toplevel", "object", "a:1", )"
               R"("username", "b")") != std::string::npos);
  CHECK(log.find(R"("context", "lua", "object", "a:2", "username", "b")") != std::string::npos);
  CHECK(log.find(R"("reason", "auth", "context", "toplevel", "object", "AUTH")") !=
        std::string::npos);
  CHECK((*this)("ACL LOG 1").find("a:1") == std::string::npos);
  CHECK((*this)("ACL LOG -9223372036854775808") == "[]");
}

TEST_CASE("users of the configuration are there from the first connection on") {
  Settings settings;
  settings.users = {"user default off", "user a on >pa ~a:* +@lock"};
  NodeFixture node(settings);
  CHECK(node.node().load_users());
  TestClient client = node.connect();
  client.send("PING", node.now());
  CHECK(client.receive() == "-NOAUTH Authentication required.");
  client.send("AUTH a pa", node.now());
  CHECK(client.receive() == "+OK");
  settings.users = {R"(user "default" "on" ">pd" "+ping")"};
  settings.requirepass = "other";
  NodeFixture named(settings);
  CHECK(named.node().load_users());
  CHECK(named.node().access().admits("default", "pd"));
  CHECK_FALSE(named.node().access().admits("default", "other"));
  settings.users = {"user a on"};
  NodeFixture unnamed(settings);
  CHECK(unnamed.node().load_users());
  CHECK(unnamed.node().access().admits("default", "other"));
  CHECK(unnamed.node().accounts().load("user b on\n", "users.acl", nullptr));
  CHECK(unnamed.node().access().admits("default", "other"));
  CHECK_FALSE(unnamed.node().access().admits("default", ""));
  settings.users = {"user a on +nope"};
  NodeFixture wrong(settings);
  const Status loaded = wrong.node().load_users();
  CHECK(loaded.error().text ==
        "the configuration:1: Unknown command or category name in ACL ('+nope'). ");
}

}  // namespace
}  // namespace redlock::server
