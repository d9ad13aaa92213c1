// COMMAND DOCS and CONTAINER HELP: commands explained to people.
#include "protocol/catalogue/command_docs.h"

#include "base/text/number.h"
#include "protocol/catalogue/command_syntax.h"
#include "protocol/catalogue/command_tree.h"
#include "protocol/resp/errors.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

Reply argument_flags(const SyntaxArgument& argument) {
  Reply flags = Reply::set({});
  if (argument.is_optional) flags.add(Reply::status_view("optional"));
  if (argument.is_multiple) flags.add(Reply::status_view("multiple"));
  if (argument.repeats_token) flags.add(Reply::status_view("multiple_token"));
  return flags;
}

Reply arguments_reply(const std::vector<SyntaxArgument>& arguments);

Reply argument_reply(const SyntaxArgument& argument) {
  Reply out = Reply::map({});
  out.add_field("name", Reply::bulk(argument.name));
  out.add_field("type", Reply::bulk_view(type_name(argument.type)));
  if (!argument.is_group()) out.add_field("display_text", Reply::bulk(argument.name));
  if (argument.type == SyntaxArgument::Type::key) {
    out.add_field("key_spec_index", Reply::integer(0));
  }
  if (!argument.token.empty()) out.add_field("token", Reply::bulk(argument.token));
  Reply flags = argument_flags(argument);
  if (!flags.items().empty()) out.add_field("flags", std::move(flags));
  if (argument.is_group()) out.add_field("arguments", arguments_reply(argument.arguments));
  return out;
}

Reply arguments_reply(const std::vector<SyntaxArgument>& arguments) {
  Reply out = Reply::array();
  for (const SyntaxArgument& argument : arguments) out.add(argument_reply(argument));
  return out;
}

Reply docs_of(CommandSpecs specs, const CommandSpec& spec) {
  Reply out = Reply::map({});
  out.add_field("summary", Reply::bulk_view(spec.summary));
  out.add_field("since", Reply::bulk_view(spec.since));
  out.add_field("group", Reply::bulk_view(spec.group));
  // A syntax that cannot be read costs the hint, not the node; a test reads them all.
  const auto arguments = parse_command_syntax(spec.syntax);
  if (arguments && !arguments.value().empty()) {
    out.add_field("arguments", arguments_reply(arguments.value()));
  }
  Reply subcommands = Reply::map({});
  for (const CommandSpec* other : specs) {
    if (is_subcommand_of(*other, spec.name)) {
      subcommands.add_field(other->name, docs_of(specs, *other));
    }
  }
  if (!subcommands.items().empty()) out.add_field("subcommands", std::move(subcommands));
  return out;
}

void add_help(Reply& lines, std::string usage, std::string_view summary) {
  lines.add(Reply::status(std::move(usage)));
  const std::string_view end = summary.ends_with('.') ? "" : ".";
  lines.add(Reply::status(fmt::format("    {}{}", summary, end)));
}

}  // namespace

Reply command_docs(CommandSpecs specs, Request names) {
  Reply out = Reply::map({});
  if (names.empty()) {
    for (const CommandSpec* spec : specs) {
      if (!is_subcommand(*spec)) out.add_field(spec->name, docs_of(specs, *spec));
    }
    return out;
  }
  if (names.size() > specs.size()) return more_names_than_commands(names, specs);
  for (const std::string_view name : names) {
    const CommandSpec* spec = find_command(specs, name);
    if (spec != nullptr) out.add_field(spec->name, docs_of(specs, *spec));
  }
  return out;
}

Reply container_help(CommandSpecs specs, std::string_view container) {
  Reply lines = Reply::array();
  lines.add(Reply::status(fmt::format("{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
                                      upper_case(container))));
  const CommandSpec* own = find_command(specs, container);
  if (own != nullptr && own->takes(1)) add_help(lines, "(no subcommand)", own->summary);
  for (const CommandSpec* spec : specs) {
    if (own == nullptr || !is_subcommand_of(*spec, own->name)) continue;
    const std::string_view name = spec->name.substr(own->name.size() + 1);
    if (name == "help") continue;
    const std::string_view gap = spec->syntax.empty() ? "" : " ";
    add_help(lines, fmt::format("{}{}{}", upper_case(name), gap, spec->syntax), spec->summary);
  }
  add_help(lines, "HELP", "Print this help");
  return lines;
}

}  // namespace redlock::protocol
