// ACL: who may do what, seen and changed while the node runs. The rules themselves are those of
// protocol/access/user.h.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags, error texts, users

constexpr std::string_view kNoFile =
    "ERR This node has no ACL file: name one by aclfile in its configuration, and start it anew";

Reply whoami(Call& call) {
  return Reply::bulk(std::string(call.session.user_name()));
}

Reply users(Call& call) {
  Reply names = Reply::array();
  for (const auto& [name, user] : call.node.access().users().all()) names.add(Reply::bulk(name));
  return names;
}

Reply list(Call& call) {
  Reply lines = Reply::array();
  for (const auto& [name, user] : call.node.access().users().all()) {
    lines.add(Reply::bulk(user_line(*user)));
  }
  return lines;
}

template <class Words>
Reply bulks(const Words& words) {
  Reply all = Reply::array();
  for (const auto& word : words) all.add(Reply::bulk(std::string(word)));
  return all;
}

void add_selector(Reply& to, const Selector& selector) {
  to.add_field("commands", Reply::bulk(selector.commands_text()));
  to.add_field("keys", Reply::bulk(selector.keys_text()));
  to.add_field("channels", Reply::bulk(selector.channels_text()));
}

Reply getuser(Call& call) {
  const Users::Shared user = call.node.access().users().find(call.word(2));
  if (user == nullptr) return Reply::null();
  Reply flags = Reply::set({});
  for (std::string& flag : user->flags()) flags.add(Reply::bulk(std::move(flag)));
  Reply answer = Reply::map({});
  answer.add_field("flags", std::move(flags));
  answer.add_field("passwords", bulks(user->passwords()));
  add_selector(answer, user->selector());
  Reply selectors = Reply::array();
  for (const Selector& selector : user->more_selectors()) {
    Reply one = Reply::map({});
    add_selector(one, selector);
    selectors.add(std::move(one));
  }
  answer.add_field("selectors", std::move(selectors));
  return answer;
}

// Whose rights, and never the rules: there may be a password among them.
void audit_change(const Call& call, std::string_view what, std::string_view of) {
  if (!call.node.audit().is_on()) return;
  call.node.audit().tell(Audit::Event::acl_changed, call.node.who_of(call),
                         {{"change", what}, {"of", of}}, call.now);
}

Reply setuser(Call& call) {
  const std::string_view name = call.word(2);
  if (!is_user_name(name)) {
    return Reply::error_view("ERR Usernames can't contain spaces or null characters");
  }
  const MergedRules merged = merge_selector_rules(call.words.subspan(3));
  if (!merged.is_whole()) {
    return Reply::error(fmt::format("ERR Unmatched parenthesis in acl selector starting at '{}'.",
                                    echoed(merged.broken)));
  }
  const User::Refused refused = call.node.accounts().change(name, merged.rules);
  if (!refused) {
    audit_change(call, "setuser", name);
    return Reply::ok();
  }
  return Reply::error(fmt::format("ERR Error in ACL SETUSER modifier '{}': {}",
                                  echoed(refused.rule), rule_error_text(refused.error)));
}

Reply deluser(Call& call) {
  const Request names = call.words.subspan(2);
  if (std::find(names.begin(), names.end(), kDefaultUser) != names.end()) {
    return Reply::error_view("ERR The 'default' user cannot be removed");
  }
  std::int64_t removed = 0;
  for (const std::string_view name : names) {
    if (!call.node.accounts().remove(name, &call.session)) continue;
    audit_change(call, "deluser", name);
    ++removed;
  }
  return Reply::integer(removed);
}

Reply cat(Call& call) {
  if (call.words.size() > 3) return wrong_subcommand_use("acl", call.word(1));
  if (call.words.size() == 2) return bulks(CommandRights::categories());
  const auto category = CommandRights::find_category(call.word(2));
  if (!category) {
    return Reply::error(fmt::format("ERR Unknown category '{}'", echoed(call.word(2))));
  }
  const CommandRights& rights = call.node.access().rights();
  Reply names = Reply::array();
  for (std::size_t i = 0; i < rights.size(); ++i) {
    const auto command = static_cast<CommandRights::Number>(i);
    if (rights.is_in(command, *category)) names.add(Reply::bulk_view(rights.spec(command).name));
  }
  return names;
}

Reply genpass(Call& call) {
  constexpr std::int64_t kBitsMax = 4096;
  std::int64_t bits = 256;
  if (call.words.size() > 3) return wrong_subcommand_use("acl", call.word(1));
  if (call.words.size() == 3) {
    const auto number = parse_int64(call.word(2));
    if (!number) return Reply::error_view(kNotAnInteger);
    if (*number <= 0 || *number > kBitsMax) {
      return Reply::error_view(
          "ERR ACL GENPASS argument must be the number of bits for the output password, a positive "
          "number up to 4096");
    }
    bits = *number;
  }
  std::array<unsigned char, kBitsMax / 8> bytes{};
  if (!call.node.fill_with_secrets(bytes)) {
    return Reply::error_view("ERR this node has no randomness for secrets");
  }
  std::string digits;
  for (const unsigned char byte : bytes) digits += fmt::format("{:02x}", byte);
  digits.resize(static_cast<std::size_t>((bits + 3) / 4));
  return Reply::bulk(std::move(digits));
}

Reply entry_of(const AccessLog::Entry& entry, Instant now) {
  Reply told = Reply::map({});
  told.add_field("count", Reply::integer(static_cast<std::int64_t>(entry.count)));
  told.add_field("reason", Reply::bulk_view(reason_name(entry.reason)));
  told.add_field("context", Reply::bulk_view(context_name(entry.context)));
  told.add_field("object", Reply::bulk(entry.object));
  told.add_field("username", Reply::bulk(entry.username));
  const auto age = std::chrono::duration<double>(now - entry.when).count();
  told.add_field("age-seconds", Reply::real(age));
  told.add_field("client-info", Reply::bulk(entry.client));
  return told;
}

// ACL LOG [count|RESET]
Reply log(Call& call) {
  constexpr std::int64_t kUsual = 10;
  if (call.words.size() > 3) return wrong_subcommand_use("acl", call.word(1));
  AccessLog& log = call.node.access().log();
  std::int64_t count = kUsual;
  if (call.words.size() == 3) {
    if (equals_ignoring_case(call.word(2), "RESET")) {
      log.clear();
      return Reply::ok();
    }
    const auto number = parse_int64(call.word(2));
    if (!number) return Reply::error_view(kNotAnInteger);
    count = *number;
  }
  Reply entries = Reply::array();
  for (const AccessLog::Entry& entry : log.entries()) {
    if (count <= 0) break;
    --count;
    entries.add(entry_of(entry, call.instant()));
  }
  return entries;
}

// ACL DRYRUN user command [arg ...]
Reply dryrun(Call& call) {
  const Users::Shared user = call.node.access().users().find(call.word(2));
  if (user == nullptr) {
    return Reply::error(fmt::format("ERR User '{}' not found", echoed(call.word(2))));
  }
  const Request words = call.words.subspan(3);
  const CommandTable::Entry* const entry = call.node.commands().find(words).entry;
  if (entry == nullptr) {
    return Reply::error(fmt::format("ERR Command '{}' not found", echoed(words[0])));
  }
  const CommandSpec& spec = entry->command->spec;
  if (!spec.takes(words.size())) return wrong_arity(spec.name);
  const Denial denial = user->check(entry->number, words);
  if (!denial) return Reply::ok();
  return Reply::bulk(dry_refusal_text(denial, spec.name, words));
}

Reply load(Call& call) {
  Accounts& accounts = call.node.accounts();
  if (!accounts.has_file()) return Reply::error_view(kNoFile);
  const Status loaded = accounts.load(&call.session);
  if (loaded) {
    audit_change(call, "load", "*");
    return Reply::ok();
  }
  return Reply::error(
      fmt::format("ERR {}WARNING: ACL errors detected, no change to the previously active ACL "
                  "rules was performed",
                  loaded.error().text));
}

Reply save(Call& call) {
  Accounts& accounts = call.node.accounts();
  if (!accounts.has_file()) return Reply::error_view(kNoFile);
  const Status saved = accounts.save();
  return saved ? Reply::ok() : Reply::error(fmt::format("ERR {}", saved.error().text));
}

Reply help(Call& call) {
  return container_help(call.node.commands().specs(), "acl");
}

constexpr std::uint32_t kAnybody = kNoScript | kLoading | kStale;
constexpr std::uint32_t kOperator = kAnybody | kAdmin;

constexpr Command kAclCommands[] = {
    {{"acl", -2, 0, 0, 0, 0, "server", "6.0.0", "Commands about users and their rights.", ""},
     nullptr},
    {{"acl|cat", -2, kAnybody, 0, 0, 0, "server", "6.0.0",
      "Answers the categories of commands, or the commands of one.", "[category]"},
     cat},
    {{"acl|deluser", -3, kOperator, 0, 0, 0, "server", "6.0.0",
      "Removes users, and closes their connections.", "username [username ...]"},
     deluser},
    {{"acl|dryrun", -4, kOperator, 0, 0, 0, "server", "7.0.0",
      "Answers whether a user may do something, and does nothing.",
      "username command [arg [arg ...]]"},
     dryrun},
    {{"acl|genpass", -2, kAnybody, 0, 0, 0, "server", "6.0.0",
      "Answers a password that nobody can guess.", "[bits]"},
     genpass},
    {{"acl|getuser", 3, kOperator, 0, 0, 0, "server", "6.0.0", "Answers a user's rules.",
      "username"},
     getuser},
    {{"acl|list", 2, kOperator, 0, 0, 0, "server", "6.0.0",
      "Answers all users, as lines of an ACL file.", ""},
     list},
    {{"acl|load", 2, kOperator, 0, 0, 0, "server", "6.0.0", "Reads the ACL file anew.", ""}, load},
    {{"acl|log", -2, kOperator, 0, 0, 0, "server", "6.0.0",
      "Answers what was refused to whom, the newest first.", "[count|RESET]"},
     log},
    {{"acl|save", 2, kOperator, 0, 0, 0, "server", "6.0.0", "Writes the users to the ACL file.",
      ""},
     save},
    {{"acl|setuser", -3, kOperator, 0, 0, 0, "server", "6.0.0",
      "Makes a user, or changes his rules.", "username [rule [rule ...]]"},
     setuser},
    {{"acl|users", 2, kOperator, 0, 0, 0, "server", "6.0.0", "Answers the names of all users.", ""},
     users},
    {{"acl|whoami", 2, kAnybody, 0, 0, 0, "server", "6.0.0",
      "Answers the name of this connection's user.", ""},
     whoami},
    {{"acl|help", 2, kAnybody, 0, 0, 0, "server", "6.0.0", "Explains ACL's subcommands.", ""},
     help},
};

}  // namespace

Family acl_commands() {
  return kAclCommands;
}

}  // namespace redlock::server
