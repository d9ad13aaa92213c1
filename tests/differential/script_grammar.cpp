#include "tests/differential/script_grammar.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

// No float that Lua 5.4 writes otherwise than 5.1: 1e3 is "1000.0" there.
constexpr std::string_view kConstants[] = {"nil", "true", "false", "0",     "1",
                                           "-1",  "42",   "3.7",   "-3.7",  "'text'",
                                           "''",  "{}",   "#KEYS", "#ARGV", "'\\0\\255'"};
constexpr std::string_view kInputs[] = {"KEYS[1]", "KEYS[2]", "ARGV[1]", "ARGV[2]", "ARGV[9]"};
constexpr std::string_view kOperators[] = {"==", "~=", "and", "or", ".."};
constexpr std::string_view kReplies[] = {
    "redis.error_reply('My Err')",
    "redis.error_reply('-MYCODE with a code')",
    "redis.status_reply('FINE')",
    "{ok='STATUS'}",
    "{err='ERR of a table'}",
    "{1, 2, {3, 'four'}, {}}",
    "{1, nil, 3}",
    "{1, 3.99, 'x', true, false}",
    "{double=3.5}",
    "{map={a=1}}",
    "{set={a=true}}",
    "{big_number={'1'}}",
    "redis.sha1hex(ARGV[1] or '')",
    "tostring(redis.call('PTTL', KEYS[1] or 'k') > 0)",
    "{redis.call('GET', KEYS[1] or 'k')}",
    "redis.setresp(3)",
    "{redis.setresp(2)}",
    "redis.call()",
    "redis.call('GET')",
    "redis.call('NOSUCH', 'x')",
    "redis.call('GET', 1, 2)",
    "redis.call('SET', KEYS[1] or 'k', 1.5)",
    "redis.call('SET', KEYS[1] or 'k', 10)",
    "redis.call('GET', {})",
    "redis.pcall('NOSUCH')",
    "redis.pcall('INCR', KEYS[1] or 'k').err",
    "type(redis.pcall('INCR', KEYS[1] or 'k'))",
    "select(2, pcall(redis.call, 'NOSUCH'))",
    "error('thrown')",
    "error({err='ERR thrown table'})",
    "nosuchglobal",
    "redis.log(redis.LOG_DEBUG, 'said')",
    "tonumber(ARGV[1] or 'x')",
    "math.max(1, 2)",
    "math.floor(3.7)",
    "string.sub('lock', 2, 3)",
    "string.format('%s-%d', 'a', 7)",
    "string.rep('ab', 3)",
    "table.concat({'a', 'b'}, ',')",
    "unpack({1, 2})",
    "#{1, 2, 3}",
    "next({}) == nil",
    "tostring(nil)",
    "tostring(12)",
    "10 % 3",
    "-7 % 3",
    "5 - 3 * 2",
};
// As libraries send them; KEYS[1], and ARGV[1] for a value.
constexpr std::string_view kLibraryScripts[] = {
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 "
    "end",
    "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],3600000) "
    "else "
    "return 0 end",
    "if redis.call('setnx',KEYS[1],ARGV[1]) == 1 then redis.call('pexpire',KEYS[1],7200000) return "
    "1 "
    "else return redis.call('pttl',KEYS[1]) end",
    "local t = redis.call('pttl',KEYS[1]) if t < 0 then return 0 end redis.call('pexpire',KEYS[1],"
    "t + 3600000) return redis.call('pttl',KEYS[1])",
    "if (redis.call('exists', KEYS[1]) == 0) then redis.call('hincrby', KEYS[1], ARGV[1], 1); "
    "redis.call('pexpire', KEYS[1], 3600000); return nil; end; if (redis.call('hexists', KEYS[1], "
    "ARGV[1]) == 1) then redis.call('hincrby', KEYS[1], ARGV[1], 1); redis.call('pexpire', "
    "KEYS[1], "
    "3600000); return nil; end; return redis.call('pttl', KEYS[1]);",
    "if (redis.call('hexists', KEYS[1], ARGV[1]) == 0) then return nil; end; local counter = "
    "redis.call('hincrby', KEYS[1], ARGV[1], -1); if (counter > 0) then redis.call('pexpire', "
    "KEYS[1], 3600000); return 0; else redis.call('del', KEYS[1]); redis.call('publish', 'news', "
    "ARGV[1]); return 1; end; return nil;",
    "local c = redis.call('incr', KEYS[1]) if c == 1 then redis.call('expire', KEYS[1], 3600) end "
    "return c",
};

bool is_beyond_doubles(const std::string& word) {
  constexpr std::size_t kExactDigits = 15;
  const std::string_view digits = std::string_view(word).substr(word.starts_with('-') ? 1 : 0);
  return digits.size() > kExactDigits &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string lua_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_odd = byte < ' ' || byte >= 0x7f || c == '\'' || c == '\\';
    if (is_odd) {
      out += fmt::format("\\{:03}", byte);
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string ScriptGrammar::call() {
  Words request = make_request_();
  // Less than nothing, so that it is no TTL that runs out in between.
  if (compares_) std::replace_if(request.begin(), request.end(), is_beyond_doubles, "-9");
  std::string text = words_.chance(80) ? "redis.call(" : "redis.pcall(";
  for (std::size_t i = 0; i < request.size(); ++i) {
    if (i > 0) text += ", ";
    const bool takes_key = i == 1 && words_.chance(40);
    text += takes_key ? "KEYS[1] or 'k'" : lua_quoted(request[i]);
  }
  return text + ")";
}

std::string ScriptGrammar::table(int depth) {
  std::string text = "{";
  const std::size_t count = words_.below(4);
  for (std::size_t i = 0; i < count; ++i) text += expression(depth + 1) + ", ";
  return text + "}";
}

std::string ScriptGrammar::expression(int depth) {
  constexpr int kDeepest = 3;
  const std::size_t choice = words_.below(depth < kDeepest ? 10 : 4);
  if (choice < 2) return words_.pick(kConstants);
  if (choice < 4) return words_.pick(kInputs);
  if (choice < 6) return words_.pick(kReplies);
  if (choice < 8) return call();
  if (choice < 9) return table(depth);
  const std::string operation = words_.pick(kOperators);
  // A text is compared byte by byte, so that no TTL may be a part of it: it has no calls.
  const int inner = operation == ".." ? kDeepest : depth + 1;
  const std::string left = expression(inner);
  return fmt::format("({} {} {})", left, operation, expression(inner));
}

// Lua 5.1 has no integers: beyond 2^53 numbers are equal to it that are not. What a script answers
// is compared with that in mind, but not what it decides upon.
std::string ScriptGrammar::condition() {
  compares_ = true;
  const std::string left = expression(2);
  const std::string_view operation = words_.chance(70) ? "==" : "~=";
  std::string text = fmt::format("{} {} {}", left, operation, expression(2));
  compares_ = false;
  return text;
}

std::string ScriptGrammar::statement(int depth) {
  constexpr int kDeepest = 2;
  switch (words_.below(depth < kDeepest ? 5 : 2)) {
    case 0:
      return fmt::format("local v{} = {} ", ++locals_, expression(1));
    case 1:
      return fmt::format("local v{} = {} ", ++locals_, call());
    case 2:
      return fmt::format("if {} then {} end ", condition(),
                         words_.chance(50) ? "return " + expression(1) : statement(depth + 1));
    case 3:
      return fmt::format("for i = 1, {} do {} end ", words_.below(4), statement(depth + 1));
    default:
      return fmt::format("if {} then {} else {} end ", condition(), statement(depth + 1),
                         statement(depth + 1));
  }
}

std::string ScriptGrammar::returned() {
  if (words_.chance(10)) return "";
  if (locals_ > 0 && words_.chance(30)) {
    return fmt::format("return v{}", 1 + words_.below(static_cast<std::size_t>(locals_)));
  }
  return "return " + expression(0);
}

std::string ScriptGrammar::known_script() {
  return words_.pick(kLibraryScripts);
}

Words ScriptGrammar::eval() {
  locals_ = 0;
  std::string script;
  const bool is_known = words_.chance(40);
  if (is_known) {
    script = known_script();
  } else {
    const std::size_t count = words_.below(4);
    for (std::size_t i = 0; i < count; ++i) script += statement(0);
    script += returned();
  }
  const std::size_t keys = is_known ? 1 : words_.below(3);
  Words request = {words_.in_any_case("EVAL"), std::move(script), std::to_string(keys)};
  for (std::size_t i = 0; i < keys; ++i) request.push_back(words_.key());
  const std::size_t arguments = is_known ? 1 : words_.below(3);
  for (std::size_t i = 0; i < arguments; ++i) request.push_back(words_.value());
  if (words_.chance(4)) request[2] = words_.number();
  return request;
}

}  // namespace redlock::differential
