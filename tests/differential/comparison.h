// When two replies to one request count as the same. Most must be so byte for byte; what a clock, a
// hash order or the server's own person is in, by the rules here.
#pragma once

#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"
#include "tests/differential/step.h"

#include <functional>
#include <span>
#include <vector>

namespace redlock::differential {

enum class Rule {
  exact,
  within_50_ms,      // integers that count milliseconds
  within_1_s,        // seconds: the same, rounded
  close_numbers,     // a script's reply that was made of times
  unordered,         // elements in any order
  unordered_fields,  // pairs of field and value in any order
  unordered_deep,    // a script's reply in which such are
  same_but_for_age,  // ACL LOG's entries, but for how old they are and the client's line
  same_shape,        // the same types and lengths all the way down; other contents
  same_kind,         // the same type; other contents
};

Rule rule_of(protocol::Request request);

// The commands whose replies are not compared byte for byte; "client|list", or a whole family.
struct LooseRule {
  std::string_view name;
  Rule rule;
};
std::span<const LooseRule> loose_rules();
std::string_view rule_text(Rule rule);

// Remaining times may differ by this much,
inline constexpr std::int64_t kClocksApartMs = 50;

// and by what the machine took to run a request on both: it may lie on one while the other waits.
bool agree(Rule rule, const protocol::Reply& node, const protocol::Reply& redis,
           std::int64_t apart_ms = kClocksApartMs);

// EXEC's reply: each element by what was queued for it.
using Same = std::function<bool(const Words& request, const protocol::Reply& node,
                                const protocol::Reply& redis)>;
bool agree_on_exec(std::span<const Words> queued, const protocol::Reply& node,
                   const protocol::Reply& redis, const Same& same);

// A keyspace event that tells that a lock ran out.
bool is_expired_event(const protocol::Reply& message);

// The order of what nothing orders: messages that patterns matched at once.
void order_messages(std::vector<protocol::Reply>& messages);

}  // namespace redlock::differential
