#include "coordinator/client/node_address.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

std::string parsed(std::string_view text) {
  const auto node = parse_node_address(text);
  if (!node) return node.error().text;
  const Credentials& credentials = node.value().credentials;
  return node.value().text() + " " + credentials.user + " " + credentials.password;
}

}  // namespace

TEST_CASE("nodes are named as people name a Redis") {
  CHECK(parsed("redis://127.0.0.1:7001") == "127.0.0.1:7001  ");
  CHECK(parsed("node1:7001") == "node1:7001  ");
  CHECK(parsed("node1") == "node1:6379  ");
  CHECK(parsed("redis://alice:secret@node1:7001/") == "node1:7001 alice secret");
  CHECK(parsed("redis://:secret@[::1]:7001") == "[::1]:7001  secret");
  CHECK(parsed("redis://alice:p%40s%2Fs@node1") == "node1:6379 alice p@s/s");
  CHECK(parsed("redis://node1:7001/0") == "node1:7001  ");
  CHECK(parsed("rediss://alice:secret@node1:7001") == "rediss://node1:7001 alice secret");
  CHECK(parsed("rediss://[::1]:7001") == "rediss://[::1]:7001  ");  // as it is told, too
  CHECK(parse_node_address("rediss://node1").value().is_tls);
  CHECK_FALSE(parse_node_address("redis://node1").value().is_tls);
  CHECK(parsed("unix:///run/node.sock") == "/run/node.sock  ");
  CHECK(parsed("/run/node@home.sock") == "/run/node@home.sock  ");  // as it is told
  CHECK(parsed("unix://:secret@/run/node.sock") == "/run/node.sock  secret");
}

TEST_CASE("a name that cannot be meant is refused with what is accepted, never with the password") {
  CHECK_THAT(parsed("redis://node1:70000"), Catch::Contains("from 1 to 65535"));
  CHECK_THAT(parsed("redis://"), Catch::Contains("no host"));
  CHECK_THAT(parsed("node1:"), Catch::Contains("redis://host:port"));
  CHECK_THAT(parsed("rediss:///run/node.sock"), Catch::Contains("no host"));
  CHECK_THAT(parsed("http://node1:1"), Catch::Contains("do not speak http://"));
  CHECK_THAT(parsed("redis://node1:1/7"), Catch::Contains("one database: leave out /7"));
  CHECK_THAT(parsed("unix://node.sock"), Catch::Contains("no absolute path"));
  CHECK_THAT(parsed("unix:///" + std::string(107, 's')), Catch::Contains("at most 107 bytes"));
  CHECK_THAT(parsed("redis://alice:secret@node1:x"), !Catch::Contains("secret"));
}

TEST_CASE("what a terminal would obey is escaped in every refusal, and in every node's name") {
  const std::string bad = "\x1b[31m\n";
  for (const std::string& text :
       {bad + ":", "node" + bad + ":", ":" + bad, "redis://node1:" + bad, "[" + bad, "[::1]" + bad,
        "[]" + bad, "unix://" + bad, "unix:///" + bad + std::string(107, 's'), "unix:///" + bad}) {
    INFO(text);
    CHECK_THAT(parsed(text), Catch::Contains("\\x1b"));
    CHECK_THAT(parsed(text), !Catch::Contains("\x1b") && !Catch::Contains("\n"));
  }
  CHECK_THAT(parse_node_addresses("unix:///" + bad + ",unix:///" + bad).error().text,
             Catch::Contains("\\x1b") && !Catch::Contains("\n"));
  CHECK(parse_node_address("unix:///\x1b").value().address.host == "/\x1b");
}

TEST_CASE("a refusal shows the beginning of what is long") {
  CHECK(parsed(std::string(5000, 'a') + ":").size() < 300);
}

TEST_CASE("a list of nodes is separated by commas and names each once") {
  const auto nodes = parse_node_addresses("redis://a:1, b:2 ,redis://c:3");
  REQUIRE(nodes);
  CHECK(nodes.value().size() == 3);
  CHECK(nodes.value()[1].text() == "b:2");
  CHECK_THAT(parse_node_addresses("a:1,redis://a:1").error().text, Catch::Contains("named twice"));
  CHECK_FALSE(parse_node_addresses(" , "));
  CHECK_THAT(parse_node_addresses("a:1 b:2 c:3").error().text,
             Catch::Contains("separate them by commas"));
  CHECK_FALSE(parse_node_addresses("redis://:a b@c:1"));  // %20 stands for it
}

TEST_CASE("a group has at most as many nodes as its sets have room for") {
  const auto list = [](std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += "node" + std::to_string(i) + ":1,";
    return parse_node_addresses(all);
  };
  CHECK(list(kNodesMax).value().size() == kNodesMax);
  CHECK_THAT(list(kNodesMax + 1).error().text, Catch::Contains("65 nodes are too many"));
}
