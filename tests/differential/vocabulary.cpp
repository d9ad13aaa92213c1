#include "tests/differential/vocabulary.h"

#include "base/text/number.h"
#include "base/text/words.h"

#include <algorithm>
#include <array>

namespace redlock::differential {
namespace {

using namespace std::string_view_literals;
using protocol::SyntaxArgument;
using Type = SyntaxArgument::Type;

constexpr std::string_view kKeys[] = {
    "k"sv,   "a"sv, "b"sv,          "lock:1"sv, "lock:2"sv, "{tag}x"sv,   "h"sv,
    "h:2"sv, ""sv,  "\0\xff\r\n"sv, "*"sv,      "k[1]"sv,   "user:1000"sv};
constexpr std::size_t kCommonKeys = 5;

constexpr std::string_view kValues[] = {
    "alice"sv,
    "bob"sv,
    "1"sv,
    ""sv,
    "0"sv,
    "-1"sv,
    "10"sv,
    "9999"sv,
    "10000"sv,
    "3.14"sv,
    "\0\x01\x7f\x80\xff"sv,
    "two words"sv,
    "\r\n"sv,
    "9223372036854775807"sv,
    "-9223372036854775808"sv,
    "9223372036854775808"sv,
    " 7"sv,
    "7 "sv,
    "+7"sv,
    "007"sv,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"sv,    // 44 bytes: the longest short string
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"sv};  // of Redis, and one more
constexpr std::size_t kCommonValues = 3;

constexpr std::string_view kNumbers[] = {"0"sv,
                                         "1"sv,
                                         "-1"sv,
                                         "2"sv,
                                         "5"sv,
                                         "10"sv,
                                         "-10"sv,
                                         "100"sv,
                                         "9223372036854775807"sv,
                                         "-9223372036854775808"sv,
                                         "9223372036854775808"sv,
                                         "-9223372036854775809"sv,
                                         "99999999999999999999"sv,
                                         "2147483647"sv,
                                         "2147483648"sv,
                                         "-2147483648"sv,
                                         "4294967296"sv,
                                         "1.5"sv,
                                         "abc"sv,
                                         ""sv,
                                         " 1"sv,
                                         "1 "sv,
                                         "+1"sv,
                                         "01"sv,
                                         "-0"sv,
                                         "0x10"sv,
                                         "1e3"sv,
                                         "nan"sv};
constexpr std::size_t kCommonNumbers = 7;

constexpr std::string_view kFields[] = {"f"sv,      "g"sv, "owner:1"sv, ""sv,
                                        "\0\xfe"sv, "1"sv, "mode"sv};
constexpr std::string_view kChannels[] = {
    "news"sv, "redisson_lock__channel:{k}"sv, "c1"sv, ""sv, "\0"sv, "c[1]"sv};
constexpr std::string_view kPatterns[] = {
    "*"sv,   "k*"sv,      "?"sv, "[a-c]"sv, "h*"sv,     "lock:[12]"sv, "*:*"sv, "[^a]"sv,
    "\\*"sv, "no-such"sv, ""sv,  "n*s"sv,   "k\\[1]"sv, "[b-a]"sv,     "[a"sv,  "**"sv};

constexpr std::int64_t kSafeTtlMax = 3'000'000'000;  // above: over the edge of what is taken

// Refused by all, or over at once.
constexpr std::string_view kOddTtls[] = {"0"sv,
                                         "-1"sv,
                                         "-3600"sv,
                                         "abc"sv,
                                         ""sv,
                                         "1.5"sv,
                                         "9223372036854775807"sv,
                                         "-9223372036854775808"sv,
                                         "9223372036854775808"sv,
                                         " 5"sv};

struct TtlCommand {
  std::string_view name;
  std::size_t value_at;  // a word that is no TTL whatever it looks like; 0: none
};
constexpr TtlCommand kTtlCommands[] = {{"set", 2},      {"setex", 3},    {"psetex", 3},
                                       {"getex", 0},    {"expire", 0},   {"pexpire", 0},
                                       {"expireat", 0}, {"pexpireat", 0}};

const TtlCommand* ttl_command(const Words& words) {
  const std::string name = lower_case(words[0]);
  const auto* found = std::find_if(std::begin(kTtlCommands), std::end(kTtlCommands),
                                   [&](const TtlCommand& command) { return command.name == name; });
  return found == std::end(kTtlCommands) ? nullptr : found;
}

bool is_at_form(const Words& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const std::string option = lower_case(word);
    return option == "exat" || option == "pxat" || option == "expireat" || option == "pexpireat";
  });
}

// Ends soon as milliseconds, or is above a node's largest max-ttl as seconds.
bool is_risky_ttl(std::int64_t ttl, bool is_at) {
  constexpr std::int64_t kSoon = 3'000'000;
  constexpr std::int64_t kOverflows = 9'223'372'036'854'775'807;
  if (ttl > kSafeTtlMax) return is_at || ttl != kOverflows;
  return ttl > 0 && ttl < kSoon && !is_at;
}

void make_ttl_safe(Words& words, const TtlCommand& command) {
  const bool is_at = is_at_form(words);
  for (std::size_t i = 2; i < words.size(); ++i) {
    const auto number = parse_int64(words[i]);
    if (number && i != command.value_at && is_risky_ttl(*number, is_at)) words[i] = "3600000";
  }
}

// A wait that both servers end.
void make_wait_safe(std::string& word) {
  constexpr std::int64_t kLongest = 20;
  const auto ms = parse_int64(word);
  if (ms && (*ms == 0 || *ms > kLongest)) word = "10";
}

// A number behind these is a moment since 1970, and most are past.
bool tells_moment(const std::string& word) {
  constexpr std::string_view kMoments[] = {"EXAT", "PXAT", "EXPIREAT", "PEXPIREAT"};
  return std::any_of(std::begin(kMoments), std::end(kMoments), [&word](std::string_view moment) {
    return equals_ignoring_case(word, moment);
  });
}

}  // namespace

std::string Vocabulary::pick(std::span<const std::string_view> words) {
  return std::string(words[random_.below(words.size())]);
}

std::string Vocabulary::key() {
  return pick(chance(85) ? std::span(kKeys).first(kCommonKeys) : std::span(kKeys));
}

std::string Vocabulary::value() {
  return pick(chance(50) ? std::span(kValues).first(kCommonValues) : std::span(kValues));
}

std::string Vocabulary::number() {
  return pick(chance(60) ? std::span(kNumbers).first(kCommonNumbers) : std::span(kNumbers));
}

std::string Vocabulary::field() {
  return pick(kFields);
}

std::string Vocabulary::channel() {
  return pick(kChannels);
}

std::string Vocabulary::pattern() {
  return pick(kPatterns);
}

std::string Vocabulary::seconds() {
  return chance(80) ? std::to_string(3600 * (1 + random_.below(24))) : pick(kOddTtls);
}

std::string Vocabulary::milliseconds() {
  return chance(80) ? std::to_string(3'600'000 * (1 + random_.below(24))) : pick(kOddTtls);
}

std::string Vocabulary::argument(const SyntaxArgument& argument) {
  const std::string& name = argument.name;
  if (argument.type == Type::key) return key();
  if (argument.type == Type::pattern) return pattern();
  if (argument.type == Type::unix_time) {
    const bool is_ms = name.find("milliseconds") != std::string::npos;
    if (chance(20)) return pick(kOddTtls);
    const std::int64_t s =
        chance(70) ? 3600 * static_cast<std::int64_t>(1 + random_.below(24)) : -10;
    return is_ms ? moment_in_ms(s * 1000) : moment_in_s(s);
  }
  if (name == "seconds") return seconds();
  if (name == "milliseconds") return milliseconds();
  if (name == "cursor") return std::string(chance(90) ? kToTheEnd : "abc"sv);
  if (name == "field") return field();
  if (name == "channel" || name == "shardchannel") return channel();
  if (name == "sha1") return "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
  return argument.type == Type::integer ? number() : value();
}

void Vocabulary::make_order_certain(Words& words) {
  constexpr std::int64_t kStepSeconds = 7;  // all others are whole hours
  const bool is_compared = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return equals_ignoring_case(word, "GT") || equals_ignoring_case(word, "LT");
  });
  if (!is_compared || words.size() < 3 || ttl_command(words) == nullptr) return;
  const bool is_ms = equals_ignoring_case(words[0], "PEXPIRE");
  const std::int64_t more = ++compared_ttls_ * kStepSeconds;
  const auto moved = [more](std::int64_t ttl, bool counts_ms) {
    return ttl > 0 && ttl < kSafeTtlMax ? ttl + (counts_ms ? more * 1000 : more) : ttl;
  };
  std::string& word = words[2];
  if (const auto number = parse_int64(word)) {
    word = std::to_string(moved(*number, is_ms));
  } else if (const auto ms = moment_of(word, "ms>")) {
    word = moment_in_ms(moved(*ms, true));
  } else if (const auto s = moment_of(word, "s>")) {
    word = moment_in_s(moved(*s, false));
  }
}

std::string Vocabulary::in_any_case(std::string_view word) {
  const std::string lower = lower_case(word);
  if (chance(40)) return lower;
  std::string out(word);
  if (chance(50)) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (chance(50)) out[i] = lower[i];
  }
  return out;
}

void make_safe(Words& words) {
  if (const TtlCommand* command = ttl_command(words)) make_ttl_safe(words, *command);
  const std::string name = lower_case(words[0]);
  const std::string second = words.size() > 1 ? lower_case(words[1]) : "";
  if (name == "wait" && words.size() > 2) make_wait_safe(words[2]);
  if (name == "client" && second == "pause" && words.size() > 2) make_wait_safe(words[2]);
  if (name == "client" && second == "kill" && words.size() > 3) {  // nobody who is there
    words.insert(words.end(), {"ID", "999999999"});
  }
  if (name == "acl" && (second == "save" || second == "load")) words[1] = "help";  // not compared
}

bool may_be_over(const Words& words) {
  constexpr std::int64_t kLongTtl = 3'000'000;
  constexpr std::int64_t kPast = 1'000'000'000;
  const bool is_moment = std::any_of(words.begin(), words.end(), tells_moment);
  const std::int64_t least = is_moment ? kPast : kLongTtl;
  return ttl_command(words) != nullptr && words.size() > 2 &&
         std::any_of(words.begin() + 2, words.end(), [least](const std::string& word) {
           const auto number = parse_int64(word);
           return word.starts_with("<in -") || (number && *number < least);
         });
}

}  // namespace redlock::differential
