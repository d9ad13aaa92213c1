// EVAL, EVALSHA and SCRIPT.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"

namespace redlock::server {
namespace {

using namespace protocol;  // flags and error texts

// "EVAL script numkeys key … argument …": where the keys end. Redis's order of checks.
Refusal read_key_count(const Call& call, std::size_t& count) {
  const auto number = parse_int64(call.word(2));
  if (!number) return Reply::error_view(kNotAnInteger);
  const auto given = static_cast<std::int64_t>(call.words.size()) - 3;
  if (*number > given) {
    return Reply::error_view("ERR Number of keys can't be greater than number of args");
  }
  if (*number < 0) return Reply::error_view("ERR Number of keys can't be negative");
  count = static_cast<std::size_t>(*number);
  return std::nullopt;
}

Reply run(Call& call, const lua::Script& script, std::size_t keys) {
  return call.node.run_script(call, script, call.words.subspan(3, keys),
                              call.words.subspan(3 + keys));
}

// A debugger runs the script beside the data, and whoever uses one counts on that. As here is none,
// the script is not run at all. redis-cli takes this for one that does not compile, shows the error
// and leaves its debugger; Redis too ends the connection after a debugging session.
Reply refuse_to_debug(Call& call) {
  Reply refusal = Reply::error_view("ERR This node has no script debugger, the script was not run");
  if (call.in_transaction) return refusal;
  call.session.close_after_output();
  Reply session_and_refusal = Reply::sequence();
  Reply session = Reply::array();
  session.add(Reply::status("<endsession>"));
  session_and_refusal.add(std::move(session)).add(std::move(refusal));
  return session_and_refusal;
}

Reply eval(Call& call) {
  if (call.session.is_in(protocol::Session::kDebugging)) return refuse_to_debug(call);
  std::size_t keys = 0;
  if (Refusal no = read_key_count(call, keys)) return no;
  Scripts& scripts = call.node.scripts();
  if (scripts.is_closed_to(call.session)) {
    if (Refusal no = scripts.refuse_unknown(call.session, call.word(1), call.instant())) return no;
  }
  lua::Engine::Loaded loaded = scripts.load(call.word(1), lua::Engine::Keep::recent);
  if (loaded.script == nullptr) return Reply::error(std::move(loaded.error));
  return run(call, *loaded.script, keys);
}

Reply evalsha(Call& call) {
  if (call.session.is_in(protocol::Session::kDebugging)) {
    return Reply::error_view("ERR Please use EVAL instead of EVALSHA for debugging");
  }
  std::size_t keys = 0;
  if (Refusal no = read_key_count(call, keys)) return no;
  const lua::Script* script = call.node.scripts().engine().find(call.word(1));
  if (script == nullptr) return Reply::error_view("NOSCRIPT No matching script. Please use EVAL.");
  Scripts& scripts = call.node.scripts();
  if (scripts.is_closed_to(call.session)) {
    if (Refusal no = scripts.refuse_unknown(call.session, script->body(), call.instant()))
      return no;
  }
  return run(call, *script, keys);
}

// Whoever may change the settings could open the node to all scripts: he vouches for what he loads.
bool is_operator(const Call& call) {
  if (!call.session.is_restricted()) return true;
  const User& user = *call.session.user();
  const auto setting = call.node.access().rights().find("config|set");
  return setting && user.may_call(*setting) && !user.limits().runs_known_scripts_only;
}

Reply script_load(Call& call) {
  Scripts& scripts = call.node.scripts();
  if (scripts.is_closed_to(call.session) && !is_operator(call)) {
    if (Refusal no = scripts.refuse_unknown(call.session, call.word(2), call.instant())) return no;
  }
  lua::Engine::Loaded loaded = scripts.load(call.word(2), lua::Engine::Keep::until_flush);
  if (loaded.script == nullptr) return Reply::error(std::move(loaded.error));
  if (is_operator(call)) scripts.trust(*loaded.script);
  return Reply::bulk(std::string(loaded.script->sha1()));
}

Reply script_exists(Call& call) {
  Reply answer = Reply::array();
  for (const std::string_view sha1 : call.words.subspan(2)) {
    answer.add(Reply::integer(call.node.scripts().engine().find(sha1) != nullptr ? 1 : 0));
  }
  return answer;
}

Reply script_flush(Call& call) {
  const bool has_mode = call.words.size() == 3;
  const bool is_known = has_mode && (equals_ignoring_case(call.word(2), "SYNC") ||
                                     equals_ignoring_case(call.word(2), "ASYNC"));
  if (call.words.size() > 3 || (has_mode && !is_known)) {
    return Reply::error_view("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  }
  call.node.scripts().flush();
  return Reply::ok();
}

Reply script_kill(Call& call) {
  return call.node.kill_script();
}

Reply script_debug(Call& call) {
  const std::string_view mode = call.word(2);
  if (equals_ignoring_case(mode, "NO")) {
    call.session.leave(protocol::Session::kDebugging);
  } else if (equals_ignoring_case(mode, "YES") || equals_ignoring_case(mode, "SYNC")) {
    call.session.enter(protocol::Session::kDebugging);
  } else {
    return Reply::error_view("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  }
  return Reply::ok();
}

Reply script_help(Call& call) {
  return container_help(call.node.commands().specs(), "script");
}

constexpr std::uint32_t kEvalFlags =
    kNoScript | kStale | kSkipMonitor | kMovableKeys | kMayReplicate | kTimed;

constexpr Command kScriptCommands[] = {
    {{"eval", -3, kEvalFlags, 0, 0, 0, "scripting", "2.6.0", "Runs a Lua script.",
      "script numkeys [key [key ...]] [arg [arg ...]]"},
     eval},
    {{"evalsha", -3, kEvalFlags, 0, 0, 0, "scripting", "2.6.0",
      "Runs a Lua script that the node knows by its SHA-1.",
      "sha1 numkeys [key [key ...]] [arg [arg ...]]"},
     evalsha},
    {{"script", -2, 0, 0, 0, 0, "scripting", "2.6.0", "Commands about Lua scripts.", ""}, nullptr},
    {{"script|load", 3, kNoScript | kStale | kTimed, 0, 0, 0, "scripting", "2.6.0",
      "Remembers a script and answers its SHA-1.", "script"},
     script_load},
    {{"script|exists", -3, kNoScript, 0, 0, 0, "scripting", "2.6.0",
      "Answers which scripts the node knows.", "sha1 [sha1 ...]"},
     script_exists},
    {{"script|flush", -2, kNoScript, 0, 0, 0, "scripting", "2.6.0", "Forgets all scripts.",
      "[ASYNC|SYNC]"},
     script_flush},
    {{"script|kill", 2, kNoScript | kAllowBusy, 0, 0, 0, "scripting", "2.6.0",
      "Ends the script that runs, if it has not written yet.", ""},
     script_kill},
    {{"script|debug", 3, kNoScript, 0, 0, 0, "scripting", "3.2.0",
      "A node has no script debugger: EVAL is refused until NO.", "<YES|SYNC|NO>"},
     script_debug},
    {{"script|help", 2, kLoading | kStale, 0, 0, 0, "scripting", "5.0.0",
      "Explains SCRIPT's subcommands.", ""},
     script_help},
};

}  // namespace

Family script_commands() {
  return kScriptCommands;
}

}  // namespace redlock::server
