// Users made by the first client, and what they may do: what they are told to be, what a dry run
// says, and what becomes of their requests.
//
// A user's own client is of his name, and is the default user again behind the scene. Each user may
// PING, as that is how the test knows that a client was told all (Match::send_fence).
#include "base/text/number.h"
#include "base/text/words.h"
#include "tests/differential/newer_commands.h"
#include "tests/differential/scenes.h"

#include <algorithm>

namespace redlock::differential {
namespace {

// What a node answers otherwise to who may not use all keys and channels, on purpose:
// docs/security.md. Some leave out what he may not read, the others tell of all keys or end them.
bool is_about_all_keys(const Words& words) {
  constexpr std::string_view kNames[] = {"scan",     "keys",    "dbsize",  "randomkey",
                                         "flushall", "flushdb", "slowlog", "pubsub"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return equals_ignoring_case(words[0], name); });
}

// At which a text of Redis ends.
bool has_zero_byte(const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.find('\0') != std::string::npos; });
}

// Whether he may read its key is asked of a node alone: Redis 7.0 takes it for any word.
bool has_newer_condition(const Words& words) {
  return std::any_of(words.begin(), words.end(), is_newer_condition);
}

}  // namespace

// One of the commands, with words that it would take or not.
Words Scenes::question_about_users() {
  const std::string user = words_.chance(90) ? acl_.user() : "default";
  const auto acl = [&](std::string_view what) {
    return Words{words_.in_any_case("ACL"), words_.in_any_case(what)};
  };
  Words words;
  const std::size_t choice = words_.below(20);
  if (choice < 4) {
    words = acl("GETUSER");
    words.push_back(user);
  } else if (choice < 6) {
    words = acl("LIST");
  } else if (choice < 7) {
    words = acl(words_.chance(50) ? "USERS" : "WHOAMI");
  } else if (choice < 9) {
    words = acl("LOG");
    if (words_.chance(30)) words.push_back(words_.chance(50) ? "RESET" : words_.number());
  } else if (choice < 10) {
    words = acl(words_.chance(50) ? "CAT" : "GENPASS");
    if (words_.chance(70)) words.push_back(words_.number());
  } else {
    words = acl("DRYRUN");
    words.push_back(user);
    Words asked = request(any_command, words_.chance(10) ? Damage::some : Damage::none);
    if (is_about_all_keys(asked) || has_zero_byte(asked) || has_newer_condition(asked)) {
      asked = {"GET", "k"};
    }
    words.insert(words.end(), asked.begin(), asked.end());
  }
  return words;
}

void Scenes::request_of_user(Sequence& sequence, const std::string& who) {
  Words words = words_.chance(15)
                    ? scripts_.eval()
                    : request(any_command, words_.chance(8) ? Damage::some : Damage::none);
  const bool is_odd_script = equals_ignoring_case(words[0], "EVAL") && !parse_int64(words[2]);
  const bool is_newer = in_words_of_redis_7_0(words) || has_newer_condition(words);
  if (is_odd_script || is_about_all_keys(words) || is_newer) words = {"PING"};
  const bool looks = may_be_over(words);
  const std::string key = words.size() > 1 ? words[1] : "";
  sequence.push_back({.client = who, .words = std::move(words)});
  if (looks) sequence.push_back({.client = "", .words = {"EXISTS", key}});
}

void Scenes::users(Sequence& sequence) {
  if (!serves("acl|setuser")) return;
  const auto say = [&](const std::string& who, Words words) {
    sequence.push_back({.client = who, .words = std::move(words)});
  };
  const std::string user = acl_.user();
  const auto change = [&] {
    Words words = {words_.in_any_case("ACL"), words_.in_any_case("SETUSER"), user};
    for (std::string& rule : acl_.rules()) words.push_back(std::move(rule));
    words.emplace_back("+ping");
    say("", std::move(words));
  };
  Words made = acl_.capable_user(user);
  made.emplace_back("+ping");
  say("", std::move(made));
  if (words_.chance(50)) change();
  for (std::size_t i = 1 + words_.below(4); i > 0; --i) say("", question_about_users());
  say(user, {words_.in_any_case("AUTH"), user, acl_.password()});
  if (words_.chance(30)) say(user, {"HELLO", words_.chance(50) ? "3" : "2"});
  for (std::size_t i = words_.below(8); i > 0; --i) {
    const std::size_t choice = words_.below(100);
    if (choice < 60) {
      request_of_user(sequence, user);
    } else if (choice < 70) {
      say(user, question_about_users());
    } else if (choice < 80) {
      change();
    } else if (choice < 90) {
      // Events of keys that he may not read a node tells to nobody: docs/security.md.
      say("", {"CONFIG", "SET", "notify-keyspace-events", ""});
      const bool is_pattern = words_.chance(50);
      say(user, {words_.in_any_case(is_pattern ? "PSUBSCRIBE" : "SUBSCRIBE"),
                 is_pattern ? words_.pattern() : words_.channel()});
      say("", {"PUBLISH", words_.channel(), words_.value()});
    } else {
      say(user, {words_.in_any_case("MULTI")});
      request_of_user(sequence, user);
      if (words_.chance(50)) change();
      request_of_user(sequence, user);
      say(user, {words_.in_any_case("EXEC")});
    }
  }
  if (words_.chance(20)) {
    say("", {words_.in_any_case("ACL"), words_.in_any_case("DELUSER"), user});
    if (words_.chance(30)) sequence.back().words.push_back(acl_.user());
    if (words_.chance(5)) sequence.back().words.emplace_back("default");
  }
  if (words_.chance(50)) say("", {"ACL", "LOG"});
  say(user, {"RESET"});
}

}  // namespace redlock::differential
