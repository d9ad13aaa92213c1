#include "base/text/same_secret.h"
#include "protocol/access/access_log.h"
#include "protocol/access/password_hash.h"
#include "tests/unit/protocol/access_fixture.h"

#include <catch2/catch.hpp>

namespace redlock::protocol {
namespace {

constexpr std::string_view kHashOfFoo =
    "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

TEST_CASE("a password is kept as its SHA-256") {
  CHECK(password_hash("foo") == kHashOfFoo);
  CHECK(password_hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(is_password_hash(kHashOfFoo));
  CHECK_FALSE(is_password_hash("2C26"));
  CHECK(is_same_secret("abc", "abc"));
  CHECK_FALSE(is_same_secret("abc", "abd"));
  CHECK_FALSE(is_same_secret("abc", "ab"));
}

TEST_CASE_METHOD(AccessFixture, "a new user may nothing, and is off") {
  CHECK(user_.rules_text() == "off resetchannels -@all");
  CHECK_FALSE(user_.admits(""));
  CHECK(check({"get", "k"}) == "command");
  CHECK(check({"auth", "x"}).empty());  // by which he would become another
}

TEST_CASE_METHOD(AccessFixture, "two passwords are valid at once, until one is taken away") {
  rules({"on", ">foo", ">bar", ">foo"});
  CHECK(user_.passwords().size() == 2);
  CHECK((user_.admits("foo") && user_.admits("bar")));
  CHECK_FALSE(user_.admits("baz"));
  rules({"<bar"});
  CHECK_FALSE(user_.admits("bar"));
  CHECK(rule("<bar") == "The password you are trying to remove from the user does not exist");
  CHECK(rule("#2C") == rule_error_text(RuleError::bad_password_hash));
  rules({std::string("!") + std::string(kHashOfFoo)});
  CHECK_FALSE(user_.admits("foo"));
  rules({std::string("#") + std::string(kHashOfFoo), "off"});
  CHECK_FALSE(user_.admits("foo"));  // off
  rules({"on"});
  CHECK(user_.admits("foo"));
  rules({"nopass"});
  CHECK((user_.admits("any") && user_.passwords().empty()));
  rules({"resetpass"});
  CHECK_FALSE(user_.admits("any"));
}

TEST_CASE_METHOD(AccessFixture, "commands go by name, category, subcommand and first word") {
  rules({"~*", "&*", "+@read", "-exists", "+config|get", "+select|1"});
  CHECK(check({"get", "k"}).empty());
  CHECK(check({"GET", "k"}).empty());
  CHECK(check({"exists", "k"}) == "command");
  CHECK(check({"set", "k", "v"}) == "command");
  CHECK(check({"config", "get", "x"}).empty());
  CHECK(check({"config", "set", "x", "y"}) == "command");
  CHECK(check({"select", "1"}).empty());
  CHECK(check({"select", "0"}) == "command");
  CHECK(user_.selector().commands_text() == "-@all +@read -exists +config|get +select|1");
  rules({"+config"});
  CHECK(check({"config", "set", "x", "y"}).empty());
  CHECK(user_.selector().commands_text() == "-@all +@read -exists +select|1 +config");
  rules({"+@all", "-@admin", "-CONFIG|get"});
  CHECK(check({"config", "get", "x"}) == "command");
  CHECK(check({"set", "k", "v"}).empty());
  CHECK(user_.selector().commands_text() == "+@all -@admin -config|get");
  CHECK_FALSE(user_.selector().has_all_commands());
}

TEST_CASE_METHOD(AccessFixture, "what is no rule is told as Redis tells it") {
  CHECK(rule("+nope") == "Unknown command or category name in ACL");
  CHECK(rule("-nope") == "Unknown command or category name in ACL");
  CHECK(rule("+@nope") == "Unknown command or category name in ACL");
  CHECK(rule("+config|nope") == "Unknown command or category name in ACL");
  CHECK(rule("-get|x") == "Unknown command or category name in ACL");
  CHECK(rule("+config|get|x") == "Allowing first-arg of a subcommand is not supported");
  CHECK(rule("+get|x") == "OK");
  CHECK(rule("+get|") == "Syntax error");
  CHECK(rule("%X~a") == "Syntax error");
  CHECK(rule("%RR~a") == "Syntax error");
  CHECK(rule("%~a") == "Syntax error");
  CHECK(rule("~a b") == "Syntax error");
  CHECK(rule("foo") == "Syntax error");
  CHECK(rule("") == "OK");
  CHECK(rule("(+get ~x") == "Syntax error");
  CHECK(rule("(+nope)") == "Unknown command or category name in ACL");
  rules({"allkeys", "allchannels"});
  CHECK(rule("~x") == rule_error_text(RuleError::useless_key_pattern));
  CHECK(rule("&x") == rule_error_text(RuleError::useless_channel));
}

TEST_CASE_METHOD(AccessFixture, "keys are for reading, for writing, or for both") {
  rules({"+@all", "&*", "~a:*", "%R~r:*", "%W~w:*", "~a:*"});
  CHECK(user_.selector().keys_text() == "~a:* %R~r:* %W~w:*");
  CHECK(check({"get", "a:1"}).empty());
  CHECK(check({"get", "r:1"}).empty());
  CHECK(check({"get", "w:1"}) == "key 1");
  CHECK(check({"set", "w:1", "v"}).empty());
  CHECK(check({"set", "w:1", "v", "get"}) == "key 1");  // it tells the value before
  CHECK(check({"set", "r:1", "v"}) == "key 1");
  CHECK(check({"exists", "w:1"}).empty());
  CHECK(check({"del", "a:1", "b:1"}) == "key 2");
  CHECK(check({"mset", "a:1", "x", "b", "x"}) == "key 3");
  CHECK(check({"eval", "return 1", "2", "a:1", "b", "c"}) == "key 4");
  CHECK(check({"eval", "return 1", "1", "a:1", "b"}).empty());
  CHECK(check({"eval", "return 1", "9", "b"}).empty());  // refused by EVAL itself
  CHECK(check({"lock.acquire", "w:1", "v", "PX", "1"}) == "key 1");
  CHECK(check({"flushall"}) == "key");
  CHECK_FALSE(user_.sees_all_keys());
  CHECK((user_.may_see("r:x") && !user_.may_see("w:x") && !user_.may_see("b")));
  rules({"%W~r:*"});
  CHECK(user_.selector().keys_text() == "~a:* ~r:* %W~w:*");
}

TEST_CASE_METHOD(AccessFixture, "a pattern of channels is allowed to the letter") {
  rules({"+@all", "~*", "&a:*"});
  CHECK(check({"publish", "a:1", "m"}).empty());
  CHECK(check({"publish", "b", "a:1"}) == "channel 1");
  CHECK(check({"subscribe", "a:1", "b"}) == "channel 2");
  CHECK(check({"ssubscribe", "b"}) == "channel 1");
  CHECK(check({"psubscribe", "a:*"}).empty());
  CHECK(check({"psubscribe", "a:1"}) == "channel 1");
}

TEST_CASE_METHOD(AccessFixture,
                 "of several selectors one is enough, and the heaviest says why not") {
  rules({"+get", "~a", "(+set ~b)", "(+del ~c ~d)"});
  CHECK(user_.rules_text() ==
        "off ~a resetchannels -@all +get (~b resetchannels -@all +set) (~c ~d resetchannels -@all "
        "+del)");
  CHECK(check({"get", "a"}).empty());
  CHECK(check({"set", "b", "v"}).empty());
  CHECK(check({"set", "a", "v"}) == "key 1");
  CHECK(check({"del", "c", "e"}) == "key 2");
  CHECK(check({"exists", "a"}) == "command");
  rules({"clearselectors"});
  CHECK(check({"set", "b", "v"}) == "command");
}

TEST_CASE_METHOD(AccessFixture, "limits are rules, and none of them is all rights") {
  rules({"on", "nopass", "~*", "&*", "+@all"});
  CHECK(user_.has_all_rights());
  rules({"max-ttl:30s", "max-locks:5", "eval-known"});
  CHECK_FALSE(user_.has_all_rights());
  CHECK(user_.limits() == UserLimits{30s, 5, true});
  CHECK(user_.rules_text() == "on nopass max-ttl:30s max-locks:5 eval-known ~* &* +@all");
  for (const auto* bad : {"max-ttl:x", "max-ttl:", "max-ttl:-1", "max-locks:-1", "max-locks:1.5"}) {
    CHECK(rule(bad) == rule_error_text(RuleError::bad_limit));
  }
  rules({"max-ttl:0", "max-locks:0", "eval-all"});
  CHECK(user_.has_all_rights());
}

TEST_CASE_METHOD(AccessFixture, "what a user is told as makes the same user again") {
  rules({"on", ">foo", "~a:*", "%R~b", "&c", "+@read", "-get", "+select|1", "max-ttl:1500ms",
         "(+set %W~x)"});
  User again("u", rights_);
  const auto read = users_.read("\n# users\n" + user_line(user_) + "\n", "file");
  REQUIRE(read);
  CHECK(read.value().front().rules_text() == user_.rules_text());
  rules({"reset"});
  CHECK(user_.rules_text() == "off resetchannels -@all");
}

TEST_CASE_METHOD(AccessFixture, "all of a request's rules are taken, or none") {
  const std::vector<std::string> rules = {"on", "+get", "+nope"};
  const User::Refused refused = user_.apply_all(rules);
  CHECK(refused.error == RuleError::unknown_command);
  CHECK(refused.rule == "+nope");
  CHECK_FALSE(user_.is_on());
}

TEST_CASE_METHOD(AccessFixture, "@lock is for holders, @operator for operators") {
  rules({"~*", "+@lock"});
  for (const auto* name : {"set", "get", "del", "eval", "publish", "lock.acquire"}) {
    CHECK(user_.may_call(*rights_.find(name)));
  }
  for (const auto* name : {"lock.fence|read", "config|set", "flushall", "select"}) {
    CHECK_FALSE(user_.may_call(*rights_.find(name)));
  }
  rules({"-@all", "+@operator"});
  for (const auto* name : {"lock.fence|read", "config|set", "flushall"}) {
    CHECK(user_.may_call(*rights_.find(name)));
  }
  CHECK_FALSE(user_.may_call(*rights_.find("set")));
}

TEST_CASE("a selector may stand in several words of a request") {
  const std::string_view words[] = {"on", "(+get", "~x)", "(+set)", "off"};
  CHECK(merge_selector_rules(words).rules ==
        std::vector<std::string>{"on", "(+get ~x)", "(+set)", "off"});
  const std::string_view open[] = {"on", "(+get", "~x"};
  CHECK(merge_selector_rules(open).broken == "(+get");
}

TEST_CASE_METHOD(AccessFixture, "a file of users is taken as a whole, and each bad line is named") {
  const auto bad = users_.read(
      "user a on +get\nusr b\nuser a off\nuser c +nope\nuser d >secret!x (+get\nuser e \"x\n",
      "users.acl");
  REQUIRE_FALSE(bad);
  CHECK(bad.error().text ==
        "users.acl:2: line should start with user keyword followed by the username. "
        "users.acl:3: Duplicate user 'a' found. A user can only be defined once in config files. "
        "users.acl:4: Unknown command or category name in ACL ('+nope'). "
        "users.acl:5: Unmatched parenthesis in selector definition. "
        "users.acl:6: unbalanced quotes in acl line. ");
  CHECK(users_.text() == "user default on nopass ~* &* +@all\n");
}

TEST_CASE_METHOD(AccessFixture, "users read anew tell whose rights have changed") {
  auto first = users_.read("user a on nopass +get\nuser b on\nuser c on\n", "f");
  CHECK(users_.replace_all(std::move(first).value()).empty());
  const auto a = users_.find("a");
  auto second = users_.read("user a on nopass +get\nuser b off\nuser default off\n", "f");
  std::vector<std::string> changed;
  for (const auto& user : users_.replace_all(std::move(second).value())) {
    changed.push_back(user->name());
  }
  CHECK(changed == std::vector<std::string>{"b", "default", "c"});
  CHECK(users_.find("a") == a);
  CHECK(users_.find("c") == nullptr);
  CHECK_FALSE(users_.default_user().is_on());
}

TEST_CASE_METHOD(AccessFixture, "requirepass is the default user's only password") {
  users_.set_default_password("foo");
  CHECK(users_.default_user().admits("foo"));
  CHECK_FALSE(users_.default_user().admits("bar"));
  users_.set_default_password("");
  CHECK(users_.default_user().needs_no_password());
}

TEST_CASE("the same refusal again within a minute is counted with the one before") {
  AccessLog log;
  const auto refuse = [&](std::string object, Instant when) {
    log.add(
        {AccessLog::Reason::key, AccessLog::Context::toplevel, std::move(object), "u", "", when});
  };
  refuse("a", Instant(10s));
  refuse("b", Instant(20s));
  refuse("a", Instant(70s));
  CHECK(log.entries().size() == 2);
  CHECK(log.entries().front().object == "a");
  CHECK(log.entries().front().count == 2);
  refuse("b", Instant(81s));
  CHECK(log.entries().size() == 3);
  log.set_entries_max(1);
  CHECK(log.entries().size() == 1);
  CHECK(log.entries().front().object == "b");
}

}  // namespace
}  // namespace redlock::protocol
