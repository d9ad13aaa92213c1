#include "protocol/session/session_commands.h"

#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/resp/errors.h"

#include <optional>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

bool takes_password(SessionCall& call, std::string_view user, std::string_view password) {
  const bool is_right = call.access.log_in(call.session, user, password);
  call.session.refused_passwords = is_right ? 0 : call.session.refused_passwords + 1;
  if (!is_right) {
    call.access.log().add({AccessLog::Reason::auth, AccessLog::Context::toplevel,
                           std::string(call.words[0]), std::string(user),
                           client_line(call.session, call.now.monotonic), call.now.monotonic});
  }
  return is_right;
}

// Of "HELLO 3 [AUTH user password] [SETNAME name]", from the left and each at once, as Redis 7.0
// does it: what stands before a word that is wrong has been done.
std::optional<Reply> take_hello_options(SessionCall& call) {
  const Request words = call.words;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t left = words.size() - i - 1;
    if (equals_ignoring_case(words[i], "AUTH") && left >= 2) {
      if (!takes_password(call, words[i + 1], words[i + 2])) return Reply::error_view(kWrongPass);
      i += 2;
    } else if (equals_ignoring_case(words[i], "SETNAME") && left >= 1) {
      if (auto refusal = refuse_client_word("Client names", words[i + 1])) return refusal;
      call.session.name = words[i + 1];
      i += 1;
    } else {
      return Reply::error(fmt::format("ERR Syntax error in HELLO option '{}'", echoed(words[i])));
    }
  }
  return std::nullopt;
}

Reply hello_answer(const SessionCall& call) {
  const Session& session = call.session;
  Reply answer = Reply::map({});
  answer.add_field("server", Reply::bulk_view("redis"));
  answer.add_field("version", Reply::bulk_view(call.redis_version));
  answer.add_field("proto", Reply::integer(static_cast<int>(session.version())));
  answer.add_field("id", Reply::integer(session.id()));
  answer.add_field("mode", Reply::bulk_view("standalone"));
  answer.add_field("role", Reply::bulk_view("master"));
  answer.add_field("modules", Reply::array());
  return answer;
}

}  // namespace

Reply hello(SessionCall& call) {
  Session& session = call.session;
  Version version = session.version();
  if (call.words.size() > 1) {
    const auto number = parse_int64(call.words[1]);
    if (!number) return Reply::error_view("ERR Protocol version is not an integer or out of range");
    if (*number != 2 && *number != 3) {
      return Reply::error_view("NOPROTO unsupported protocol version");
    }
    version = static_cast<Version>(*number);
  }
  if (auto problem = take_hello_options(call)) return std::move(*problem);
  if (!session.is_authenticated()) {
    return Reply::error_view(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  session.set_version(version);
  return hello_answer(call);
}

Reply auth(SessionCall& call) {
  if (call.words.size() > 3) return Reply::error_view(kSyntaxError);
  const bool names_user = call.words.size() == 3;
  if (!names_user && call.access.users().default_user().needs_no_password()) {
    return Reply::error_view(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = names_user ? call.words[1] : kDefaultUser;
  return takes_password(call, user, call.words.back()) ? Reply::ok()
                                                       : Reply::error_view(kWrongPass);
}

Reply select(SessionCall& call) {
  const auto number = parse_int64(call.words[1]);
  if (!number) return Reply::error_view(kNotAnInteger);
  if (*number != static_cast<std::int32_t>(*number)) {
    return Reply::error_view(
        "ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  if (*number != 0) return Reply::error_view("ERR DB index is out of range");
  return Reply::ok();
}

Reply ping(SessionCall& call) {
  if (call.words.size() > 2) return wrong_arity("ping");
  const bool has_text = call.words.size() == 2;
  if (call.session.is_listening() && call.session.version() == Version::resp2) {
    Reply answer = Reply::array();  // in the shape of a message, as a listening client expects
    answer.add(Reply::bulk_view("pong")).add(Reply::bulk_view(has_text ? call.words[1] : ""));
    return answer;
  }
  return has_text ? Reply::bulk_view(call.words[1]) : Reply::status_view("PONG");
}

Reply echo(SessionCall& call) {
  return Reply::bulk_view(call.words[1]);
}

Reply quit(SessionCall& call) {
  call.session.close_after_output();
  return Reply::ok();
}

Reply reset(SessionCall& call) {
  call.session.reset(!call.access.is_required());
  call.access.make_default(call.session);
  return Reply::status_view("RESET");
}

}  // namespace redlock::protocol
