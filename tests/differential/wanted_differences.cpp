#include "tests/differential/wanted_differences.h"

#include "base/text/number.h"
#include "base/text/words.h"
#include "tests/differential/step.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

using protocol::Reply;
using protocol::Request;

bool is(Request request, std::string_view name) {
  return equals_ignoring_case(request[0], name);
}

bool is(Request request, std::string_view name, std::string_view second) {
  return is(request, name) && request.size() > 1 && equals_ignoring_case(request[1], second);
}

bool says(const Reply& reply, std::string_view text) {
  return reply.text().find(text) != std::string_view::npos;
}

bool is_error_of_both(const Reply& node, const Reply& redis, std::string_view text) {
  return node.is_error() && redis.is_error() && says(node, text) && says(redis, text);
}

// Lua's own complaints: "attempt to …", "bad argument …".
bool is_lua_error(const Reply& reply) {
  return reply.is_error() && says(reply, "user_script:");
}

bool agree_but_for_case(const Reply& node, const Reply& redis) {
  if (node.items().size() != redis.items().size()) return false;
  for (std::size_t i = 0; i < node.items().size(); ++i) {
    if (!equals_ignoring_case(node.items()[i].text(), redis.items()[i].text())) return false;
  }
  return true;
}

// What Redis's Lua makes of an integer on its way through a double, on x86-64.
std::int64_t through_double(std::int64_t number) {
  constexpr double kTooLarge = 9223372036854775808.0;
  const auto rounded = static_cast<double>(number);
  return rounded >= kTooLarge ? INT64_MIN : static_cast<std::int64_t>(rounded);
}

bool agree_as_doubles(const Reply& node, const Reply& redis) {
  if (node.kind() != redis.kind()) return false;
  if (node.is(Reply::Kind::integer)) return through_double(node.integer()) == redis.integer();
  if (!node.is_aggregate()) return node == redis;
  return std::equal(node.items().begin(), node.items().end(), redis.items().begin(),
                    redis.items().end(), agree_as_doubles);
}

// Whether one number of the text, written as Lua 5.1 writes it, makes the other text of it:
// "v372036854775807" and "v3.7203685477581e+14".
bool rounds_to(std::string_view exact, std::string_view rounded) {
  for (std::size_t begin = 0; begin < exact.size(); ++begin) {
    const std::size_t found = exact.find_first_not_of("0123456789", begin + 1);
    const std::size_t end = std::min(found, exact.size());
    const auto number = parse_int64(exact.substr(begin, end - begin));
    if (!number) continue;
    const std::string as_written = fmt::format("{:.14g}", static_cast<double>(*number));
    if (fmt::format("{}{}{}", exact.substr(0, begin), as_written, exact.substr(end)) == rounded) {
      return true;
    }
  }
  return false;
}

bool agree_but_for_long_numbers(const Reply& node, const Reply& redis) {
  if (node == redis) return true;
  if (node.kind() != redis.kind()) return false;
  if (node.is(Reply::Kind::bulk)) return rounds_to(node.text(), redis.text());
  return node.is_aggregate() &&
         std::equal(node.items().begin(), node.items().end(), redis.items().begin(),
                    redis.items().end(), agree_but_for_long_numbers);
}

// A user's line without its rules about commands, and what he is told to be of RESTORE.
std::string without_command_rules(std::string_view line) {
  std::string kept;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    const bool is_left_out =
        word.starts_with('+') || word.starts_with('-') || word == "sanitize-payload";
    if (is_left_out) word = word.ends_with(')') ? ")" : "";
    if (!word.empty()) kept += fmt::format("{} ", word);
  }
  return kept;
}

bool agree_but_for_command_rules(const Reply& node, const Reply& redis) {
  if (node.kind() != redis.kind()) return false;
  if (!node.is_aggregate()) {
    return without_command_rules(node.text()) == without_command_rules(redis.text());
  }
  return std::equal(node.items().begin(), node.items().end(), redis.items().begin(),
                    redis.items().end(), agree_but_for_command_rules);
}

// GETUSER's flags without that of RESTORE.
bool agree_on_flags(const Reply& node, const Reply& redis) {
  std::vector<std::string_view> flags;
  for (const Reply& flag : redis.items()) {
    if (flag.text() != "sanitize-payload") flags.push_back(flag.text());
  }
  return std::equal(node.items().begin(), node.items().end(), flags.begin(), flags.end(),
                    [](const Reply& a, std::string_view b) { return a.text() == b; });
}

bool agree_on_user(const Reply& node, const Reply& redis) {
  if (node.kind() != redis.kind() || node.items().size() != redis.items().size()) return false;
  for (std::size_t i = 0; i < node.items().size(); ++i) {
    const Reply& ours = node.items()[i];
    const Reply& theirs = redis.items()[i];
    const std::string_view of = i % 2 == 1 ? node.items()[i - 1].text() : "";
    const bool same = of == "flags"      ? agree_on_flags(ours, theirs)
                      : of == "commands" ? ours.is(theirs.kind())
                      : of == "selectors"
                          ? std::equal(ours.items().begin(), ours.items().end(),
                                       theirs.items().begin(), theirs.items().end(), agree_on_user)
                          : ours == theirs;
    if (!same) return false;
  }
  return true;
}

constexpr WantedDifference kTable[] = {
    {"A TTL above max-ttl", "SET k v; PEXPIRE k 4000000000000",
     "-ERR a TTL of 4000000000000 ms is above this node's max-ttl (3153600000000 ms), and above "
     "any "
     "that a node can have (36500d): ask for less",
     "(integer) 1", "A lock's time is bounded, or no restart could wait for it (rule L1).",
     [](Request, const Reply& node, const Reply&) {
       return node.is_error() && says(node, "is above this node's max-ttl");
     }},
    {"Commands that a lock node has no use for", "LPUSH list a",
     "-ERR unknown command 'LPUSH', with args beginning with: 'list' 'a' ", "(integer) 1",
     "This is no database: lists, sets, sorted sets, streams, persistence and replication are not "
     "served. Neither are EVAL_RO, FCALL, OBJECT FREQ's policies and CLIENT TRACKING. COMMAND "
     "does not know them.",
     [](Request request, const Reply& node, const Reply&) {
       return is(request, "COMMAND", "GETKEYS") && request.size() > 3 &&
              (equals_ignoring_case(request[2], "SAVE") ||
               equals_ignoring_case(request[2], "SYNC")) &&
              says(node, "Invalid command specified");
     }},
    {"Scripts that are known from the start",
     "EVALSHA e950836ed1e694540c503ef9972b8de518044d3b 1 k v", "(integer) -1",
     "-NOSCRIPT No matching script. Please use EVAL.",
     "A restarted node must answer the release scripts of lock libraries at once: some take "
     "NOSCRIPT "
     "for \"not released\".",
     [](Request request, const Reply& node, const Reply& redis) {
       return is(request, "EVALSHA") && !node.is_error() && says(redis, "NOSCRIPT");
     }},
    {"The version", "EVAL \"return redis.REDIS_VERSION\" 0", "\"7.2.4\"", "\"7.0.15\"",
     "It says what clients may send: what 7.2 brought to a lock is served.",
     [](Request, const Reply& node, const Reply& redis) {
       return node.text() == "7.2.4" && redis.text().starts_with("7.0.");
     }},
    {"HELP", "SCRIPT HELP", "…", "…", "Our own words for what is served here.",
     [](Request request, const Reply& node, const Reply& redis) {
       return request.size() == 2 && equals_ignoring_case(request[1], "HELP") &&
              node.kind() == redis.kind() && node.is_aggregate();
     }},
    {"Compile errors of scripts", "EVAL \"return (\" 0",
     "-ERR Error compiling script (new function): user_script:1: unexpected symbol near <eof>",
     "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'",
     "Scripts are Lua 5.4, in Redis Lua 5.1; the parsers word their complaints differently.",
     [](Request, const Reply& node, const Reply& redis) {
       return is_error_of_both(node, redis, "Error compiling script");
     }},
    {"Lua's own errors", "EVAL \"return ('x').y.z\" 0",
     "-ERR user_script:1: attempt to index a nil value (field 'y') script: "
     "81f4c558fa5a3e6bcdb0c5ac05d8a9df5ece925b, on @user_script:1.",
     "-ERR user_script:1: attempt to index field 'y' (a nil value) script: "
     "81f4c558fa5a3e6bcdb0c5ac05d8a9df5ece925b, on @user_script:1.",
     "The same, of the interpreter.",
     [](Request, const Reply& node, const Reply& redis) {
       return is_lua_error(node) && is_lua_error(redis) &&
              (is_error_of_both(node, redis, "attempt to ") ||
               is_error_of_both(node, redis, "bad argument "));
     }},
    {"Numbers in a script's texts", "EVAL \"return 'a' .. 10/2\" 0", "\"a5.0\"", "\"a5\"",
     "In Lua 5.4 a quotient is a float, and its text says so. An integer's text has all of its "
     "digits; Lua 5.1 writes no more than 14 of them, as in 9.2233720368548e+18.",
     [](Request request, const Reply& node, const Reply& redis) {
       return is(request, "EVAL") && agree_but_for_long_numbers(node, redis);
     }},
    {"Large integers in a script",
     "SET k 9007199254740992; EVAL \"return redis.call('INCR', KEYS[1])\" 1 k",
     "(integer) 9007199254740993", "(integer) 9007199254740992",
     "Redis's scripts count in doubles: from 2^53 on they round, and what rounds to 2^63 wraps to "
     "-2^63. Here integers of 64 bits stay exact.",
     [](Request request, const Reply& node, const Reply& redis) {
       return is(request, "EVAL") && agree_as_doubles(node, redis);
     }},
    {"OBJECT REFCOUNT inside EXEC", "MULTI; SET k v; OBJECT REFCOUNT k; EXEC", "[+OK, (integer) 1]",
     "[+OK, (integer) 2]", "In Redis the queued SET holds on to its value until EXEC is done.",
     [](Request request, const Reply& node, const Reply& redis) {
       const bool asks_in_script = is(request, "EVAL") && request.size() > 1 &&
                                   lower_case(request[1]).find("refcount") != std::string::npos;
       return (asks_in_script || is(request, "OBJECT", "REFCOUNT")) && node == Reply::integer(1) &&
              redis == Reply::integer(2);
     }},
    {"What a script has besides", "EVAL \"return cjson.encode({1})\" 0",
     "-ERR user_script:1: Script attempted to access nonexistent global variable 'cjson' script: "
     "5bf93d7797dce1decd86a005186026098efb73fd, on @user_script:1.",
     "\"[1]\"", "No cjson, cmsgpack and struct: lock scripts do without.",
     [](Request, const Reply&, const Reply&) { return false; }},
    {"Settings that are as they are", "CONFIG SET appendonly yes",
     "-ERR CONFIG SET failed (possibly related to argument 'appendonly') - locks are not kept in "
     "an "
     "AOF: see dir and restart-delay",
     "+OK", "CONFIG GET tells clients what they ask about; what has no meaning here is not set.",
     [](Request, const Reply&, const Reply&) { return false; }},
    {"Rules about commands, as they are told", "ACL SETUSER ann +get +@string; ACL GETUSER ann",
     "[\"flags\", [\"off\"], \"passwords\", [], \"commands\", \"-@all +get +@string\", \"keys\", "
     "\"\", "
     "\"channels\", \"\", \"selectors\", []]",
     "[\"flags\", [\"off\"], \"passwords\", [], \"commands\", \"-@all +@string\", \"keys\", \"\", "
     "\"channels\", \"\", \"selectors\", []]",
     "In the order in which they were given, as Redis tells them from 7.2 on; Redis 7.0 looks for "
     "categories that come to the same. What they allow is compared: by ACL DRYRUN, by what users "
     "do, and ACL CAT category by category.",
     [](Request request, const Reply& node, const Reply& redis) {
       return (is(request, "ACL", "GETUSER") && agree_on_user(node, redis)) ||
              (is(request, "ACL", "LIST") && agree_but_for_command_rules(node, redis));
     }},
    {"A user's flags", "ACL SETUSER ann reset; ACL LIST",
     "[\"user ann off resetchannels -@all\", \"user default on nopass ~* &* +@all\"]",
     "[\"user ann off sanitize-payload resetchannels -@all\", \"user default on nopass ~* &* "
     "+@all\"]",
     "sanitize-payload is about RESTORE, which a lock node does not have.",
     [](Request, const Reply&, const Reply&) { return false; }},
    {"Quotes in a user's line", "ACL SETUSER ann \"~it's\"; ACL LIST",
     "[\"user ann off \\\"~it's\\\" resetchannels -@all\", \"user default on nopass ~* &* +@all\"]",
     "[\"user ann off ~it's resetchannels -@all\", \"user default on nopass ~* &* "
     "+@all\"]",
     "A line is told as a file of users has it, and is read back as the same.",
     [](Request, const Reply&, const Reply&) { return false; }},
    {"The names of settings", "CONFIG GET TIMEOUT", "[\"timeout\", \"0\"]", "[\"TIMEOUT\", \"0\"]",
     "A setting is told by its own name; Redis repeats the client's.",
     [](Request request, const Reply& node, const Reply& redis) {
       return is(request, "CONFIG", "GET") && agree_but_for_case(node, redis);
     }},
};

}  // namespace

std::span<const WantedDifference> wanted_differences() {
  return kTable;
}

const WantedDifference* wanted_difference(Request request, const Reply& node, const Reply& redis) {
  for (const WantedDifference& known : kTable) {
    if (known.covers(request, node, redis)) return &known;
  }
  return nullptr;
}

}  // namespace redlock::differential
