#include "protocol/catalogue/command_docs.h"

#include "base/text/quoted_words.h"

#include <vector>

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

// A few commands of every shape that the answers tell apart.
const CommandSpec kTable[] = {
    {"get", 2, kReadOnly | kFast, 1, 1, 1, "string", "1.0.0", "Get the value of a key", "key"},
    {"set", -3, kWrite | kDenyOom, 1, 1, 1, "string", "1.0.0", "Set the string value of a key",
     "key value [NX|XX] [PX milliseconds]"},
    {"mset", -3, kWrite | kDenyOom, 1, -1, 2, "string", "1.0.1", "Set multiple keys",
     "key value [key value ...]"},
    {"del", -2, kWrite, 1, -1, 1, "generic", "1.0.0", "Delete a key", "key [key ...]"},
    {"eval", -3, kNoScript | kStale | kSkipMonitor | kMovableKeys, 0, 0, 0, "scripting", "2.6.0",
     "Execute a Lua script server side", "script numkeys [key [key ...]] [arg [arg ...]]"},
    {"auth", -2, kNoScript | kLoading | kStale | kFast | kNoAuth | kAllowBusy, 0, 0, 0,
     "connection", "1.0.0", "Authenticate to the server", "[username] password"},
    {"ping", -1, kFast, 0, 0, 0, "connection", "1.0.0", "Ping the server", "[message]"},
    {"info", -1, kLoading | kStale, 0, 0, 0, "server", "1.0.0", "Get information",
     "[section [section ...]]"},
    {"keys", 2, kReadOnly, 0, 0, 0, "generic", "1.0.0", "Find all keys", "pattern"},
    {"config", -2, 0, 0, 0, 0, "server", "2.0.0", "A container for configuration", ""},
    {"config|get", -3, kAdmin | kNoScript | kLoading | kStale, 0, 0, 0, "server", "2.0.0",
     "Get the values of settings", "parameter [parameter ...]"},
    {"config|help", 2, kLoading | kStale, 0, 0, 0, "server", "5.0.0", "Show helpful text", ""},
    {"object", -2, 0, 0, 0, 0, "generic", "2.2.3", "A container for object introspection", ""},
    {"object|encoding", 3, kReadOnly, 2, 2, 1, "generic", "2.2.3", "Tell the encoding", "key"},
    {"command", -1, kLoading | kStale, 0, 0, 0, "server", "2.8.13", "Describe the commands", ""},
    {"command|count", 2, kLoading | kStale, 0, 0, 0, "server", "2.8.13", "Count the commands", ""},
};

std::vector<const CommandSpec*> table() {
  std::vector<const CommandSpec*> pointers;
  for (const CommandSpec& spec : kTable) pointers.push_back(&spec);
  return pointers;
}

std::string ask(Reply (*question)(CommandSpecs, Request), std::string_view line) {
  const auto words = split_quoted_words(line).value();
  const std::vector<std::string_view> views(words.begin(), words.end());
  return question(table(), views).to_string();
}

std::string info(std::string_view names) {
  return ask(command_info, names);
}
std::string docs(std::string_view names) {
  return ask(command_docs, names);
}
std::string list(std::string_view filter) {
  return ask(command_list, filter);
}
std::string keys(std::string_view command) {
  return ask(command_getkeys, command);
}

std::string one_line(const std::vector<std::string_view>& names) {
  std::string out;
  for (const auto name : names) out += (out.empty() ? "" : " ") + std::string(name);
  return out;
}

std::string categories(std::string_view name) {
  const auto specs = table();
  return one_line(acl_categories(specs, *find_command(specs, name)));
}

}  // namespace

TEST_CASE("COMMAND COUNT counts commands, not subcommands") {
  CHECK(command_count(table()) == Reply::integer(12));
}

TEST_CASE("COMMAND INFO answers ten fields in Redis's shape") {
  CHECK(info("SET") ==
        "[[\"set\", (integer) -3, ~[+write, +denyoom], (integer) 1, (integer) 1, (integer) 1, "
        "~[+@write, +@string, +@slow], ~[], "
        "~[{\"flags\": ~[+RW, +access, +update], "
        "\"begin_search\": {\"type\": \"index\", \"spec\": {\"index\": (integer) 1}}, "
        "\"find_keys\": {\"type\": \"range\", \"spec\": {\"lastkey\": (integer) 0, "
        "\"keystep\": (integer) 1, \"limit\": (integer) 0}}}], ~[]]]");
  CHECK(info("auth") ==
        "[[\"auth\", (integer) -2, ~[+noscript, +loading, +stale, +fast, +no_auth, +allow_busy], "
        "(integer) 0, (integer) 0, (integer) 0, ~[+@fast, +@connection], ~[], ~[], ~[]]]");
}

TEST_CASE("COMMAND INFO tells where EVAL's keys are by their count") {
  CHECK(info("eval") ==
        "[[\"eval\", (integer) -3, "
        "~[+noscript, +stale, +skip_monitor, +no_mandatory_keys, +movablekeys], "
        "(integer) 0, (integer) 0, (integer) 0, ~[+@slow, +@scripting], ~[], "
        "~[{\"flags\": ~[+RW, +access, +update], "
        "\"begin_search\": {\"type\": \"index\", \"spec\": {\"index\": (integer) 2}}, "
        "\"find_keys\": {\"type\": \"keynum\", \"spec\": {\"keynumidx\": (integer) 0, "
        "\"firstkey\": (integer) 1, \"keystep\": (integer) 1}}}], ~[]]]");
}

TEST_CASE("COMMAND INFO holds the subcommands of a container") {
  CHECK(info("config") ==
        "[[\"config\", (integer) -2, ~[], (integer) 0, (integer) 0, (integer) 0, ~[+@slow], ~[], "
        "~[], [[\"config|get\", (integer) -3, ~[+admin, +noscript, +loading, +stale], "
        "(integer) 0, (integer) 0, (integer) 0, ~[+@admin, +@slow, +@dangerous], ~[], ~[], ~[]], "
        "[\"config|help\", (integer) 2, ~[+loading, +stale], (integer) 0, (integer) 0, "
        "(integer) 0, ~[+@slow], ~[], ~[], ~[]]]]]");
}

TEST_CASE("COMMAND INFO answers null for what is unknown, and all for no name") {
  CHECK(info("nosuch config|nosuch config|get|x") == "[(nil), (nil), (nil)]");
  CHECK(command_info(table(), {}).items().size() == 12);
  const auto found = info("CONFIG|GET");
  CHECK(found.starts_with("[[\"config|get\", (integer) -3"));
}

TEST_CASE("COMMAND LIST tells all names, or those of a pattern or a category") {
  CHECK(command_list(table(), {}).items().size() == std::size(kTable));
  CHECK(list("FILTERBY PATTERN *SET") == R"(["set", "mset"])");
  CHECK(list("filterby pattern conf*") == R"(["config", "config|get", "config|help"])");
  CHECK(list("FILTERBY ACLCAT Dangerous") == R"(["info", "keys", "config|get"])");
  CHECK(list("FILTERBY ACLCAT nosuch") == "[]");
  CHECK(list("FILTERBY MODULE json") == "[]");
  for (const char* wrong :
       {"FILTERBY", "FILTERBY PATTERN", "FILTERBY NAME x", "SORTBY NAME x", "x"}) {
    CAPTURE(wrong);
    CHECK(list(wrong) == "-ERR syntax error");
  }
}

TEST_CASE("COMMAND DOCS explains a command and its arguments") {
  CHECK(docs("get") ==
        "{\"get\": {\"summary\": \"Get the value of a key\", \"since\": \"1.0.0\", "
        "\"group\": \"string\", \"arguments\": [{\"name\": \"key\", \"type\": \"key\", "
        "\"display_text\": \"key\", \"key_spec_index\": (integer) 0}]}}");
  const std::string arguments =
      "{\"name\": \"nx-xx\", \"type\": \"oneof\", \"flags\": ~[+optional], \"arguments\": ["
      "{\"name\": \"nx\", \"type\": \"pure-token\", \"display_text\": \"nx\", \"token\": \"NX\"}, "
      "{\"name\": \"xx\", \"type\": \"pure-token\", \"display_text\": \"xx\", \"token\": "
      "\"XX\"}]}, "
      "{\"name\": \"milliseconds\", \"type\": \"integer\", \"display_text\": \"milliseconds\", "
      "\"token\": \"PX\", \"flags\": ~[+optional]}";
  CHECK(docs("set").find(arguments) != std::string::npos);
  CHECK(docs("mset").find("\"flags\": ~[+multiple], \"arguments\": [") != std::string::npos);
}

TEST_CASE("COMMAND DOCS holds a container's subcommands and leaves out what is unknown") {
  CHECK(docs("nosuch") == "{}");
  CHECK(docs("nosuch config|help") ==
        "{\"config|help\": {\"summary\": \"Show helpful text\", \"since\": \"5.0.0\", "
        "\"group\": \"server\"}}");
  CHECK(docs("object") ==
        "{\"object\": {\"summary\": \"A container for object introspection\", "
        "\"since\": \"2.2.3\", \"group\": \"generic\", \"subcommands\": {\"object|encoding\": "
        "{\"summary\": \"Tell the encoding\", \"since\": \"2.2.3\", \"group\": \"generic\", "
        "\"arguments\": [{\"name\": \"key\", \"type\": \"key\", \"display_text\": \"key\", "
        "\"key_spec_index\": (integer) 0}]}}}}");
  CHECK(command_docs(table(), {}).items().size() == 2 * 12);
}

TEST_CASE("COMMAND GETKEYS finds the keys of a command") {
  CHECK(keys("get a") == R"(["a"])");
  CHECK(keys("mset a 1 b 2") == R"(["a", "b"])");
  CHECK(keys("del a b c") == R"(["a", "b", "c"])");
  CHECK(keys("object encoding a") == R"(["a"])");
  CHECK(keys("eval script 2 a b c") == R"(["a", "b"])");
  CHECK(keys("eval script 0 a") == "[]");
  CHECK(keys("eval script 4 a") == "[]");
  CHECK(keys("eval script many a") == "[]");
  CHECK(keys("eval script 9223372036854775807 a") == "[]");
}

TEST_CASE("COMMAND GETKEYS refuses what has none, with Redis's texts") {
  CHECK(keys("nosuch a") == "-ERR Invalid command specified");
  CHECK(keys("ping a") == "-ERR The command has no key arguments");
  CHECK(keys("config get x") == "-ERR The command has no key arguments");
  CHECK(keys("get a b") == "-ERR Invalid number of arguments specified for command");
}

TEST_CASE("ACL categories follow from flags and groups by Redis's rules") {
  CHECK(categories("get") == "read string fast");
  CHECK(categories("del") == "keyspace write slow");
  CHECK(categories("eval") == "slow scripting");
  CHECK(categories("info") == "slow dangerous");
  CHECK(categories("keys") == "keyspace read slow dangerous");
  CHECK(categories("command") == "slow connection");
  CHECK(categories("command|count") == "slow connection");
  CHECK(categories("config") == "slow");
}

TEST_CASE("HELP tells what can be written, from the same specs") {
  CHECK(container_help(table(), "config").to_string() ==
        "[+CONFIG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:, "
        "+GET parameter [parameter ...], +    Get the values of settings., "
        "+HELP, +    Print this help.]");
  CHECK(container_help(table(), "Command").to_string() ==
        "[+COMMAND <subcommand> [<arg> [value] [opt] ...]. Subcommands are:, "
        "+(no subcommand), +    Describe the commands., "
        "+COUNT, +    Count the commands., +HELP, +    Print this help.]");
}
