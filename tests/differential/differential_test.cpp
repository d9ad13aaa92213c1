// The differential test's own parts, without a server.
#include "server/commands/families.h"
#include "server/node/command_table.h"
#include "tests/differential/comparison.h"
#include "tests/differential/differences_document.h"
#include "tests/differential/generator.h"
#include "tests/differential/newer_commands.h"
#include "tests/differential/shrink.h"
#include "tests/differential/vocabulary.h"
#include "tests/differential/wanted_differences.h"

#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>

namespace redlock::differential {
namespace {

using protocol::Reply;

Sequence sequence_of(std::string_view text) {
  auto sequence = read_sequence(text);
  REQUIRE(sequence);
  return sequence.value();
}

Words safe(Words words) {
  make_safe(words);
  return words;
}

bool agree_on(std::string_view request, const Reply& node, const Reply& redis) {
  const Sequence sequence = sequence_of("> " + std::string(request));
  return agree(rule_of(views(sequence[0].words)), node, redis);
}

Reply texts(std::initializer_list<std::string_view> items) {
  Reply reply = Reply::array();
  for (const std::string_view item : items) reply.add(Reply::bulk_view(item));
  return reply;
}

struct Node {
  server::CommandTable commands{server::all_families()};
  Generator generator{commands.specs()};
};

}  // namespace

TEST_CASE("a sequence is written as a transcript and read back") {
  const std::string text =
      "> SET k \"two words\" PX 20\nwait 35ms\nb> GET \"\\x00\\xff\"\nbytes> \"*1\\r\\n\"\n";
  CHECK(write_sequence(sequence_of(text)) == text);
  CHECK(sequence_of(text)[0].wait == 35ms);
  CHECK(sequence_of(text)[1].client == "b");
  CHECK(sequence_of(text)[2].is_bytes);
}

TEST_CASE("answers and comments in a transcript are left out when it is replayed") {
  const auto sequence = sequence_of("# seed 7\n> GET k\nnode:  (nil)\nredis: \"v\"\n+OK\n> PING\n");
  REQUIRE(sequence.size() == 2);
  CHECK(sequence[1].words == Words{"PING"});
}

TEST_CASE("generated sequences survive the way through their transcript") {
  const Node node;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Sequence sequence = node.generator.make(seed, 100);
    CHECK(sequence_of(write_sequence(sequence)) == sequence);
  }
}

TEST_CASE("the same seed makes the same sequence, another makes another") {
  const Node node;
  CHECK(node.generator.make(7, 200) == node.generator.make(7, 200));
  CHECK(node.generator.make(7, 200) != node.generator.make(8, 200));
}

TEST_CASE("every command that the node serves is generated, or stands among those not compared") {
  const Node node;
  std::set<std::string> made;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    for (const Step& step : node.generator.make(seed, 200)) {
      made.insert(lower_case(step.words[0]));
      if (step.words.size() > 1) {
        made.insert(lower_case(step.words[0]) + "|" + lower_case(step.words[1]));
      }
    }
  }
  for (const auto* spec : node.commands.specs()) {
    const bool is_excused =
        std::any_of(not_compared().begin(), not_compared().end(),
                    [&](const NotCompared& other) { return spec->name.starts_with(other.name); });
    INFO(spec->name);
    CHECK((is_excused || made.contains(std::string(spec->name))));
  }
}

TEST_CASE("moments are counted from when they are sent") {
  CHECK(at_moment({"SET", "k", "v", "PXAT", moment_in_ms(1500)}, 10s)[4] == "11500");
  CHECK(at_moment({"EXPIREAT", "k", moment_in_s(-3)}, 10s)[2] == "7");
  CHECK(at_moment({"GET", "<in a while>"}, 10s)[1] == "<in a while>");
}

TEST_CASE("no TTL that ends soon is left to chance") {
  CHECK(safe({"SET", "k", "1", "PX", "20"})[4] == "3600000");
  CHECK(safe({"SET", "k", "20"})[2] == "20");
  CHECK(safe({"expire", "k", "5"})[2] == "3600000");
  CHECK(safe({"expire", "k", "-5"})[2] == "-5");
  CHECK(safe({"WAIT", "1", "0"})[2] == "10");
  CHECK(safe({"ACL", "Save"}) == Words{"ACL", "help"});
  CHECK(may_be_over({"SET", "k", "v", "PXAT", moment_in_ms(-1)}));
  CHECK_FALSE(may_be_over({"SET", "k", "v", "PX", "3600000"}));
}

TEST_CASE("remaining times agree within 50 ms, and tell no key from no deadline") {
  CHECK(agree_on("PTTL k", Reply::integer(1000), Reply::integer(1050)));
  CHECK_FALSE(agree_on("PTTL k", Reply::integer(1000), Reply::integer(1051)));
  CHECK_FALSE(agree_on("pttl k", Reply::integer(-1), Reply::integer(-2)));
  CHECK_FALSE(agree_on("GET k", Reply::integer(1000), Reply::integer(1001)));
}

TEST_CASE("what Redis leaves unordered agrees as a set") {
  CHECK(agree_on("KEYS *", texts({"a", "b"}), texts({"b", "a"})));
  CHECK_FALSE(agree_on("KEYS *", texts({"a", "b"}), texts({"a", "a"})));
  CHECK(agree_on("HGETALL h", texts({"f", "1", "g", "2"}), texts({"g", "2", "f", "1"})));
  CHECK_FALSE(agree_on("HGETALL h", texts({"f", "1", "g", "2"}), texts({"f", "2", "g", "1"})));
  CHECK_FALSE(agree_on("MGET a b", texts({"1", "2"}), texts({"2", "1"})));
}

TEST_CASE("EXEC's elements are compared by what was queued for them") {
  const std::vector<Words> queued = {{"GET", "k"}, {"PTTL", "k"}};
  const auto exec = [](std::string_view value, std::int64_t ms) {
    Reply reply = Reply::array();
    reply.add(Reply::bulk(std::string(value))).add(Reply::integer(ms));
    return reply;
  };
  const Same same = [](const Words& words, const Reply& a, const Reply& b) {
    return agree(rule_of(views(words)), a, b);
  };
  CHECK(agree_on_exec(queued, exec("v", 100), exec("v", 90), same));
  CHECK_FALSE(agree_on_exec(queued, exec("v", 100), exec("w", 100), same));
  CHECK_FALSE(agree_on_exec(queued, exec("v", 100), Reply::null_array(), same));
}

TEST_CASE("two errors agree only to the letter") {
  CHECK_FALSE(agree_on("TIME", Reply::error("ERR a"), Reply::error("ERR b")));
  CHECK_FALSE(agree_on("INFO", Reply::bulk("x"), Reply::error("ERR b")));
  CHECK(agree_on("INFO", Reply::bulk("x"), Reply::bulk("y")));
}

TEST_CASE("a wanted difference covers its own command alone") {
  const Reply node = Reply::integer(1);
  const Reply redis = Reply::integer(2);
  const std::vector<std::string_view> refcount = {"object", "REFCOUNT", "x"};
  const std::vector<std::string_view> strlen = {"strlen", "x"};
  CHECK(wanted_difference(refcount, node, redis) != nullptr);
  CHECK(wanted_difference(refcount, redis, node) == nullptr);
  CHECK(wanted_difference(strlen, node, redis) == nullptr);
}

TEST_CASE("a script's large integers differ as a double does, and no further") {
  const std::vector<std::string_view> eval = {"eval", "return redis.call('incr', 'k')", "0"};
  const auto differs = [&](std::int64_t node, std::int64_t redis) {
    Reply a = Reply::array();
    Reply b = Reply::array();
    a.add(Reply::integer(node)).add(Reply::bulk_view("v"));
    b.add(Reply::integer(redis)).add(Reply::bulk_view("v"));
    return wanted_difference(eval, a, b) == nullptr;
  };
  CHECK_FALSE(differs(9007199254740993, 9007199254740992));
  CHECK_FALSE(differs(INT64_MAX, INT64_MIN));
  CHECK(differs(9007199254740993, 9007199254740994));
  CHECK(differs(7, 8));
}

TEST_CASE("a script's long numbers differ in their texts as Lua 5.1 rounds them, and no further") {
  const std::vector<std::string_view> eval = {"eval", "return 'a' .. tonumber(ARGV[1])", "0"};
  const auto differs = [&](std::string_view node, std::string_view redis) {
    return wanted_difference(eval, texts({node, "v"}), texts({redis, "v"})) == nullptr;
  };
  CHECK_FALSE(differs("1372036854775807", "13.7203685477581e+14"));
  CHECK_FALSE(differs("a-9223372036854775808b", "a-9.2233720368548e+18b"));
  CHECK(differs("a372036854775807", "a3.7203685477582e+14"));
  CHECK(differs("a7", "a8"));
}

TEST_CASE("what a lock's end tells is known from other messages") {
  CHECK(is_expired_event(texts({"message", "__keyevent@0__:expired", "k"})));
  CHECK(is_expired_event(texts({"pmessage", "*", "__keyspace@0__:k", "expired"})));
  CHECK_FALSE(is_expired_event(texts({"pmessage", "*", "__keyspace@0__:k", "expire"})));
  CHECK_FALSE(is_expired_event(texts({"message", "news", "expired"})));
}

TEST_CASE("no TTL that is compared with another is like another") {
  Random random(1);
  Vocabulary vocabulary(random);
  const auto certain = [&vocabulary](Words words) {
    vocabulary.make_order_certain(words);
    return words[2];
  };
  CHECK(certain({"EXPIRE", "k", "3600", "gt"}) == "3607");
  CHECK(certain({"EXPIRE", "k", "3600", "GT"}) == "3614");
  CHECK(certain({"PEXPIREAT", "k", moment_in_ms(3'600'000), "LT"}) == moment_in_ms(3'621'000));
  CHECK(certain({"EXPIRE", "k", "3600", "NX"}) == "3600");
  CHECK(certain({"EXPIRE", "k", "-1", "GT"}) == "-1");
}

TEST_CASE("newer commands are put in Redis 7.0's words, refused ones too") {
  CHECK(in_words_of_redis_7_0({"DELIFEQ", "k", "v"})->at(0) == "EVAL");
  CHECK(in_words_of_redis_7_0({"SET", "k", "v", "ifeq", "w", "GET"})->at(0) == "EVAL");
  CHECK(in_words_of_redis_7_0({"SET", "k", "v", "IFEQ", "w", "NX", "XX"}) ==
        Words{"SET", "k", "value", "NX", "XX"});
  CHECK(in_words_of_redis_7_0({"SET", "k", "v", "IFEQ", "w", "PX", "0"}) ==
        Words{"SET", "k", "v", "PX", "0"});
  CHECK(in_words_of_redis_7_0({"client", "no-touch", "ON"}) == Words{"client", "NO-EVICT", "ON"});
  CHECK_FALSE(in_words_of_redis_7_0({"SET", "k", "ifeq", "NX"}));
  CHECK_FALSE(in_words_of_redis_7_0({"GET", "k"}));
}

TEST_CASE("a difference is shrunk to the steps and words that it needs") {
  const Sequence long_one = sequence_of(
      "> PING\n> SET k one NX\n> GET x\nb> SET b two\n> DEL a b c\n> TTL k\nb> GET k\n> PING x\n");
  // It differs when SET comes before a GET of the same client.
  const auto still_differs = [](const Sequence& sequence) {
    std::set<std::string> has_set;
    for (const Step& step : sequence) {
      if (step.words[0] == "SET" && step.words.size() > 2) has_set.insert(step.client);
      if (step.words[0] == "GET" && has_set.contains(step.client)) return true;
    }
    return false;
  };
  const Shrunk shrunk = shrink(long_one, still_differs);
  CHECK(write_sequence(shrunk.sequence) == "> SET k k\n> GET\n");
}

TEST_CASE("docs/differences.md is what the tables say") {
  std::ifstream file(REDLOCK_SOURCE_FOLDER "/docs/differences.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  INFO("make it anew: build/redlock-differential --document >docs/differences.md");
  CHECK(text == differences_document());
}

}  // namespace redlock::differential
