#include "server/observe/slow_log.h"

#include "server/commands/families.h"
#include "server/node/command.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::server;

namespace {

const protocol::CommandSpec& spec_of(std::string_view name) {
  for (const auto family : {connection_commands(), lock_commands(), admin_commands()}) {
    for (const Command& command : family) {
      if (command.spec.name == name) return command.spec;
    }
  }
  FAIL("no such command");
  return connection_commands().front().spec;
}

std::vector<std::string> shortened(std::string_view name, std::vector<std::string_view> words) {
  return SlowLog::shortened(spec_of(name), words);
}

}  // namespace

TEST_CASE("a word of an entry has kWordBytesMax bytes, and says how many more there were") {
  const std::string fits(SlowLog::kWordBytesMax, 'v');
  CHECK(shortened("get", {"GET", fits})[1] == fits);
  const std::string longer = fits + "xy";
  CHECK(shortened("get", {"GET", longer})[1] == fits + "... (2 more bytes)");
}

TEST_CASE("an entry has kWordsMax words, the last of which says how many more there were") {
  std::vector<std::string_view> words(SlowLog::kWordsMax, "k");
  words[0] = "DEL";
  CHECK(shortened("del", words).size() == SlowLog::kWordsMax);
  CHECK(shortened("del", words).back() == "k");
  words.push_back("k");
  CHECK(shortened("del", words).size() == SlowLog::kWordsMax);
  CHECK(shortened("del", words).back() == "... (2 more arguments)");
}

TEST_CASE("passwords are in no entry") {
  using Words = std::vector<std::string>;
  CHECK(shortened("auth", {"AUTH", "secret"}) == Words{"AUTH", "(redacted)"});
  CHECK(shortened("auth", {"AUTH", "me", "secret"}) == Words{"AUTH", "(redacted)", "(redacted)"});
  CHECK(shortened("hello", {"HELLO", "3", "SETNAME", "n", "auth", "me", "secret"}) ==
        Words{"HELLO", "3", "SETNAME", "n", "auth", "(redacted)", "(redacted)"});
  CHECK(shortened("config|set", {"CONFIG", "SET", "timeout", "1", "requirepass", "secret"}) ==
        Words{"CONFIG", "SET", "timeout", "1", "requirepass", "(redacted)"});
}

TEST_CASE("the log keeps the newest, as many as it may, and numbers them all") {
  SlowLog log;
  log.set_length_max(2);
  for (int i = 0; i < 3; ++i) log.add(SlowLog::Entry{});
  REQUIRE(log.entries().size() == 2);
  CHECK(log.entries()[0].number == 2);
  CHECK(log.entries()[1].number == 1);
  log.set_length_max(1);
  CHECK(log.entries().size() == 1);
  log.clear();
  log.add(SlowLog::Entry{});
  CHECK(log.entries()[0].number == 3);
}

TEST_CASE("the log keeps kEntriesMax entries, whatever is asked for") {
  SlowLog log;
  log.set_length_max(~std::uint64_t{0});
  for (std::size_t i = 0; i < SlowLog::kEntriesMax + 1; ++i) log.add({});
  CHECK(log.entries().size() == SlowLog::kEntriesMax);
}
