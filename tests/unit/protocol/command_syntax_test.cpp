#include "protocol/catalogue/command_syntax.h"

#include <catch2/catch.hpp>

using namespace redlock::protocol;

namespace {

std::string tell(const std::vector<SyntaxArgument>& arguments);

// An argument in one line: "TOKEN name:type(within)" and what may be said of it: ? optional, +
// multiple, +T with its token.
std::string tell(const SyntaxArgument& argument) {
  std::string out = argument.token.empty() ? "" : argument.token + " ";
  if (argument.is_group()) {
    out += std::string(type_name(argument.type)) + "(" + tell(argument.arguments) + ")";
  } else {
    out += argument.name + ":" + std::string(type_name(argument.type));
  }
  if (argument.is_optional) out += "?";
  if (argument.is_multiple) out += argument.repeats_token ? "+T" : "+";
  return out;
}

std::string tell(const std::vector<SyntaxArgument>& arguments) {
  std::string out;
  for (const auto& argument : arguments) {
    if (!out.empty()) out += ", ";
    out += tell(argument);
  }
  return out;
}

std::string parsed(std::string_view syntax) {
  const auto arguments = parse_command_syntax(syntax);
  return arguments ? tell(arguments.value()) : arguments.error().text;
}

}  // namespace

TEST_CASE("plain names are arguments that must be there, typed by their names") {
  CHECK(parsed("").empty());
  CHECK(parsed("key value") == "key:key, value:string");
  CHECK(parsed("key seconds") == "key:key, seconds:integer");
  CHECK(parsed("pattern") == "pattern:pattern");
  CHECK(parsed("key unix-time-seconds") == "key:key, unix-time-seconds:unix-time");
}

TEST_CASE("a token stands before the arguments that belong to it") {
  CHECK(parsed("PX ttl") == "PX ttl:integer");
  CHECK(parsed("AUTH username password") == "AUTH block(username:string, password:string)");
  CHECK(parsed("key [GET]") == "key:key, GET get:pure-token?");
  CHECK(parsed("[TYPE <NORMAL|PUBSUB>]") ==
        "TYPE oneof(NORMAL normal:pure-token, PUBSUB pubsub:pure-token)?");
}

TEST_CASE("bars part alternatives, over the whole of their brackets") {
  CHECK(parsed("<ON|OFF>") == "oneof(ON on:pure-token, OFF off:pure-token)");
  CHECK(parsed("ON|OFF") == "oneof(ON on:pure-token, OFF off:pure-token)");
  CHECK(parsed("[EX seconds|PX milliseconds|KEEPTTL]") ==
        "oneof(EX seconds:integer, PX milliseconds:integer, KEEPTTL keepttl:pure-token)?");
  CHECK(parsed("[ a b | c ]") == "oneof(block(a:string, b:string), c:string)?");
}

TEST_CASE("three dots repeat") {
  CHECK(parsed("[key ...]") == "key:key?+");
  CHECK(parsed("key [key ...]") == "key:key+");
  CHECK(parsed("key value [key value ...]") == "block(key:key, value:string)+");
  CHECK(parsed("key field value [field value ...]") ==
        "key:key, block(field:string, value:string)+");
  CHECK(parsed("[ID client-id [client-id ...]]") == "ID client-id:integer?+");
  CHECK(parsed("[PREFIX prefix [PREFIX prefix ...]]") == "PREFIX prefix:string?+T");
  CHECK(parsed("FIELDS count field [field ...]") == "FIELDS block(count:integer, field:string+)");
  CHECK(parsed("[<a|b> ...]") == "oneof(a:string, b:string)?+");
}

TEST_CASE("the commands of a lock node read as Redis tells them") {
  CHECK(parsed("key value [NX|XX] [GET] [EX seconds|PX milliseconds|EXAT unix-time-seconds|"
               "PXAT unix-time-milliseconds|KEEPTTL]") ==
        "key:key, value:string, oneof(NX nx:pure-token, XX xx:pure-token)?, GET get:pure-token?, "
        "oneof(EX seconds:integer, PX milliseconds:integer, EXAT unix-time-seconds:unix-time, "
        "PXAT unix-time-milliseconds:unix-time, KEEPTTL keepttl:pure-token)?");
  CHECK(parsed("script numkeys [key [key ...]] [arg [arg ...]]") ==
        "script:string, numkeys:integer, key:key?+, arg:string?+");
  CHECK(parsed("[protover [AUTH username password] [SETNAME clientname]]") ==
        "block(protover:integer, AUTH block(username:string, password:string)?, "
        "SETNAME clientname:string?)?");
  CHECK(parsed("key value PX ttl [TOKEN fencing-token]") ==
        "key:key, value:string, PX ttl:integer, TOKEN fencing-token:string?");
}

TEST_CASE("a line that is broken is told with what is wrong in it") {
  CHECK(parsed("key [value") == "in the syntax 'key [value' a [ is not closed");
  CHECK(parsed("<a|b") == "in the syntax '<a|b' a < is not closed");
  for (const char* syntax :
       {"]", "key ]", ">", "[]", "[a|]", "|", "a|", "...", "key ...", "[a>", "< >"}) {
    CAPTURE(syntax);
    CHECK_FALSE(parse_command_syntax(syntax));
  }
}
