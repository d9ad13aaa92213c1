#include "tests/differential/generator.h"

#include "base/invariant.h"
#include "tests/differential/scenes.h"

#include <algorithm>

namespace redlock::differential {
namespace {

using protocol::CommandSpec;
using protocol::SyntaxArgument;

constexpr NotCompared kNotCompared[] = {
    {"lock.", "Redis has no such commands; tests/unit/server tests them"},
    {"acl|load", "no file of users is named; tests/transcript compares what is said then"},
    {"acl|save", "the same"},
    {"(zero bytes in ACL SETUSER's rules and ACL DRYRUN's words)", "a text of Redis ends at one"},
    {"(EVAL of a user of some keys, with a count of keys that is no number)",
     "Redis reads \" 1\" as 1 where it looks for the keys, and refuses it for them; a node refuses "
     "it for the number"},
    {"(an open bracket within another of ACL SETUSER)",
     "Redis forgets the rules of the first; a node says that the second is no rule"},
    {"(SET with IFEQ or IFNE of a user of some keys)",
     "a node wants that he may read the key; Redis 7.0 has no such words"},
    {"(SCAN, KEYS, DBSIZE, RANDOMKEY, FLUSHALL, FLUSHDB, SLOWLOG, PUBSUB of a user of some keys)",
     "others' keys are not shown to him, and not his to end; tests/transcript has the differences"},
    {"shutdown", "it ends the server; tests/process tests it"},
    {"config|rewrite", "there is no configuration file to write"},
    {"script|debug", "a node has no script debugger; tests/transcript tests its refusal"},
    {"debug", "off by default in both; a node has none but SLEEP"},
    {"(more than 1,048,576 words)", "a node refuses such a request, Redis 7.0 reads on"},
};

bool is_compared(std::string_view name) {
  return std::none_of(std::begin(kNotCompared), std::end(kNotCompared),
                      [name](const NotCompared& other) { return name.starts_with(other.name); });
}

// These make sense in a scene alone (scenes.h).
constexpr std::string_view kInScenes[] = {"multi",          "exec",           "discard",
                                          "watch",          "unwatch",        "subscribe",
                                          "unsubscribe",    "psubscribe",     "punsubscribe",
                                          "ssubscribe",     "sunsubscribe",   "quit",
                                          "reset",          "client|reply",   "eval",
                                          "evalsha",        "eval_ro",        "evalsha_ro",
                                          "config|set",     "hello",          "client|pause",
                                          "client|unpause", "auth",           "delifeq",
                                          "delex",          "client|setinfo", "client|no-touch",
                                          "monitor"};

template <class Names>
bool is_among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

unsigned weight_of(const CommandSpec& spec) {
  if (!is_compared(spec.name) || is_among(kInScenes, spec.name)) return 0;
  if (spec.name.starts_with("acl|")) return spec.name == "acl|help" ? 1 : 0;  // else in scenes
  const bool is_container = spec.syntax.empty() && spec.arity < -1;
  const bool is_long = spec.name == "command" || spec.name == "command|docs";  // its answer
  if (is_container || is_long || spec.group == "cluster" || spec.name == "flushall" ||
      spec.name == "flushdb")
    return 1;
  if (spec.group == "string" || spec.group == "hash") return 24;
  if (spec.group == "generic") return 16;
  return spec.group == "pubsub" ? 8 : 2;
}

// Whose answers depend on nothing but the keys: what a script may build upon.
bool fits_scripts(const CommandSpec& spec) {
  constexpr std::string_view kOwnOrder[] = {"keys",    "scan",  "randomkey",
                                            "delifeq", "delex", "wait"};
  if (spec.name.ends_with("|help") || spec.name == "object|idletime") return false;
  return spec.group == "string" || spec.group == "hash" ||
         (spec.group == "generic" && !is_among(kOwnOrder, spec.name)) || spec.name == "publish";
}

// What Redis 7.0 knows by this name, too. DEBUG's subcommands are none to it.
bool may_stand_in_rules(const CommandSpec& spec) {
  return spec.group != "lock" && spec.since < "7.1" && !spec.name.starts_with("debug|");
}

Words split_name(std::string_view name) {
  Words words;
  for (std::size_t end = name.find('|'); end != std::string_view::npos; end = name.find('|')) {
    words.emplace_back(name.substr(0, end));
    name.remove_prefix(end + 1);
  }
  words.emplace_back(name);
  for (std::string& word : words) {
    for (char& c : word) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
  }
  return words;
}

void collect_tokens(const std::vector<SyntaxArgument>& arguments, std::set<std::string>& tokens) {
  for (const SyntaxArgument& argument : arguments) {
    if (!argument.token.empty()) tokens.insert(argument.token);
    collect_tokens(argument.arguments, tokens);
  }
}

}  // namespace

std::span<const NotCompared> not_compared() {
  return kNotCompared;
}

Generator::Generator(std::span<const CommandSpec* const> served) {
  std::set<std::string> tokens;
  for (const CommandSpec* spec : served) {
    auto syntax = protocol::parse_command_syntax(spec->syntax);
    INVARIANT(syntax, "a command's syntax line cannot be read");
    collect_tokens(syntax.value(), tokens);
    commands_.push_back(
        {split_name(spec->name), std::move(syntax.value()), weight_of(*spec), fits_scripts(*spec)});
    names_.insert(std::string(spec->name));
    if (may_stand_in_rules(*spec)) names_in_rules_.emplace_back(spec->name);
  }
  tokens_.assign(tokens.begin(), tokens.end());
}

Sequence Generator::make(std::uint64_t seed, std::size_t steps) const {
  Random random(seed);
  Scenes scenes(random, commands_, tokens_, names_, names_in_rules_);
  Sequence sequence;
  while (sequence.size() < steps) scenes.play_one(sequence);
  return sequence;
}

}  // namespace redlock::differential
