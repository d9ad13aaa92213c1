// COMMAND, COMMAND INFO, COUNT, LIST and GETKEYS.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/catalogue/command_syntax.h"
#include "protocol/catalogue/command_tree.h"
#include "protocol/catalogue/glob.h"
#include "protocol/resp/errors.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

// In Redis's order.
struct FlagName {
  CommandFlag flag;
  std::string_view name;
};
constexpr FlagName kFlagNames[] = {{kWrite, "write"},
                                   {kReadOnly, "readonly"},
                                   {kDenyOom, "denyoom"},
                                   {kAdmin, "admin"},
                                   {kPubSub, "pubsub"},
                                   {kNoScript, "noscript"},
                                   {kBlocking, "blocking"},
                                   {kLoading, "loading"},
                                   {kStale, "stale"},
                                   {kSkipMonitor, "skip_monitor"},
                                   {kSkipSlowlog, "skip_slowlog"},
                                   {kFast, "fast"},
                                   {kNoAuth, "no_auth"},
                                   {kNoMulti, "no_multi"},
                                   {kAllowBusy, "allow_busy"}};

bool has_keys(const CommandSpec& spec) {
  return spec.first_key > 0 || key_count_position(spec) > 0;
}

Reply flags_of(const CommandSpec& spec) {
  Reply flags = Reply::set({});
  for (const auto& [flag, name] : kFlagNames) {
    if (spec.has(flag)) flags.add(Reply::status_view(name));
  }
  if (key_count_position(spec) > 0) flags.add(Reply::status_view("no_mandatory_keys"));
  if (spec.has(kMovableKeys)) flags.add(Reply::status_view("movablekeys"));
  return flags;
}

Reply categories_of(CommandSpecs specs, const CommandSpec& spec) {
  Reply categories = Reply::set({});
  for (const std::string_view category : acl_categories(specs, spec)) {
    categories.add(Reply::status(fmt::format("@{}", category)));
  }
  return categories;
}

// A type and what is to be known of it: Redis's form for both halves of a key spec.
Reply typed(std::string_view type, Reply spec) {
  Reply out = Reply::map({});
  out.add_field("type", Reply::bulk_view(type));
  out.add_field("spec", std::move(spec));
  return out;
}

Reply find_keys_of(const CommandSpec& spec) {
  Reply out = Reply::map({});
  if (key_count_position(spec) > 0) {
    out.add_field("keynumidx", Reply::integer(0));
    out.add_field("firstkey", Reply::integer(1));
    out.add_field("keystep", Reply::integer(1));
    return typed("keynum", std::move(out));
  }
  const int last = spec.last_key < 0 ? spec.last_key : spec.last_key - spec.first_key;
  out.add_field("lastkey", Reply::integer(last));
  out.add_field("keystep", Reply::integer(spec.key_step));
  out.add_field("limit", Reply::integer(0));
  return typed("range", std::move(out));
}

// What is done with the keys is told as the most that the flags allow.
Reply key_specs_of(const CommandSpec& spec) {
  Reply out = Reply::set({});
  if (!has_keys(spec)) return out;
  Reply flags = Reply::set({});
  if (spec.has(kPubSub)) {
    flags.add(Reply::status_view("not_key"));
  } else if (spec.has(kReadOnly)) {
    flags.add(Reply::status_view("RO")).add(Reply::status_view("access"));
  } else {
    flags.add(Reply::status_view("RW")).add(Reply::status_view("access"));
    flags.add(Reply::status_view("update"));
  }
  const int counted = key_count_position(spec);
  Reply index = Reply::map({});
  index.add_field("index", Reply::integer(counted > 0 ? counted : spec.first_key));
  Reply one = Reply::map({});
  one.add_field("flags", std::move(flags));
  one.add_field("begin_search", typed("index", std::move(index)));
  one.add_field("find_keys", find_keys_of(spec));
  out.add(std::move(one));
  return out;
}

Reply info_of(CommandSpecs specs, const CommandSpec& spec);

// Redis tells an empty set where there are none, an array of them otherwise.
Reply subcommands_of(CommandSpecs specs, const CommandSpec& spec) {
  Reply found = Reply::array();
  for (const CommandSpec* other : specs) {
    if (is_subcommand_of(*other, spec.name)) found.add(info_of(specs, *other));
  }
  return found.items().empty() ? Reply::set({}) : std::move(found);
}

Reply info_of(CommandSpecs specs, const CommandSpec& spec) {
  Reply out = Reply::array();
  out.add(Reply::bulk_view(spec.name));
  out.add(Reply::integer(spec.arity));
  out.add(flags_of(spec));
  out.add(Reply::integer(spec.first_key));
  out.add(Reply::integer(spec.last_key));
  out.add(Reply::integer(spec.key_step));
  out.add(categories_of(specs, spec));
  out.add(Reply::set({}));  // tips for cluster clients: none
  out.add(key_specs_of(spec));
  out.add(subcommands_of(specs, spec));
  return out;
}

template <class Wanted>
Reply names_of(CommandSpecs specs, Wanted is_wanted) {
  Reply out = Reply::array();
  for (const CommandSpec* spec : specs) {
    if (is_wanted(*spec)) out.add(Reply::bulk_view(spec->name));
  }
  return out;
}

// The positions of the keys in a command's words, by its range or by its count.
Reply keys_in(const CommandSpec& spec, Request words) {
  const auto size = static_cast<std::int64_t>(words.size());
  std::int64_t first = spec.first_key;
  std::int64_t last = spec.last_key < 0 ? size + spec.last_key : spec.last_key;
  std::int64_t step = std::max(spec.key_step, 1);
  if (const int counted = key_count_position(spec); counted > 0) {
    const auto count =
        counted < size ? parse_int64(words[static_cast<std::size_t>(counted)]) : std::nullopt;
    first = counted + 1;
    step = 1;
    const bool fits = count && *count >= 0 && *count <= size - first;
    last = fits ? counted + *count : counted;
  }
  Reply keys = Reply::array();
  for (std::int64_t i = first; i <= last && i < size; i += step) {
    keys.add(Reply::bulk_view(words[static_cast<std::size_t>(i)]));
  }
  return keys;
}

}  // namespace

const CommandSpec* find_command(CommandSpecs specs, std::string_view name) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const CommandSpec* spec) {
    return equals_ignoring_case(spec->name, name);
  });
  return found == specs.end() ? nullptr : *found;
}

Reply more_names_than_commands(Request names, CommandSpecs specs) {
  return Reply::error(
      fmt::format("ERR {} names are more than there are commands: {}", names.size(), specs.size()));
}

int key_count_position(const CommandSpec& spec) {
  if (!spec.has(kMovableKeys)) return 0;
  const auto arguments = parse_command_syntax(spec.syntax);
  if (!arguments) return 0;
  const int words_of_name = is_subcommand(spec) ? 2 : 1;
  int position = words_of_name;
  for (const SyntaxArgument& argument : arguments.value()) {
    if (argument.name == "numkeys") return position;
    ++position;
  }
  return 0;
}

Reply command_count(CommandSpecs specs) {
  return Reply::integer(std::count_if(
      specs.begin(), specs.end(), [](const CommandSpec* spec) { return !is_subcommand(*spec); }));
}

Reply command_list(CommandSpecs specs, Request filter) {
  if (filter.empty()) {
    return names_of(specs, [](const CommandSpec&) { return true; });
  }
  if (filter.size() != 3 || !equals_ignoring_case(filter[0], "FILTERBY")) {
    return Reply::error_view(kSyntaxError);
  }
  const std::string_view wanted = filter[2];
  if (equals_ignoring_case(filter[1], "MODULE")) return Reply::array();  // there are none
  if (equals_ignoring_case(filter[1], "PATTERN")) {
    std::size_t steps = 0;
    Reply names = names_of(specs, [&](const CommandSpec& spec) {
      return steps <= kGlobStepsOfManyMax &&
             glob_matches(wanted, spec.name, steps, LetterCase::ignored);
    });
    return steps <= kGlobStepsOfManyMax ? std::move(names)
                                        : Reply::error_view(kPatternsTakeTooLong);
  }
  if (!equals_ignoring_case(filter[1], "ACLCAT")) return Reply::error_view(kSyntaxError);
  return names_of(specs, [&](const CommandSpec& spec) {
    const auto categories = acl_categories(specs, spec);
    return std::any_of(categories.begin(), categories.end(), [&](std::string_view category) {
      return equals_ignoring_case(category, wanted);
    });
  });
}

Reply command_info(CommandSpecs specs, Request names) {
  Reply out = Reply::array();
  if (names.empty()) {
    for (const CommandSpec* spec : specs) {
      if (!is_subcommand(*spec)) out.add(info_of(specs, *spec));
    }
    return out;
  }
  if (names.size() > specs.size()) return more_names_than_commands(names, specs);
  for (const std::string_view name : names) {
    const CommandSpec* spec = find_command(specs, name);
    out.add(spec != nullptr ? info_of(specs, *spec) : Reply::null_array());
  }
  return out;
}

Reply command_getkeys(CommandSpecs specs, Request command) {
  const CommandSpec* spec = find_command(specs, command[0]);
  if (spec != nullptr && is_mere_container(specs, *spec) && command.size() > 1) {
    spec = find_command(specs, fmt::format("{}|{}", command[0], command[1]));
  }
  if (spec == nullptr) {
    return Reply::error_view("ERR Invalid command specified");
  }
  if (!has_keys(*spec)) return Reply::error_view("ERR The command has no key arguments");
  if (!spec->takes(command.size())) {
    return Reply::error_view("ERR Invalid number of arguments specified for command");
  }
  return keys_in(*spec, command);
}

}  // namespace redlock::protocol
