// A small table of commands, and users over it.
#pragma once

#include "protocol/access/users.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace redlock::protocol {

inline constexpr CommandSpec kAccessSpecs[] = {
    {"get", 2, kReadOnly | kFast, 1, 1, 1, "string", "1.0.0", "", "key"},
    {"set", -3, kWrite, 1, 1, 1, "string", "1.0.0", "", "key value [GET]"},
    {"del", -2, kWrite, 1, -1, 1, "generic", "1.0.0", "", "key [key ...]"},
    {"mset", -3, kWrite, 1, -1, 2, "string", "1.0.0", "", "key value [key value ...]"},
    {"exists", -2, kReadOnly | kFast, 1, -1, 1, "generic", "1.0.0", "", "key [key ...]"},
    {"select", 2, kFast, 0, 0, 0, "connection", "1.0.0", "", "index"},
    {"auth", -2, kNoAuth, 0, 0, 0, "connection", "1.0.0", "", "password"},
    {"config", -2, 0, 0, 0, 0, "server", "2.0.0", "", ""},
    {"config|get", -3, kAdmin, 0, 0, 0, "server", "2.0.0", "", "parameter"},
    {"config|set", -4, kAdmin, 0, 0, 0, "server", "2.0.0", "", "parameter value"},
    {"eval", -3, kMovableKeys, 0, 0, 0, "scripting", "2.6.0", "",
     "script numkeys [key [key ...]] [arg [arg ...]]"},
    {"publish", 3, kPubSub, 0, 0, 0, "pubsub", "2.0.0", "", "channel message"},
    {"subscribe", -2, kPubSub, 0, 0, 0, "pubsub", "2.0.0", "", "channel [channel ...]"},
    {"psubscribe", -2, kPubSub, 0, 0, 0, "pubsub", "2.0.0", "", "pattern [pattern ...]"},
    {"ssubscribe", -2, kPubSub, 1, -1, 1, "pubsub", "7.0.0", "", "shardchannel [shardchannel ...]"},
    {"flushall", -1, kWrite, 0, 0, 0, "server", "1.0.0", "", ""},
    {"lock.acquire", -5, kWrite, 1, 1, 1, "lock", "1.0.0", "", "key value PX milliseconds"},
    {"lock.fence", -2, kAdmin, 0, 0, 0, "lock", "1.0.0", "", ""},
    {"lock.fence|read", 2, kAdmin, 0, 0, 0, "lock", "1.0.0", "", ""}};

class AccessFixture {
 public:
  AccessFixture() : rights_(specs()), users_(rights_), user_("u", rights_) {}

  // The error's text, or "OK".
  std::string rule(std::string_view rule) {
    const RuleError error = user_.apply(rule);
    return error == RuleError::none ? "OK" : std::string(rule_error_text(error));
  }
  void rules(std::initializer_list<std::string_view> all) {
    for (const std::string_view one : all) CHECK(rule(one) == "OK");
  }
  // "", "command", "key 1", "channel 2".
  std::string check(std::vector<std::string_view> words) const {
    auto command = rights_.find(words[0]);
    REQUIRE(command);
    if (!rights_.subcommands(*command).empty() && words.size() > 1) {
      command = rights_.find(std::string(words[0]) + "|" + std::string(words[1]));
      REQUIRE(command);
    }
    const Denial no = user_.check(*command, words);
    const char* const kNames[] = {"", "command", "key", "channel"};
    std::string told = kNames[static_cast<int>(no.reason)];
    return no.place > 0 ? told + " " + std::to_string(no.place) : told;
  }

  static CommandSpecs specs() {
    static const auto pointers = [] {
      std::array<const CommandSpec*, std::size(kAccessSpecs)> all{};
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = &kAccessSpecs[i];
      return all;
    }();
    return pointers;
  }

  const CommandRights rights_;
  Users users_;
  User user_;
};

}  // namespace redlock::protocol
