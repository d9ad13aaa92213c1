#include "tests/differential/comparison.h"

#include "base/text/number.h"

#include <algorithm>
#include <cmath>

namespace redlock::differential {
namespace {

using protocol::Reply;
using protocol::Request;
using Kind = Reply::Kind;

constexpr LooseRule kRules[] = {
    {"pttl", Rule::within_50_ms},
    {"pexpiretime", Rule::within_50_ms},
    {"ttl", Rule::within_1_s},
    {"expiretime", Rule::within_1_s},
    {"keys", Rule::unordered},
    {"hkeys", Rule::unordered},
    {"hvals", Rule::unordered},
    {"hgetall", Rule::unordered_fields},
    {"config|get", Rule::unordered_fields},
    {"pubsub|channels", Rule::unordered},
    {"pubsub|shardchannels", Rule::unordered},
    {"acl|log", Rule::same_but_for_age},
    {"acl|cat", Rule::same_kind},
    {"acl|genpass", Rule::same_kind},
    {"time", Rule::same_shape},
    {"scan", Rule::same_kind},
    {"randomkey", Rule::same_kind},
    {"info", Rule::same_kind},
    {"client|id", Rule::same_kind},
    {"client|info", Rule::same_kind},
    {"client|list", Rule::same_kind},
    {"command", Rule::same_kind},
    {"command|count", Rule::same_kind},
    {"command|docs", Rule::same_kind},
    {"command|info", Rule::same_shape},
    {"command|list", Rule::same_kind},
    {"hello", Rule::same_shape},
    {"latency|doctor", Rule::same_kind},
    {"latency|histogram", Rule::same_kind},
    {"latency|history", Rule::same_kind},
    {"latency|latest", Rule::same_kind},
    {"memory|usage", Rule::same_kind},
    {"memory|stats", Rule::same_kind},
    {"memory|doctor", Rule::same_kind},
    {"object|idletime", Rule::same_kind},
    {"role", Rule::same_shape},
    {"slowlog|get", Rule::same_kind},
    {"slowlog|len", Rule::same_kind},
};

bool says(const std::string& lower_script, std::string_view word) {
  return lower_script.find(word) != std::string::npos;
}

// By the commands that stand in its text.
Rule rule_of_script(std::string_view text) {
  const std::string lower = lower_case(text);
  if (says(lower, "ttl'") || says(lower, "expiretime'")) return Rule::close_numbers;
  if (says(lower, "hgetall") || says(lower, "hkeys") || says(lower, "hvals")) {
    return Rule::unordered_deep;
  }
  return Rule::exact;
}

bool are_integers(const Reply& a, const Reply& b) {
  return a.is(Kind::integer) && b.is(Kind::integer);
}

// Negative ones are answers of their own: no such key, no deadline.
bool are_close_integers(const Reply& a, const Reply& b, std::int64_t apart) {
  if (a == b) return true;
  if (!are_integers(a, b) || a.integer() < 0 || b.integer() < 0) return false;
  return std::abs(a.integer() - b.integer()) <= apart;
}

bool are_close_texts(const Reply& a, const Reply& b, std::int64_t apart) {
  const auto first = parse_int64(a.text());
  const auto second = parse_int64(b.text());
  return first && second && std::abs(*first - *second) <= apart;
}

template <class Same>
bool agree_each(const Reply& a, const Reply& b, Same same) {
  return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), same);
}

bool are_close(const Reply& a, const Reply& b, std::int64_t apart) {
  if (a == b) return true;
  if (a.kind() != b.kind()) return false;
  if (a.is(Kind::integer)) return are_close_integers(a, b, apart);
  const auto items_are = [apart](const Reply& x, const Reply& y) { return are_close(x, y, apart); };
  return a.is_aggregate() ? agree_each(a, b, items_are) : are_close_texts(a, b, apart);
}

bool have_same_shape(const Reply& a, const Reply& b) {
  if (a.is_error() || b.is_error()) return a == b;
  return a.kind() == b.kind() && agree_each(a, b, have_same_shape);
}

bool have_same_kind(const Reply& a, const Reply& b) {
  return a.is_error() || b.is_error() ? a == b : a.kind() == b.kind();
}

// Pairs of name and value, in which some values are the moment's or the server's own.
bool is_same_entry(const Reply& a, const Reply& b) {
  if (a.kind() != b.kind() || a.items().size() != b.items().size()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    const std::string_view of = i % 2 == 1 ? a.items()[i - 1].text() : "";
    const bool is_its_own = of == "age-seconds" || of == "client-info";
    const bool same =
        is_its_own ? a.items()[i].kind() == b.items()[i].kind() : a.items()[i] == b.items()[i];
    if (!same) return false;
  }
  return true;
}

bool are_same_entries(const Reply& a, const Reply& b) {
  if (!a.is_aggregate() || !b.is_aggregate()) return a == b;
  return a.items().size() == b.items().size() && agree_each(a, b, is_same_entry);
}

std::vector<std::string> sorted_texts(const Reply& reply, std::size_t step) {
  std::vector<std::string> texts;
  const auto& items = reply.items();
  for (std::size_t i = 0; i + step <= items.size(); i += step) {
    std::string text = items[i].to_string();
    if (step == 2) text += ' ' + items[i + 1].to_string();
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

bool agree_unordered(const Reply& a, const Reply& b, std::size_t step) {
  if (!a.is_aggregate() || !b.is_aggregate()) return a == b;
  return a.kind() == b.kind() && a.items().size() == b.items().size() &&
         sorted_texts(a, step) == sorted_texts(b, step);
}

std::string unordered_text(const Reply& reply) {
  if (!reply.is_aggregate()) return reply.to_string();
  std::vector<std::string> texts;
  for (const Reply& item : reply.items()) texts.push_back(unordered_text(item));
  std::sort(texts.begin(), texts.end());
  std::string text = reply.is(Kind::map) ? "{" : "[";
  for (const std::string& item : texts) text += item + ", ";
  return text;
}

bool is_pattern_message(const Reply& message) {
  return message.items().size() == 4 && message.items()[0].text() == "pmessage";
}

bool is_same_publication(const Reply& a, const Reply& b) {
  return is_pattern_message(a) && is_pattern_message(b) && a.items()[2] == b.items()[2] &&
         a.items()[3] == b.items()[3];
}

}  // namespace

std::span<const LooseRule> loose_rules() {
  return kRules;
}

std::string_view rule_text(Rule rule) {
  switch (rule) {
    case Rule::exact:
      return "byte for byte";
    case Rule::within_50_ms:
      return "within 50 ms of each other";
    case Rule::within_1_s:
      return "within a second of each other";
    case Rule::close_numbers:
      return "numbers within 50 of each other";
    case Rule::unordered:
    case Rule::unordered_fields:
    case Rule::unordered_deep:
      return "the same elements in any order";
    case Rule::same_but_for_age:
      return "the same but for age and client";
    case Rule::same_shape:
      return "the same types and lengths, other contents";
    case Rule::same_kind:
      break;
  }
  return "the same type, other contents";
}

Rule rule_of(Request request) {
  const std::string name = lower_case(request[0]);
  if ((name == "eval" || name == "eval_ro") && request.size() > 1) {
    return rule_of_script(request[1]);
  }
  if (name == "evalsha") return Rule::close_numbers;
  const std::string with_second = request.size() > 1 ? name + '|' + lower_case(request[1]) : name;
  for (const LooseRule& known : kRules) {
    if (known.name == name || known.name == with_second) return known.rule;
  }
  return Rule::exact;
}

bool agree(Rule rule, const Reply& node, const Reply& redis, std::int64_t apart_ms) {
  switch (rule) {
    case Rule::exact:
      return node == redis;
    case Rule::within_50_ms:
      return are_close_integers(node, redis, apart_ms);
    case Rule::within_1_s:
      return are_close_integers(node, redis, 1 + apart_ms / 1000);
    case Rule::close_numbers:
      return are_close(node, redis, apart_ms) || unordered_text(node) == unordered_text(redis);
    case Rule::unordered:
      return agree_unordered(node, redis, 1);
    case Rule::unordered_fields:
      return agree_unordered(node, redis, 2);
    case Rule::unordered_deep:
      return unordered_text(node) == unordered_text(redis);
    case Rule::same_but_for_age:
      return are_same_entries(node, redis);
    case Rule::same_shape:
      return have_same_shape(node, redis);
    case Rule::same_kind:
      break;
  }
  return have_same_kind(node, redis);
}

bool agree_on_exec(std::span<const Words> queued, const Reply& node, const Reply& redis,
                   const Same& same) {
  const bool has_all = redis.is(Kind::array) && node.is(Kind::array) &&
                       node.items().size() == queued.size() &&
                       redis.items().size() == queued.size();
  if (!has_all) return node == redis;
  for (std::size_t i = 0; i < queued.size(); ++i) {
    if (!same(queued[i], node.items()[i], redis.items()[i])) return false;
  }
  return true;
}

bool is_expired_event(const Reply& message) {
  const auto& items = message.items();
  if (items.size() < 3 || !items[0].text().ends_with("message")) return false;
  const std::string_view channel = items[items.size() - 2].text();
  return channel == "__keyevent@0__:expired" ||
         (channel.starts_with("__keyspace@0__:") && items.back().text() == "expired");
}

void order_messages(std::vector<Reply>& messages) {
  auto begin = messages.begin();
  while (begin != messages.end()) {
    auto end = begin + 1;
    while (end != messages.end() && is_same_publication(*begin, *end)) ++end;
    std::sort(begin, end,
              [](const Reply& a, const Reply& b) { return a.to_string() < b.to_string(); });
    begin = end;
  }
}

}  // namespace redlock::differential
