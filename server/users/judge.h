// Judge: whether the user of a session may have this done, in Redis's words, and noted for ACL LOG.
//
//   if (session.is_restricted()) {
//     if (Refusal no = judge.refuse(session, command, request, now)) return no;
//   }
//
// Commands come by three ways: from a client, from its EXEC, and from its script, also one that
// runs without Lua. Each of them asks. A session with all rights asks never.
//
// Thread safety: none.
#pragma once

#include "base/time.h"
#include "protocol/access/access_log.h"
#include "protocol/access/command_rights.h"
#include "protocol/access/user.h"
#include "protocol/resp/refusal.h"
#include "protocol/resp/request.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"

namespace redlock::server {

class Judge {
 public:
  using Session = protocol::Session;
  using Context = protocol::AccessLog::Context;
  using Number = protocol::CommandRights::Number;

  // All outlive it.
  Judge(const protocol::CommandRights& rights, protocol::AccessLog& log,
        protocol::Sessions& sessions)
      : rights_(rights), log_(log), sessions_(sessions) {}

  // REQUIRES of each: the session is restricted.
  protocol::Refusal refuse(Session& session, Number command, protocol::Request request,
                           Instant now);
  // His rights may have changed since the command was queued.
  protocol::Refusal refuse_queued(const Session& session, Number command, protocol::Request request,
                                  Instant now);
  // session: in whose name scripts call, with the rights of the caller's user.
  protocol::Refusal refuse_in_script(const Session& session, Session::Id caller, Number command,
                                     protocol::Request request, Instant now);
  // One more reason, that is not about a command's words: scripts that are not known.
  void note(const Session& session, Context context, std::string_view object, Instant now);

 private:
  protocol::Denial judge(const Session& session, Number command, protocol::Request request) const;
  void note(const Session& session, const Session* client, Context context, protocol::Denial denial,
            Number command, protocol::Request request, Instant now);

  const protocol::CommandRights& rights_;
  protocol::AccessLog& log_;
  protocol::Sessions& sessions_;
};

// How a request is refused to a user, and how ACL DRYRUN tells it.
std::string refusal_text(protocol::Denial denial, std::string_view command);
std::string dry_refusal_text(protocol::Denial denial, std::string_view command,
                             protocol::Request request);

}  // namespace redlock::server
