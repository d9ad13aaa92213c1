// The ACL categories of commands, which Redis derives from flags and groups.
#include "protocol/catalogue/command_docs.h"
#include "protocol/catalogue/command_tree.h"

#include <algorithm>

namespace redlock::protocol {
namespace {

// In Redis's order. Groups are those of CommandSpec, where a category goes by the group.
struct Category {
  std::string_view name;
  std::string_view group;
};
constexpr Category kCategories[] = {{"keyspace", "generic"},
                                    {"read", ""},
                                    {"write", ""},
                                    {"hash", "hash"},
                                    {"string", "string"},
                                    {"pubsub", ""},
                                    {"admin", ""},
                                    {"fast", ""},
                                    {"slow", ""},
                                    {"blocking", ""},
                                    {"dangerous", ""},
                                    {"connection", "connection"},
                                    {"transaction", "transactions"},
                                    {"scripting", "scripting"}};

// What neither flag nor group tells.
struct OddCategory {
  std::string_view command;
  std::string_view category;
};
constexpr OddCategory kOddCategories[] = {
    {"command", "connection"}, {"dbsize", "keyspace"},  {"flushall", "keyspace"},
    {"flushall", "dangerous"}, {"flushdb", "keyspace"}, {"flushdb", "dangerous"},
    {"info", "dangerous"},     {"keys", "dangerous"},   {"role", "admin"},
    {"role", "dangerous"},     {"wait", "connection"}};
// Nor what the group would tell wrongly.
constexpr OddCategory kNotByGroup = {"wait", "keyspace"};

bool is_odd(std::string_view name, std::string_view category) {
  const std::string_view command = name.substr(0, name.find('|'));
  return std::any_of(
      std::begin(kOddCategories), std::end(kOddCategories),
      [&](const OddCategory& odd) { return odd.command == command && odd.category == category; });
}

bool goes_by_flags(const CommandSpec& spec, std::string_view category) {
  if (category == "write") return spec.has(kWrite);
  if (category == "read") return spec.has(kReadOnly) && spec.group != "scripting";
  if (category == "pubsub") return spec.has(kPubSub);
  if (category == "admin" || category == "dangerous") return spec.has(kAdmin);
  if (category == "blocking") return spec.has(kBlocking);
  if (category == "fast") return spec.has(kFast);
  if (category == "slow") return !spec.has(kFast);
  return false;
}

}  // namespace

std::vector<std::string_view> acl_categories(CommandSpecs specs, const CommandSpec& spec) {
  if (is_mere_container(specs, spec)) return {"slow"};
  std::vector<std::string_view> names;
  for (const auto& [category, group] : kCategories) {
    const bool is_odd_one_out =
        spec.name == kNotByGroup.command && category == kNotByGroup.category;
    const bool goes_by_group = !group.empty() && spec.group == group && !is_odd_one_out;
    if (goes_by_group || goes_by_flags(spec, category) || is_odd(spec.name, category)) {
      names.push_back(category);
    }
  }
  return names;
}

}  // namespace redlock::protocol
