#include "tests/differential/scenes.h"

#include "base/invariant.h"
#include "base/text/words.h"
#include "tests/differential/comparison.h"
#include "tests/differential/newer_commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace redlock::differential {
namespace {

using namespace std::string_view_literals;
using protocol::SyntaxArgument;
using Type = SyntaxArgument::Type;

constexpr std::string_view kEvents[] = {"KEA"sv, "Kg$h"sv, "Ex"sv, "AKE"sv, "K$"sv, ""sv,
                                        "Eg"sv,  "xE"sv,   "Kx"sv, "KEq"sv, "A"sv,  "Kn"sv};
constexpr std::string_view kSettings[] = {"slowlog-log-slower-than"sv,
                                          "slowlog-max-len"sv,
                                          "latency-monitor-threshold"sv,
                                          "maxmemory"sv,
                                          "notify-keyspace-events"sv,
                                          "timeout"sv,
                                          "nosuch"sv,

                                          "databases"sv};
constexpr std::string_view kSettingValues[] = {"0"sv, "10000"sv, "-1"sv, "abc"sv, "no"sv};

// What no request is: each ends its connection, or is left out without a word.
constexpr std::string_view kBytesOfNoRequest[] = {
    "*1\r\n$4\r\nPING\r\n*abc\r\n"sv,
    "*2\r\n$4\r\nPING\r\n"sv,
    "*1\r\n$-1\r\n"sv,
    "*1\r\n$abc\r\n"sv,
    "*1\r\n:4\r\nPING\r\n"sv,
    "*-1\r\nPING\r\n"sv,
    "*0\r\nPING\r\n"sv,
    "\r\n\r\nPING\r\n"sv,
    "PING\n"sv,
    "  PING  \r\n"sv,
    "SET k \"a b\"\r\nGET k\r\n"sv,
    "SET k 'a\\'b' \r\nGET k\r\n"sv,
    "GET \"unbalanced\r\n"sv,
    "GET \"a\"b\r\n"sv,
    "ECHO \"\\x41\\n\"\r\n"sv,
    "PING\r\nQUIT\r\nPING\r\n"sv,
    "*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n"sv,
    "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n"sv,
    "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$99999999999\r\n"sv,
    "\0\0\0\r\n"sv,
    "GET / HTTP/1.1\r\n"sv,
    "POST / HTTP/1.1\r\nHost: x\r\n\r\n"sv,
    "Host: x\r\nPING\r\n"sv};

}  // namespace

Scenes::Scenes(Random& random, const std::vector<KnownCommand>& commands,
               const std::vector<std::string>& tokens, const std::set<std::string>& names,
               const std::vector<std::string>& names_in_rules)
    : words_(random),
      scripts_(words_,
               [this] {
                 Words words = request([](const KnownCommand& c) { return c.is_in_scripts; },
                                       words_.chance(10) ? Damage::some : Damage::none);
                 for (std::string& word : words) {  // nor a moment from now, nor what is newer
                   if (word.starts_with("<") || is_newer_condition(word)) word.assign(1, '0');
                 }
                 return words;
               }),
      acl_(words_, names_in_rules),
      commands_(commands),
      tokens_(tokens),
      names_(names) {}

// --- one request

const KnownCommand& Scenes::draw(Filter filter) {
  std::size_t total = 0;
  for (const KnownCommand& command : commands_) total += filter(command) ? command.weight : 0;
  INVARIANT(total > 0, "nothing to draw from");
  std::size_t left = words_.below(total);
  for (const KnownCommand& command : commands_) {
    const std::size_t weight = filter(command) ? command.weight : 0;
    if (left < weight) return command;
    left -= weight;
  }
  return commands_.front();
}

void Scenes::write_argument(const SyntaxArgument& argument, Words& words) {
  if (argument.is_optional && words_.chance(60)) return;
  const std::size_t times = argument.is_multiple ? 1 + words_.below(3) : 1;
  for (std::size_t i = 0; i < times; ++i) {
    const bool writes_token = !argument.token.empty() && (i == 0 || argument.repeats_token);
    if (writes_token) words.push_back(words_.in_any_case(argument.token));
    if (argument.type == Type::pure_token) continue;
    if (argument.type == Type::oneof) {
      write_argument(argument.arguments[words_.below(argument.arguments.size())], words);
    } else if (argument.type == Type::block) {
      for (const SyntaxArgument& inner : argument.arguments) write_argument(inner, words);
    } else {
      words.push_back(words_.argument(argument));
    }
  }
}

Words Scenes::request(Filter filter, Damage may_damage) {
  const KnownCommand& command = draw(filter);
  Words words;
  for (const std::string& name : command.name) words.push_back(words_.in_any_case(name));
  for (const SyntaxArgument& argument : command.arguments) write_argument(argument, words);
  if (may_damage == Damage::some) damage(words);
  make_safe(words);
  words_.make_order_certain(words);
  return words;
}

void Scenes::damage(Words& words) {
  const std::size_t at = 1 + words_.below(words.size());  // one behind the last, too
  switch (words_.below(7)) {
    case 0:
      if (at < words.size()) words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      words.resize(at);
      break;
    case 2:
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), words_.value());
      break;
    case 3:
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at),
                   words_.in_any_case(tokens_[words_.below(tokens_.size())]));
      break;
    case 4:
      if (at < words.size()) words[at] = words_.number();
      break;
    case 5:
      words.push_back(words_.in_any_case(tokens_[words_.below(tokens_.size())]));
      if (words_.chance(50)) words.push_back(words_.number());
      break;
    default:
      if (words_.chance(90) || words[0].empty()) return;
      words[0].pop_back();
  }
}

// Newer than Redis 7.0, so whole: what a damaged one answers, Redis 7.0 cannot say.
Words Scenes::newer_request() {
  const std::string key = words_.key();
  const std::string value = words_.value();
  switch (words_.below(6)) {
    case 0:
      if (serves("delifeq")) return {words_.in_any_case("DELIFEQ"), key, value};
      break;
    case 1:
      if (!serves("delex")) break;
      if (words_.chance(30)) return {words_.in_any_case("DELEX"), key};
      return {words_.in_any_case("DELEX"), key,
              words_.in_any_case(words_.chance(50) ? "IFEQ" : "IFNE"), value};
    case 2:
      if (words_.chance(30)) {
        return {words_.in_any_case("CLIENT"), words_.in_any_case("NO-TOUCH"),
                words_.in_any_case(words_.chance(80) ? "ON" : "maybe")};
      }
      return {words_.in_any_case("CLIENT"), words_.in_any_case("SETINFO"),
              words_.in_any_case(words_.chance(50) ? "LIB-NAME" : "LIB-VER"), value};
    default:
      break;
  }
  Words words = {words_.in_any_case("SET"), key, words_.value()};
  const bool has_ifne = serves("delex");
  words.push_back(words_.in_any_case(has_ifne && words_.chance(50) ? "IFNE" : "IFEQ"));
  words.push_back(value);
  if (words_.chance(40)) words.push_back(words_.in_any_case("GET"));
  if (words_.chance(30)) words.push_back(words_.in_any_case("KEEPTTL"));
  if (words_.chance(30)) {
    words.push_back(words_.in_any_case("PX"));
    words.push_back(words_.chance(80) ? "3600000" : words_.number());
  }
  if (words_.chance(5)) words.push_back(words_.in_any_case(words_.chance(50) ? "NX" : "XX"));
  make_safe(words);
  return words;
}

// The first client does most; what may be over is looked at, so that it is gone in both.
void Scenes::add(Sequence& sequence, Words words) {
  const bool looks = may_be_over(words);
  const std::string key = words.size() > 1 ? words[1] : "";
  const bool is_newer = in_words_of_redis_7_0(words).has_value();  // a listener is told its name
  sequence.push_back({.client = is_newer ? "" : client(), .words = std::move(words)});
  if (looks) sequence.push_back({.client = sequence.back().client, .words = {"EXISTS", key}});
}

std::string Scenes::client() {
  if (words_.chance(92)) return "";
  return words_.chance(60) ? "b" : "c";
}

void Scenes::single_request(Sequence& sequence) {
  if (words_.chance(4)) {
    sequence.push_back({.client = "", .words = newer_request()});
    return;
  }
  add(sequence, request(any_command, words_.chance(12) ? Damage::some : Damage::none));
}

void Scenes::script(Sequence& sequence) {
  sequence.push_back({.client = client(), .words = scripts_.eval()});
}

void Scenes::loaded_script(Sequence& sequence) {
  constexpr std::string_view kBody = "return {KEYS[1], ARGV[1]}"sv;
  constexpr std::string_view kSha = "d006f1a90249474274c76f5be725b8f5804a346b"sv;
  Words words = {words_.in_any_case("EVALSHA"), std::string(kSha), "1", words_.key()};
  sequence.push_back({.client = "", .words = {"SCRIPT", "LOAD", std::string(kBody)}});
  sequence.push_back(
      {.client = "", .words = {"SCRIPT", "EXISTS", std::string(kSha), words_.value()}});
  sequence.push_back({.client = "", .words = std::move(words)});
  if (words_.chance(10)) sequence.push_back({.client = "", .words = {"SCRIPT", "FLUSH"}});
}

// --- several

// A listener has none: what a RESP3 client hears of its own EXEC stands in the midst of Redis 7.0's
// array, which no client can read.
void Scenes::transaction(Sequence& sequence) {
  if (!serves("multi")) return;
  std::string who = client();
  if (listeners_.contains(who)) who.clear();
  const auto say = [&](Words words) {
    sequence.push_back({.client = who, .words = std::move(words)});
  };
  if (words_.chance(40)) {
    say({words_.in_any_case("WATCH"), words_.key(), words_.key()});
    if (words_.chance(60)) add(sequence, request(any_command, Damage::none));
    if (words_.chance(10)) say({words_.in_any_case("UNWATCH")});
  }
  if (words_.chance(97)) say({words_.in_any_case("MULTI")});
  Words look = {words_.in_any_case("EXISTS"), words_.key()};
  for (std::size_t i = words_.below(6); i > 0; --i) {
    say(words_.chance(20) ? scripts_.eval()
                          : request(any_command, words_.chance(10) ? Damage::some : Damage::none));
    if (may_be_over(sequence.back().words)) look.push_back(sequence.back().words[1]);
    if (words_.chance(3)) say({words_.in_any_case(words_.chance(50) ? "MULTI" : "WATCH"), "k"});
  }
  say({words_.in_any_case(words_.chance(85) ? "EXEC" : "DISCARD")});
  say(std::move(look));
}

// Ends while nobody asks: both are waited for.
void Scenes::lock_that_ends(Sequence& sequence) {
  const std::string key = words_.key();
  const std::int64_t ms = 1 + static_cast<std::int64_t>(words_.below(50));
  const std::string ttl = std::to_string(ms);
  Words words;
  switch (words_.below(5)) {
    case 0:
      words = {"SET", key, words_.value(), "PX", ttl};
      break;
    case 1:
      words = {"PEXPIRE", key, ttl};
      break;
    case 2:
      words = {"SET", key, words_.value(), "NX", "PXAT", moment_in_ms(ms)};
      break;
    case 3:
      words = {"PSETEX", key, ttl, words_.value()};
      break;
    default:
      words = {"GETEX", key, "PX", ttl};
  }
  constexpr auto kSpare = std::chrono::milliseconds(15);
  const Duration wait = std::chrono::milliseconds(ms) + kSpare;
  sequence.push_back({.client = "", .words = std::move(words), .wait = wait});
  sequence.push_back({.client = client(), .words = {"EXISTS", key}});
}

void Scenes::subscription(Sequence& sequence) {
  if (!serves("subscribe")) return;
  const std::string who = words_.chance(50) ? "b" : "c";
  listeners_.insert(who);
  const auto say = [&](Words words) {
    sequence.push_back({.client = who, .words = std::move(words)});
  };
  switch (words_.below(6)) {
    case 0:
      say({words_.in_any_case("SUBSCRIBE"), words_.channel(), words_.channel()});
      break;
    case 4:
      if (!serves("ssubscribe")) return;
      say({words_.in_any_case(words_.chance(50) ? "SSUBSCRIBE" : "SUNSUBSCRIBE"),
           words_.channel()});
      sequence.push_back({.client = "", .words = {"SPUBLISH", sequence.back().words[1], "hello"}});
      break;
    case 1:
      say({words_.in_any_case("PSUBSCRIBE"), words_.pattern()});
      break;
    case 2:
      say({words_.in_any_case("UNSUBSCRIBE")});
      if (words_.chance(50)) sequence.back().words.push_back(words_.channel());
      break;
    case 3:
      say({words_.in_any_case("PUNSUBSCRIBE")});
      if (words_.chance(50)) sequence.back().words.push_back(words_.pattern());
      break;
    default:
      say(request(any_command, Damage::none));
  }
  for (std::size_t i = words_.below(4); i > 0; --i) {
    sequence.push_back({.client = "", .words = {"PUBLISH", words_.channel(), words_.value()}});
  }
}

void Scenes::events(Sequence& sequence) {
  if (!serves("subscribe")) return;
  // What is over by now, and lies in Redis until somebody looks, is no event of what follows.
  sequence.push_back({.client = "", .words = {"SCAN", std::string(kToTheEnd)}});
  sequence.push_back(
      {.client = "", .words = {"CONFIG", "SET", "notify-keyspace-events", words_.pick(kEvents)}});
  sequence.push_back({.client = "c", .words = {"PSUBSCRIBE", "__key*__:*"}});
  listeners_.insert("c");
}

void Scenes::greeting(Sequence& sequence) {
  Words words = {words_.in_any_case("HELLO")};
  if (words_.chance(90))
    words.push_back(words_.chance(90) ? (words_.chance(60) ? "3" : "2") : words_.number());
  if (words_.chance(10)) words.insert(words.end(), {words_.in_any_case("SETNAME"), words_.value()});
  if (words_.chance(5)) words.insert(words.end(), {"AUTH", "default", words_.value()});
  if (words_.chance(5)) words.push_back(words_.value());
  sequence.push_back({.client = client(), .words = std::move(words)});
  if (words_.chance(80)) return;
  words = {words_.in_any_case("AUTH"), words_.value()};
  if (words_.chance(50)) words.insert(words.begin() + 1, "default");
  sequence.push_back({.client = client(), .words = std::move(words)});
}

void Scenes::muted_client(Sequence& sequence) {
  if (!serves("client|reply")) return;
  const auto say = [&](Words words) {
    sequence.push_back({.client = "b", .words = std::move(words)});
  };
  say({"RESET"});
  say({"CLIENT", "REPLY", words_.in_any_case(words_.chance(50) ? "OFF" : "SKIP")});
  for (std::size_t i = words_.below(3); i > 0; --i) say({"SET", words_.key(), words_.value()});
  say({"CLIENT", "REPLY", words_.in_any_case("ON")});
  if (words_.chance(10)) say({"CLIENT", "REPLY", words_.value()});
}

void Scenes::settings(Sequence& sequence) {
  const std::string setting = words_.pick(kSettings);
  sequence.push_back(
      {.client = "",
       .words = {"CONFIG", "SET", words_.in_any_case(setting), words_.pick(kSettingValues)}});
  sequence.push_back({.client = "", .words = {"CONFIG", "GET", setting}});
  sequence.push_back({.client = "", .words = {"CONFIG", "SET", "maxmemory", "0", "timeout", "0"}});
}

void Scenes::bytes(Sequence& sequence) {
  sequence.push_back({.client = "", .words = {words_.pick(kBytesOfNoRequest)}, .is_bytes = true});
}

void Scenes::leave(Sequence& sequence) {
  sequence.push_back(
      {.client = client(), .words = {words_.in_any_case(words_.chance(70) ? "RESET" : "QUIT")}});
}

void Scenes::pause(Sequence& sequence) {
  if (!serves("client|pause")) return;
  Words words = {"CLIENT", words_.in_any_case("PAUSE"), words_.chance(60) ? "5" : words_.number()};
  if (words_.chance(60)) words.push_back(words_.in_any_case(words_.chance(50) ? "WRITE" : "ALL"));
  make_safe(words);
  sequence.push_back({.client = "", .words = std::move(words)});
  if (words_.chance(50)) sequence.push_back({.client = "b", .words = {"SET", "k", "v"}});
  sequence.push_back({.client = "", .words = {"CLIENT", "UNPAUSE"}});
}

// What another client sees of requests, scripts and transactions. Left out is what is shown
// otherwise for a reason: newer commands reach Redis in other words, a cursor is each server's own,
// a script may calculate with times, and a node hides the password of a HELLO that is refused, too.
void Scenes::monitoring(Sequence& sequence) {
  if (!serves("monitor")) return;
  sequence.push_back({.client = "c", .words = {"RESET"}});
  sequence.push_back({.client = "c", .words = {words_.in_any_case("MONITOR")}});
  const std::size_t begin = sequence.size();
  for (std::size_t i = 1 + words_.below(4); i > 0; --i) {
    const std::size_t choice = words_.below(10);
    if (choice < 6) {
      add(sequence, request(any_command, words_.chance(20) ? Damage::some : Damage::none));
    } else if (choice < 7) {
      greeting(sequence);
    } else {
      choice < 8 ? script(sequence) : transaction(sequence);
    }
  }
  const auto is = [](const Step& step, std::string_view name) {
    return equals_ignoring_case(step.words[0], name);
  };
  const auto shows_otherwise = [&is](const Step& step) {
    const bool depends = is(step, "EVAL") && rule_of(views(step.words)) != Rule::exact;
    const bool has_password =
        is(step, "HELLO") &&
        std::any_of(step.words.begin(), step.words.end(),
                    [](const auto& word) { return equals_ignoring_case(word, "AUTH"); });
    return depends || has_password || is(step, "SCAN") || in_words_of_redis_7_0(step.words);
  };
  for (std::size_t at = begin; at < sequence.size(); ++at) {
    if (shows_otherwise(sequence[at])) sequence[at].words = {"PING"};
    if (sequence[at].client == "c") sequence[at].client = "b";
  }
  sequence.push_back({.client = "c", .words = {"RESET"}});
}

void Scenes::play_one(Sequence& sequence) {
  struct Scene {
    unsigned weight;
    void (Scenes::*play)(Sequence&);
  };
  constexpr std::array kScenes = {Scene{8000, &Scenes::single_request},
                                  Scene{800, &Scenes::script},
                                  Scene{60, &Scenes::loaded_script},
                                  Scene{300, &Scenes::transaction},
                                  Scene{10, &Scenes::lock_that_ends},
                                  Scene{150, &Scenes::subscription},
                                  Scene{30, &Scenes::events},
                                  Scene{80, &Scenes::greeting},
                                  Scene{30, &Scenes::muted_client},
                                  Scene{20, &Scenes::settings},
                                  Scene{30, &Scenes::bytes},
                                  Scene{40, &Scenes::leave},
                                  Scene{30, &Scenes::monitoring},
                                  Scene{150, &Scenes::users},
                                  Scene{3, &Scenes::pause}};
  std::size_t total = 0;
  for (const Scene& scene : kScenes) total += scene.weight;
  std::size_t left = words_.below(total);
  for (const Scene& scene : kScenes) {
    if (left < scene.weight) return (this->*scene.play)(sequence);
    left -= scene.weight;
  }
}

}  // namespace redlock::differential
