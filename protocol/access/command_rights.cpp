#include "protocol/access/command_rights.h"

#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/catalogue/command_tree.h"

#include <algorithm>
#include <array>

namespace redlock::protocol {
namespace {

constexpr std::array<std::string_view, 23> kCategories = {
    "keyspace",   "read",        "write",     "set",         "sortedset", "list",
    "hash",       "string",      "bitmap",    "hyperloglog", "geo",       "stream",
    "pubsub",     "admin",       "fast",      "slow",        "blocking",  "dangerous",
    "connection", "transaction", "scripting", "lock",        "operator"};
static_assert(kCategories.size() <= 32, "a category is a bit");

// @lock beside LOCK.*: what a holder's library sends, whichever it is.
constexpr std::string_view kOfHolders[] = {
    "set",        "setnx",        "setex",    "psetex",      "get",           "getex",
    "getdel",     "del",          "unlink",   "delifeq",     "delex",         "exists",
    "expire",     "pexpire",      "expireat", "pexpireat",   "ttl",           "pttl",
    "expiretime", "pexpiretime",  "hset",     "hget",        "hdel",          "hexists",
    "hincrby",    "eval",         "evalsha",  "script|load", "script|exists", "multi",
    "exec",       "discard",      "watch",    "unwatch",     "subscribe",     "unsubscribe",
    "psubscribe", "punsubscribe", "publish"};

// @operator beside what is for operators by its flag: ends every lock, or the node's own scripts.
constexpr std::string_view kOfOperators[] = {"flushall", "flushdb", "script|flush", "script|kill"};

// They show or end what others hold, and name no key.
constexpr std::string_view kOnAllKeys[] = {"flushall", "flushdb", "dbsize", "randomkey",
                                           "slowlog|get"};

// Less than the flags say, as Redis's key specs have it: they change a key and tell nothing of
// what it holds.
constexpr std::string_view kOnlyWrite[] = {
    "set",     "setnx",    "setex",     "psetex",  "mset", "msetnx", "del",    "unlink", "expire",
    "pexpire", "expireat", "pexpireat", "persist", "hset", "hmset",  "hsetnx", "hdel"};
// They tell neither value nor time: whoever may do anything with the key may ask.
constexpr std::string_view kNeither[] = {
    "exists",          "touch",           "type",        "strlen",          "hlen",
    "hexists",         "hstrlen",         "watch",       "object|encoding", "object|freq",
    "object|idletime", "object|refcount", "memory|usage"};

template <std::size_t size>
bool is_one_of(const std::string_view (&names)[size], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::uint8_t access_of(const CommandSpec& spec) {
  if (is_one_of(kOnlyWrite, spec.name)) return kWritesKey;
  if (is_one_of(kNeither, spec.name)) return 0;
  return spec.has(kReadOnly) ? kReadsKey : kReadsKey | kWritesKey;
}

CommandRights::Channels channels_of(std::string_view name) {
  using Channels = CommandRights::Channels;
  if (name == "publish" || name == "spublish") return Channels::first_word;
  if (name == "subscribe" || name == "ssubscribe") return Channels::all_words;
  return name == "psubscribe" ? Channels::patterns : Channels::none;
}

// Redis's "transactions" group is its "transaction" category: acl_categories() tells that.
std::uint32_t categories_of(CommandSpecs specs, const CommandSpec& spec) {
  std::uint32_t bits = 0;
  const auto add = [&](std::string_view name) {
    bits |= 1u << *CommandRights::find_category(name);
  };
  for (const std::string_view name : acl_categories(specs, spec)) add(name);
  const bool is_for_operators = spec.has(kAdmin) || is_one_of(kOfOperators, spec.name);
  if (is_for_operators) {
    add("operator");
  } else if (spec.group == "lock" || is_one_of(kOfHolders, spec.name)) {
    add("lock");
  }
  return bits;
}

}  // namespace

CommandRights::CommandRights(CommandSpecs specs) {
  for (const CommandSpec* spec : specs) {
    by_name_.emplace(spec->name, static_cast<Number>(commands_.size()));
    commands_.push_back(describe(specs, *spec));
  }
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    const std::string_view name = commands_[i].spec->name;
    if (!commands_[i].is_subcommand) continue;
    const auto outer = by_name_.find(name.substr(0, name.find('|')));
    if (outer != by_name_.end()) commands_[outer->second].inner.push_back(static_cast<Number>(i));
  }
}

CommandRights::Command CommandRights::describe(CommandSpecs specs, const CommandSpec& spec) const {
  Command command{&spec};
  command.categories = categories_of(specs, spec);
  command.key_count_at = key_count_position(spec);
  command.access = access_of(spec);
  command.is_subcommand = protocol::is_subcommand(spec);
  const bool has_places = spec.first_key > 0 && !spec.has(kPubSub);
  command.has_keys = has_places || command.key_count_at > 0;
  command.acts_on_all_keys = is_one_of(kOnAllKeys, spec.name);
  command.reads_only_with_get = spec.name == "set";
  command.channels = channels_of(spec.name);
  return command;
}

std::optional<CommandRights::Number> CommandRights::find(std::string_view name) const {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto found = by_name_.find(lower);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::span<const std::string_view> CommandRights::categories() {
  return kCategories;
}

std::optional<std::size_t> CommandRights::find_category(std::string_view name) {
  for (std::size_t i = 0; i < kCategories.size(); ++i) {
    if (equals_ignoring_case(kCategories[i], name)) return i;
  }
  return std::nullopt;
}

// A count that cannot be is refused by the command itself, before it touches a key.
KeyPlaces CommandRights::key_places(Number number, Request words) const {
  const Command& command = commands_[number];
  if (!command.has_keys) return {};
  const auto size = static_cast<std::int64_t>(words.size());
  if (command.key_count_at > 0) {
    const auto at = static_cast<std::size_t>(command.key_count_at);
    const auto count = at < words.size() ? parse_int64(words[at]) : std::nullopt;
    const bool fits = count && *count > 0 && *count < size - command.key_count_at;
    if (!fits) return {};
    return {at + 1, at + static_cast<std::size_t>(*count), 1};
  }
  const CommandSpec& spec = *command.spec;
  const std::int64_t last = spec.last_key < 0 ? size + spec.last_key : spec.last_key;
  return {static_cast<std::size_t>(spec.first_key),
          static_cast<std::size_t>(std::min(last, size - 1)),
          static_cast<std::size_t>(std::max(spec.key_step, 1))};
}

std::uint8_t CommandRights::key_access(Number number, Request words) const {
  const Command& command = commands_[number];
  if (!command.reads_only_with_get) return command.access;
  const bool compares_or_tells =
      std::any_of(words.begin() + std::min<std::ptrdiff_t>(3, std::ssize(words)), words.end(),
                  [](std::string_view word) {
                    return equals_ignoring_case(word, "GET") ||
                           equals_ignoring_case(word, "IFEQ") || equals_ignoring_case(word, "IFNE");
                  });
  return compares_or_tells ? kReadsKey | kWritesKey : command.access;
}

}  // namespace redlock::protocol
