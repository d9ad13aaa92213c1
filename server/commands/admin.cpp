// INFO, COMMAND, CONFIG, TIME, ROLE, WAIT, CLUSTER, SHUTDOWN: for operators, and for the client
// libraries that ask before they begin.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/catalogue/glob.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/commands/info.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/settings/setting_table.h"

#include <fmt/format.h>

namespace redlock::server {
namespace {

using namespace protocol;  // flags, error texts, what COMMAND tells

Reply info(Call& call) {
  return Reply::verbatim(info_text(call.node, call.words.subspan(1), call.now));
}

Reply command_all(Call& call) {
  return command_info(call.node.commands().specs(), {});
}
Reply command_count_of(Call& call) {
  return command_count(call.node.commands().specs());
}
Reply command_list_of(Call& call) {
  return command_list(call.node.commands().specs(), call.words.subspan(2));
}
Reply command_info_of(Call& call) {
  return command_info(call.node.commands().specs(), call.words.subspan(2));
}
Reply command_docs_of(Call& call) {
  return command_docs(call.node.commands().specs(), call.words.subspan(2));
}
Reply command_getkeys_of(Call& call) {
  return command_getkeys(call.node.commands().specs(), call.words.subspan(2));
}
Reply command_help(Call& call) {
  return container_help(call.node.commands().specs(), "command");
}

Reply config_get(Call& call) {
  auto found = get(call.node.settings(), call.words.subspan(2));
  if (!found) return Reply::error_view(kPatternsTakeTooLong);
  Reply answer = Reply::map({});
  for (auto& [name, value] : *found) {
    answer.add(Reply::bulk(std::move(name))).add(Reply::bulk(std::move(value)));
  }
  return answer;
}

// A line for each of "parameter value …".
void audit_settings(const Call& call, Request names_and_values) {
  if (!call.node.audit().is_on()) return;
  for (std::size_t at = 0; at < names_and_values.size(); at += 2) {
    const std::string_view name = names_and_values[at];
    const std::string_view value = is_secret(name) ? "(not shown)" : names_and_values[at + 1];
    call.node.audit().tell(Audit::Event::setting_changed, call.node.who_of(call),
                           {{"setting", name}, {"value", value}}, call.now);
  }
}

Reply config_set(Call& call) {
  const auto changed = set(call.node.settings(), call.words.subspan(2), call.node.accept_tls());
  if (!changed) return Reply::error(changed.error().text);
  for (const std::string& warning : changed.value()) {
    call.node.client_log().log(ClientLog::Kind::setting, LogLevel::warning, warning,
                               call.instant());
  }
  call.node.apply_settings();
  audit_settings(call, call.words.subspan(2));
  return Reply::ok();
}

Reply config_resetstat(Call& call) {
  call.node.forget_stats();
  call.node.commands().reset_stats();
  call.node.observers().forget_histograms();
  return Reply::ok();
}

Reply config_rewrite(Call&) {
  return Reply::error_view(
      "ERR CONFIG REWRITE is not served: the configuration file is the operator's; change it "
      "there");
}

Reply config_help(Call& call) {
  return container_help(call.node.commands().specs(), "config");
}

Reply time(Call& call) {
  const auto us =
      std::chrono::floor<std::chrono::microseconds>(call.now.wall.time_since_epoch()).count();
  Reply answer = Reply::array();
  answer.add(Reply::bulk(std::to_string(us / 1'000'000)));
  answer.add(Reply::bulk(std::to_string(us % 1'000'000)));
  return answer;
}

Reply role(Call&) {
  Reply answer = Reply::array();
  answer.add(Reply::bulk_view("master")).add(Reply::integer(0)).add(Reply::array());
  return answer;
}

// WAIT numreplicas timeout: a node has no replicas and none will come, so nothing is waited for.
Reply wait(Call& call) {
  if (!parse_int64(call.word(1))) return Reply::error_view(kNotAnInteger);
  const auto timeout = parse_int64(call.word(2));
  if (!timeout) return Reply::error_view("ERR timeout is not an integer or out of range");
  if (*timeout < 0) return Reply::error_view("ERR timeout is negative");
  return Reply::integer(0);
}

// SHUTDOWN [NOSAVE|SAVE] [NOW] [FORCE] [ABORT]. While a script overruns only NOSAVE is served, as
// in Redis: what the script does would otherwise be saved half done.
Reply shutdown(Call& call) {
  StopRequest request;
  bool names_save = false;
  for (const std::string_view word : call.words.subspan(1)) {
    if (equals_ignoring_case(word, "NOSAVE") && !names_save) {
      request.save = false;
    } else if (equals_ignoring_case(word, "SAVE") && request.save) {
      names_save = true;
    } else if (equals_ignoring_case(word, "ABORT")) {
      return Reply::error_view("ERR No shutdown in progress.");
    } else if (!equals_ignoring_case(word, "NOW") && !equals_ignoring_case(word, "FORCE")) {
      return Reply::error_view(kSyntaxError);
    }
  }
  if (request.save && call.node.has_suspended()) {
    return Reply::error_view(kBusyRunningScript);
  }
  if (call.node.audit().is_on()) {
    call.node.audit().tell(Audit::Event::shutdown, call.node.who_of(call),
                           {{"mode", request.save ? "save" : "nosave"}}, call.now);
  }
  call.node.stop(request);
  return Reply::none();
}

constexpr std::uint32_t kAskAtAnyTime = kLoading | kStale;
constexpr std::uint32_t kOperate = kAdmin | kNoScript | kLoading | kStale;

// CLUSTER: a node is none, and each of Redis's subcommands says so. They are known by name so that
// what is no subcommand, or has not its count of words, is refused at once, also inside MULTI.
Reply no_cluster(Call&) {
  return Reply::error_view("ERR This instance has cluster support disabled");
}

constexpr Command asks(std::string_view name, int arity) {
  return {{name, arity, kStale, 0, 0, 0, "cluster", "3.0.0", "A lock node is no cluster.", ""},
          no_cluster};
}

constexpr Command manages(std::string_view name, int arity) {
  Command command = asks(name, arity);
  command.spec.flags |= kAdmin;
  return command;
}

constexpr Command kAdminCommands[] = {
    {{"info", -1, kAskAtAnyTime | kTimed, 0, 0, 0, "server", "1.0.0", "Tells the node's state.",
      "[section [section ...]]"},
     info},
    {{"command", -1, kAskAtAnyTime | kTimed, 0, 0, 0, "server", "2.8.13",
      "Tells about all commands.", ""},
     command_all},
    {{"command|count", 2, kAskAtAnyTime, 0, 0, 0, "server", "2.8.13",
      "Answers how many commands there are.", ""},
     command_count_of},
    {{"command|list", -2, kAskAtAnyTime | kTimed, 0, 0, 0, "server", "7.0.0",
      "Answers the commands' names.",
      "[FILTERBY <MODULE module-name|ACLCAT category|PATTERN pattern>]"},
     command_list_of},
    {{"command|info", -2, kAskAtAnyTime | kTimed, 0, 0, 0, "server", "2.8.13",
      "Tells about commands.", "[command-name [command-name ...]]"},
     command_info_of},
    {{"command|docs", -2, kAskAtAnyTime | kTimed, 0, 0, 0, "server", "7.0.0", "Explains commands.",
      "[command-name [command-name ...]]"},
     command_docs_of},
    {{"command|getkeys", -4, kAskAtAnyTime, 0, 0, 0, "server", "2.8.13",
      "Answers the keys that a command names.", "command arg [arg ...]"},
     command_getkeys_of},
    {{"command|help", 2, kAskAtAnyTime, 0, 0, 0, "server", "5.0.0",
      "Explains COMMAND's subcommands.", ""},
     command_help},
    {{"config", -2, 0, 0, 0, 0, "server", "2.0.0", "Commands about the configuration.", ""},
     nullptr},
    {{"config|get", -3, kOperate | kTimed, 0, 0, 0, "server", "2.0.0", "Answers settings.",
      "parameter [parameter ...]"},
     config_get},
    {{"config|set", -4, kOperate, 0, 0, 0, "server", "2.0.0", "Changes settings.",
      "parameter value [parameter value ...]"},
     config_set},
    {{"config|resetstat", 2, kOperate, 0, 0, 0, "server", "2.0.0", "Sets the counters to zero.",
      ""},
     config_resetstat},
    {{"config|rewrite", 2, kOperate, 0, 0, 0, "server", "2.8.0", "Not served.", ""},
     config_rewrite},
    {{"config|help", 2, kAskAtAnyTime, 0, 0, 0, "server", "5.0.0", "Explains CONFIG's subcommands.",
      ""},
     config_help},
    {{"time", 1, kAskAtAnyTime | kFast, 0, 0, 0, "server", "2.6.0", "Answers the wall-clock time.",
      ""},
     time},
    {{"role", 1, kNoScript | kAskAtAnyTime | kFast, 0, 0, 0, "server", "2.8.12",
      "Answers the replication role: always master.", ""},
     role},
    {{"wait", 3, kNoScript, 0, 0, 0, "generic", "3.0.0",
      "Answers how many replicas have a write: none, at once.", "numreplicas timeout"},
     wait},
    {{"shutdown", -1, kOperate | kNoMulti | kAllowBusy, 0, 0, 0, "server", "1.0.0",
      "Stops the node cleanly; its locks come back with it.",
      "[NOSAVE|SAVE] [NOW] [FORCE] [ABORT]"},
     shutdown},
    {{"cluster", -2, 0, 0, 0, 0, "cluster", "3.0.0", "Commands about a cluster, which this is not.",
      ""},
     nullptr},
    manages("cluster|addslots", -3),
    manages("cluster|addslotsrange", -4),
    manages("cluster|bumpepoch", 2),
    manages("cluster|count-failure-reports", 3),
    asks("cluster|countkeysinslot", 3),
    manages("cluster|delslots", -3),
    manages("cluster|delslotsrange", -4),
    manages("cluster|failover", -2),
    manages("cluster|flushslots", 2),
    manages("cluster|forget", 3),
    asks("cluster|getkeysinslot", 4),
    asks("cluster|help", 2),
    asks("cluster|info", 2),
    asks("cluster|keyslot", 3),
    asks("cluster|links", 2),
    manages("cluster|meet", -4),
    asks("cluster|myid", 2),
    asks("cluster|nodes", 2),
    manages("cluster|replicas", 3),
    manages("cluster|replicate", 3),
    manages("cluster|reset", -2),
    manages("cluster|saveconfig", 2),
    manages("cluster|set-config-epoch", 3),
    manages("cluster|setslot", -4),
    asks("cluster|shards", 2),
    manages("cluster|slaves", 3),
    asks("cluster|slots", 2),
};

}  // namespace

Family admin_commands() {
  return kAdminCommands;
}

}  // namespace redlock::server
