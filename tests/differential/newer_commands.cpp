#include "tests/differential/newer_commands.h"

#include "base/text/number.h"
#include "base/text/words.h"

#include <algorithm>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

constexpr NewerForm kForms[] = {
    {"DELIFEQ key value", "Valkey 9.0"},
    {"SET key value IFEQ other [GET] [EX …]", "Valkey 8.1, Redis 8.4"},
    {"SET key value IFNE other [GET] [EX …]", "Redis 8.4"},
    {"DELEX key [IFEQ value|IFNE value]", "Redis 8.4"},
    {"CLIENT SETINFO LIB-NAME|LIB-VER text", "Redis 7.2"},
    {"CLIENT NO-TOUCH ON|OFF", "Redis 7.2"},
};

// `is`: the key holds just ARGV[1]. A hash is the error that the documentation names.
constexpr std::string_view kDeleteIf = R"(
local old = redis.pcall('GET', KEYS[1])
if type(old) == 'table' and old.err then return redis.error_reply({}) end
if old == false then return 0 end
if (old == ARGV[1]) == (ARGV[2] == 'is') then return redis.call('DEL', KEYS[1]) end
return 0)";

constexpr std::string_view kWrongType =
    "'WRONGTYPE Operation against a key holding the wrong kind of value'";
constexpr std::string_view kNotString =
    "'ERR Key should be of string type if conditions are specified'";

// ARGV: the other value, is or is not, answer the old value or not, then SET's own words.
constexpr std::string_view kSetIf = R"(
local old = redis.pcall('GET', KEYS[1])
if type(old) == 'table' and old.err then return redis.error_reply(old.err) end
local is = old == ARGV[1]
if is == (ARGV[2] == 'is') then
  redis.call('SET', KEYS[1], unpack(ARGV, 4))
  if ARGV[3] == 'old' then return old end
  return redis.status_reply('OK')
end
if ARGV[3] == 'old' then return old end
return false)";

Words delete_if(const Words& request, std::string_view value, std::string_view condition,
                std::string_view wrong_type) {
  return {"EVAL",
          fmt::format(fmt::runtime(kDeleteIf), wrong_type),
          "1",
          request[1],
          std::string(value),
          std::string(condition)};
}

std::string condition_of(std::string_view option) {
  if (equals_ignoring_case(option, "IFEQ")) return "is";
  return equals_ignoring_case(option, "IFNE") ? "is not" : "";
}

std::optional<Words> delex(const Words& request) {
  if (request.size() == 2) return Words{"DEL", request[1]};
  if (request.size() != 4 || condition_of(request[2]).empty()) return std::nullopt;
  return delete_if(request, request[3], condition_of(request[2]), kNotString);
}

// What SET would refuse whatever the key holds, it refuses without the condition, too.
bool is_sound_ttl(std::string_view word) {
  constexpr std::int64_t kLongestSeconds = 1'000'000'000'000;
  const auto ttl = parse_int64(word);
  return (word.starts_with("<in ") && word.ends_with('>')) ||
         (ttl && *ttl > 0 && *ttl < kLongestSeconds);
}

struct SetForm {
  Words others;  // SET's words but the condition and GET
  std::string condition = {};
  std::string other_value = {};
  std::string ttl_option = {};  // as small letters
  bool answers_old = false;
  bool is_syntax_error = false;
  bool is_bad_ttl = false;
};

bool takes_value(std::string_view option) {
  const auto is = [option](std::string_view name) { return equals_ignoring_case(option, name); };
  return is("EX") || is("PX") || is("EXAT") || is("PXAT");
}

bool is_ttl_option(std::string_view option) {
  return takes_value(option) || equals_ignoring_case(option, "KEEPTTL");
}

// One option that is neither a condition nor GET; how many words it took.
std::size_t read_other(const Words& request, std::size_t i, SetForm& form) {
  const std::string option = lower_case(request[i]);
  const bool lacks_value = takes_value(option) && i + 1 == request.size();
  const bool is_second = !form.ttl_option.empty() && form.ttl_option != option;
  if (!is_ttl_option(option) || lacks_value || is_second) form.is_syntax_error = true;
  form.ttl_option = option;
  form.others.push_back(request[i]);
  if (!takes_value(option) || lacks_value) return 1;
  form.is_bad_ttl = !is_sound_ttl(request[i + 1]);
  form.others.push_back(request[i + 1]);
  return 2;
}

SetForm read_set(const Words& request) {
  SetForm form{.others = {request[2]}};
  for (std::size_t i = 3; i < request.size();) {
    const std::string condition = condition_of(request[i]);
    if (equals_ignoring_case(request[i], "GET")) {
      form.answers_old = true;
      ++i;
    } else if (condition.empty()) {
      i += read_other(request, i, form);
    } else {
      const bool has_value = i + 1 < request.size();
      if (!form.condition.empty() || !has_value) form.is_syntax_error = true;
      form.condition = condition;
      if (has_value) form.other_value = request[i + 1];
      i += 2;
    }
  }
  return form;
}

std::optional<Words> set(const Words& request) {
  const SetForm form = read_set(request);
  if (form.condition.empty()) return std::nullopt;
  if (form.is_syntax_error) return Words{"SET", request[1], "value", "NX", "XX"};
  Words words = {"SET", request[1]};  // a bad TTL is refused whatever the condition
  if (!form.is_bad_ttl) {
    words = {"EVAL",
             std::string(kSetIf),
             "1",
             request[1],
             form.other_value,
             form.condition,
             form.answers_old ? "old" : "status"};
  }
  words.insert(words.end(), form.others.begin(), form.others.end());
  return words;
}

Words say(std::string_view script, std::string text) {
  return {"EVAL", std::string(script), "0", std::move(text)};
}

bool has_blanks(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c < '!' || c > '~'; });
}

Words setinfo(const Words& request) {
  constexpr std::string_view kSayError = "return redis.error_reply(ARGV[1])";
  const std::string option = lower_case(request[2]);
  if (option != "lib-name" && option != "lib-ver") {
    return say(kSayError, fmt::format("ERR Unrecognized option '{}'", request[2].c_str()));
  }
  if (has_blanks(request[3])) {
    return say(kSayError,
               fmt::format("ERR {} cannot contain spaces, newlines or special characters.",
                           request[2].c_str()));
  }
  return say("return redis.status_reply(ARGV[1])", "OK");
}

std::optional<Words> client(const Words& request) {
  if (request.size() == 4 && equals_ignoring_case(request[1], "SETINFO")) return setinfo(request);
  if (request.size() == 3 && equals_ignoring_case(request[1], "NO-TOUCH")) {
    return Words{request[0], "NO-EVICT", request[2]};
  }
  return std::nullopt;
}

}  // namespace

std::span<const NewerForm> newer_forms() {
  return kForms;
}

bool is_newer_condition(std::string_view word) {
  return !condition_of(word).empty();
}

std::optional<Words> in_words_of_redis_7_0(const Words& request) {
  const std::string name = lower_case(request[0]);
  if (name == "delifeq" && request.size() == 3) {
    return delete_if(request, request[2], "is", kWrongType);
  }
  if (name == "delex") return delex(request);
  if (name == "set" && request.size() > 3) return set(request);
  if (name == "client") return client(request);
  return std::nullopt;
}

}  // namespace redlock::differential
