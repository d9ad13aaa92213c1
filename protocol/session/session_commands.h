// The commands of a session: HELLO, AUTH, SELECT, PING, ECHO, QUIT, RESET and CLIENT's subcommands.
//
// Pure and the same for node and front door: each looks at the session, at the other sessions and
// at who may speak, and at nothing else. The caller has checked the count of words
// (CommandSpec::takes).
#pragma once

#include "base/time.h"
#include "protocol/resp/reply.h"
#include "protocol/resp/request.h"
#include "protocol/session/access_control.h"
#include "protocol/session/session.h"
#include "protocol/session/sessions.h"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::protocol {

// What a session command may reach. All references outlive the call.
struct SessionCall {
  Session& session;
  Sessions& sessions;
  AccessControl& access;
  std::string_view redis_version;  // the Redis version that is announced
  Request words;
  Now now;
};

// One client in CLIENT LIST's form, without the line's end.
std::string client_line(const Session& session, Instant now);

// Why a client cannot say this word of itself: CLIENT LIST could not be read with it. what:
// "Client names" …
std::optional<Reply> refuse_client_word(std::string_view what, std::string_view word);

Reply hello(SessionCall& call);
Reply auth(SessionCall& call);
Reply select(SessionCall& call);
Reply ping(SessionCall& call);
Reply echo(SessionCall& call);
Reply quit(SessionCall& call);
Reply reset(SessionCall& call);

Reply client_id(SessionCall& call);
Reply client_getname(SessionCall& call);
Reply client_setname(SessionCall& call);
Reply client_setinfo(SessionCall& call);
Reply client_info(SessionCall& call);
Reply client_list(SessionCall& call);
Reply client_kill(SessionCall& call);
Reply client_reply(SessionCall& call);
Reply client_no_evict(SessionCall& call);
Reply client_no_touch(SessionCall& call);

}  // namespace redlock::protocol
