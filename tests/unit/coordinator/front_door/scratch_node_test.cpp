#include "coordinator/front_door/records/scratch_node.h"

#include "base/text/quoted_words.h"
#include "tests/support/node_fixture.h"

#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A scratch node that is told records and lines, and tells what a run changed.
class Scratch {
 public:
  explicit Scratch(server::Settings settings = {}, server::Stopwatch time = {})
      : stopwatch(std::move(time)),
        settings_(std::move(settings)),
        node_({settings_, ender_, &ender_, bound_, stopwatch}, 1, now_.monotonic) {}

  void hold(const std::string& key, const std::string& value, Duration left = 10s) {
    records_[key] = SeenRecord{server::LockKind::text, value, now_.monotonic + left};
  }
  void forget(const std::string& key) { records_.erase(key); }

  std::string operator()(const std::vector<std::string>& lines) {
    protocol::Transaction requests;
    for (const std::string& line : lines) {
      const auto words = *split_quoted_words(line);
      const std::vector<std::string_view> views(words.begin(), words.end());
      REQUIRE(requests.add(views, 0));
    }
    std::vector<KnownRecord> known;
    for (const auto& [key, record] : records_) known.push_back({key, record});
    last = node_.run(requests, known, now_);
    std::string told;
    for (const auto& reply : last.replies) told += reply.to_string() + " ";
    return told;
  }
  std::string operator()(const std::string& line) { return (*this)(std::vector{line}); }

  std::string changes() const {
    static constexpr const char* kNames[] = {"none",    "create",  "extend",
                                             "shorten", "replace", "release"};
    std::string text;
    for (const TouchedKey& key : last.touched) {
      text += fmt::format("{}:{} ", key.key, kNames[static_cast<int>(key.change())]);
    }
    return text;
  }
  server::Node& node() { return node_.node(); }

  RunResult last;
  server::Stopwatch stopwatch;

 private:
  // Ends a script that writes to the log, as a watch ends one whose time is over.
  struct Ender final : server::ScriptWatch, LogSink {
    void script_began(lua::Engine& engine) override { running = &engine; }
    void script_ended() override { running = nullptr; }
    void log(LogLevel, std::string_view) override {
      if (running != nullptr) running->abort_running();
    }
    lua::Engine* running = nullptr;
  };
  server::Settings settings_;
  Ender ender_;
  std::string bound_ = "this front door's max-ttl (57903 ms)";
  Now now_{Instant(24h), WallTime(std::chrono::seconds(1'700'000'000))};
  ScratchNode node_;
  std::map<std::string, SeenRecord> records_;
};

constexpr const char* kRelease =
    "EVAL \"if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else "
    "return 0 end\" 1 k ";

}  // namespace

TEST_CASE("a run tells the reply, and the difference to each key that it touched (rule D4)") {
  Scratch run;
  CHECK(run("SET k alice NX PX 5000") == "+OK ");
  CHECK(run.changes() == "k:create ");
  CHECK(run("GET k") == "(nil) ");  // nothing is left behind
  CHECK(run.changes() == "k:none ");
  run.hold("k", "alice");
  CHECK(run("SET k bob NX PX 5000") == "(nil) ");
  CHECK(run.changes() == "k:none ");
  CHECK(run("SET k bob PX 5000") == "+OK ");
  CHECK(run.changes() == "k:replace ");
  CHECK(run("PEXPIRE k 20000") == "(integer) 1 ");
  CHECK(run.changes() == "k:extend ");
  CHECK(run("SET k alice XX PX 2000") == "+OK ");
  CHECK(run.changes() == "k:shorten ");
  CHECK(run(kRelease + std::string("alice")) == "(integer) 1 ");
  CHECK(run.changes() == "k:release ");
  CHECK(run(kRelease + std::string("bob")) == "(integer) 0 ");
  CHECK(run.changes() == "k:none ");
  CHECK(run.node().locks().size() == 0);
}

TEST_CASE("keys that no declaration names are found by running") {
  Scratch run;
  CHECK(run("EVAL \"redis.call('set','a','1','PX','9') return redis.call('exists','b','c')\" 0") ==
        "(integer) 0 ");
  CHECK(run.changes() == "a:create b:none c:none ");
}

TEST_CASE("of more keys than one command may have a run tells one more, and forgets them all") {
  Scratch run;
  run("EVAL \"for i = 1, 16000 do redis.call('set', i, '1', 'PX', '9') end\" 0");
  CHECK(run.last.touched.size() == coordinator::kKeysMax + 1);
  CHECK(run.node().locks().size() == 0);
}

TEST_CASE("the requests of a transaction run at one instant; the session's own do not run here") {
  Scratch run;
  CHECK(run({"SET k alice PX 5000", "CLIENT SETNAME alice", "GET k", "DEL k"}) ==
        "+OK (nothing) \"alice\" (integer) 1 ");
  CHECK(run.changes() == "k:none ");
}

TEST_CASE("what a front door does not serve is refused in scripts, too") {
  Scratch run;
  CHECK(run("EVAL \"return redis.call('DBSIZE')\" 0").find("ask a node") != std::string::npos);
  CHECK(run("EVAL \"return redis.call('LOCK.ACQUIRE','k','v','PX','5')\" 0")
            .find("not allowed from script") != std::string::npos);
}

TEST_CASE("what a run publishes is held back, up to a bound, and nothing of it stays (rule D11)") {
  Scratch run;
  CHECK(run({"PUBLISH c one", "EVAL \"return redis.call('SPUBLISH','d','two')\" 0", "GET k"}) ==
        "(integer) 0 (integer) 0 (nil) ");
  REQUIRE(run.last.messages.size() == 2);
  CHECK(run.last.messages[0].channel == "c");
  CHECK(run.last.messages[0].text == "one");
  CHECK(run.last.messages[1].kind == server::PubSub::Kind::shard_channel);
  CHECK(run("GET k") == "(nil) ");
  CHECK(run.last.messages.empty());
  const std::string many =
      "EVAL \"local told = 0 for i = 1, 100 do if type(redis.pcall('PUBLISH', 'c', "
      "string.rep('m', 50000))) == 'number' then told = told + 1 end end return told\" 0";
  CHECK(run(many) == "(integer) 20 ");
  CHECK(run(many) == "(integer) 20 ");
  CHECK(run("EVAL \"return redis.call('PUBLISH', 'c', string.rep('m', 70000))\" 0")
            .starts_with("-ERR a message with its channel of 70022 bytes"));
}

TEST_CASE("a TTL above the door's is told with the door's words") {
  server::Settings settings;
  settings.max_ttl = 57'903ms;
  Scratch run(settings);
  CHECK(run("SET k v NX PX 60000") ==
        "-ERR a TTL of 60000 ms is above this front door's max-ttl (57903 ms) ");
  CHECK(run("SET k v NX").starts_with("-ERR a lock needs a TTL: add PX milliseconds"));
}

TEST_CASE("scripts stay known from run to run") {
  Scratch run;
  CHECK(run("SCRIPT LOAD 'return 7'") == "\"59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9\" ");
  CHECK(run("EVALSHA 59b6ab2fbe0ee4b25733de0f62e6cda4899ef8e9 0").starts_with("(integer) 7"));
}

TEST_CASE("a transaction that takes too long is ended, and nothing of it counts") {
  Instant time(1h);
  Scratch run(server::Settings(), [&time] { return time += 30ms; });
  CHECK(run("SET k alice PX 5000") == "+OK ");
  CHECK_FALSE(run.last.is_cut_short);
  run({"SET k alice PX 5000", "GET k", "GET k", "GET k", "GET k", "GET k"});
  CHECK(run.last.is_cut_short);
  CHECK(run("GET k") == "(nil) ");
  CHECK_FALSE(run.last.is_cut_short);
}

TEST_CASE("a script that is ended has done nothing, and what comes after it is sound") {
  Scratch run;
  CHECK(run("EVAL \"redis.call('set','k','1','PX','9') redis.log(redis.LOG_WARNING, 'slow') while "
            "true do end\" 0")
            .starts_with("-ERR script stopped"));
  CHECK(run.last.is_cut_short);
  CHECK(run("SET k alice PX 5000") == "+OK ");
  CHECK_FALSE(run.last.is_cut_short);
  CHECK(run.changes() == "k:create ");
}
