#include "server/users/judge.h"

#include "base/invariant.h"
#include "protocol/session/session_commands.h"

#include <utility>

#include <fmt/format.h>

namespace redlock::server {

using protocol::AccessLog;
using protocol::Denial;
using protocol::Refusal;
using protocol::Reply;
using protocol::Request;

namespace {

AccessLog::Reason reason_of(Denial denial) {
  if (denial.reason == Denial::Reason::command) return AccessLog::Reason::command;
  return denial.reason == Denial::Reason::key ? AccessLog::Reason::key : AccessLog::Reason::channel;
}

// What Redis calls it to a client whose EXEC comes too late.
std::string_view late_reason(Denial denial) {
  switch (denial.reason) {
    case Denial::Reason::command:
      return "no permission to execute the command or subcommand";
    case Denial::Reason::key:
      return "no permission to touch the specified keys";
    case Denial::Reason::channel:
      return "no permission to access one of the channels used as arguments to the command";
    case Denial::Reason::none:
      break;
  }
  return "no permission";
}

std::string_view reason_in_script(Denial denial) {
  switch (denial.reason) {
    case Denial::Reason::command:
      return "can't run this command or subcommand";
    case Denial::Reason::key:
      return "can't access at least one of the keys mentioned in the command arguments";
    case Denial::Reason::channel:
      return "can't publish to the channel mentioned in the command";
    case Denial::Reason::none:
      break;
  }
  return "lacking the permissions for the command";
}

}  // namespace

std::string refusal_text(Denial denial, std::string_view command) {
  switch (denial.reason) {
    case Denial::Reason::key:
      return "NOPERM this user has no permissions to access one of the keys used as arguments";
    case Denial::Reason::channel:
      return "NOPERM this user has no permissions to access one of the channels used as arguments";
    case Denial::Reason::command:
    case Denial::Reason::none:
      break;
  }
  return fmt::format("NOPERM this user has no permissions to run the '{}' command", command);
}

std::string dry_refusal_text(Denial denial, std::string_view command, Request request) {
  if (denial.reason == Denial::Reason::command) {
    return fmt::format("This user has no permissions to run the '{}' command", command);
  }
  const bool is_key = denial.reason == Denial::Reason::key;
  if (denial.place == 0) {
    return fmt::format("This user has no permissions to run the '{}' command on all keys", command);
  }
  return fmt::format("This user has no permissions to access the '{}' {}", request[denial.place],
                     is_key ? "key" : "channel");
}

Denial Judge::judge(const Session& session, Number command, Request request) const {
  INVARIANT(session.user() != nullptr, "a restricted session that is nobody's");
  return session.user()->check(command, request);
}

Refusal Judge::refuse(Session& session, Number command, Request request, Instant now) {
  const Denial denial = judge(session, command, request);
  if (!denial) return {};
  const bool is_queued = session.transaction() != nullptr;
  session.last_command = rights_.spec(command).name;
  note(session, &session, is_queued ? Context::multi : Context::toplevel, denial, command, request,
       now);
  return Reply::error(refusal_text(denial, rights_.spec(command).name));
}

Refusal Judge::refuse_queued(const Session& session, Number command, Request request, Instant now) {
  const Denial denial = judge(session, command, request);
  if (!denial) return {};
  note(session, &session, Context::multi, denial, command, request, now);
  return Reply::error(fmt::format(
      "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
      "call. This command is no longer allowed for the following reason: {}",
      late_reason(denial)));
}

Refusal Judge::refuse_in_script(const Session& session, Session::Id caller, Number command,
                                Request request, Instant now) {
  const Denial denial = judge(session, command, request);
  if (!denial) return {};
  note(session, sessions_.find(caller), Context::lua, denial, command, request, now);
  return Reply::error(
      fmt::format("ERR The user executing the script {}", reason_in_script(denial)));
}

void Judge::note(const Session& session, Context context, std::string_view object, Instant now) {
  log_.add({AccessLog::Reason::command, context, std::string(object),
            std::string(session.user_name()), protocol::client_line(session, now), now});
}

void Judge::note(const Session& session, const Session* client, Context context, Denial denial,
                 Number command, Request request, Instant now) {
  const std::string_view object =
      denial.place > 0 ? request[denial.place] : rights_.spec(command).name;
  log_.add({reason_of(denial), context, std::string(object), std::string(session.user_name()),
            client != nullptr ? protocol::client_line(*client, now) : "", now});
}

}  // namespace redlock::server
