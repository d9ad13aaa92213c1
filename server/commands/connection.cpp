// The session's commands in the node's table.
#include "base/text/number.h"
#include "base/text/words.h"
#include "protocol/catalogue/command_docs.h"
#include "protocol/resp/errors.h"
#include "server/commands/families.h"
#include "server/node/command.h"
#include "server/node/node.h"
#include "server/settings/piece.h"

namespace redlock::server {
namespace {

using namespace protocol;  // the flags and the session's commands

Reply client_help(Call& call) {
  return container_help(call.node.commands().specs(), "client");
}

// A command that may let the session in, or out.
template <Reply (*SessionCommand)(SessionCall&)>
Reply at_the_door(Call& call) {
  const std::uint32_t refused_before = call.session.refused_passwords;
  // A transaction answers at once, so nothing would slow the guesses in it.
  if (call.in_transaction && refused_before >= Door::kQuickRefusals) {
    return Reply::error_view(
        "ERR no password is looked at in MULTI after so many wrong ones: send AUTH by itself");
  }
  Reply reply = SessionCommand(call);
  if (call.session.refused_passwords > refused_before && call.node.audit().is_on()) {
    call.node.audit().tell(Audit::Event::password_refused, call.node.who_of(call),
                           {{"command", call.command.spec.name}}, call.now);
  }
  return call.node.door().settle_password(call.session, refused_before, std::move(reply),
                                          call.instant());
}

// In pieces, so that one that listens to much holds nobody up.
Reply reset_all(Call& call) {
  const bool is_much = call.node.wishes_of(call.session) > kNamesOfPiece;
  if (is_much && call.node.forget_some(call.session, kNamesOfPiece) > 0) {
    return call.node.turns().in_next_turn(call.session, call.instant());
  }
  call.node.drop_subscriptions(call.session);
  return at_the_door<reset>(call);
}

// CLIENT PAUSE timeout-ms [WRITE|ALL]
Reply client_pause(Call& call) {
  if (call.words.size() > 4) return wrong_subcommand_use("client", call.word(1));
  auto what = Pause::Of::all;
  if (call.words.size() == 4) {
    const bool is_write = equals_ignoring_case(call.word(3), "WRITE");
    if (!is_write && !equals_ignoring_case(call.word(3), "ALL")) {
      return Reply::error_view("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
    if (is_write) what = Pause::Of::writes;
  }
  const auto ms = parse_int64(call.word(2));
  if (!ms) return Reply::error_view("ERR timeout is not an integer or out of range");
  if (*ms < 0) return Reply::error_view("ERR timeout is negative");
  const bool is_endless = *ms > Duration::max() / 1ms;
  const Instant end = is_endless ? kNever : later(call.instant(), std::chrono::milliseconds(*ms));
  call.node.pause().begin(what, end);
  return Reply::ok();
}

Reply client_unpause(Call& call) {
  call.node.pause().end();
  return Reply::ok();
}

constexpr std::uint32_t kSession = kNoScript | kLoading | kStale;
constexpr std::uint32_t kHandshake = kSession | kFast | kNoAuth | kAllowBusy;

// name, arity, flags, first key, last key, step, group, since, summary, syntax
constexpr Command kConnectionCommands[] = {
    {{"auth", -2, kHandshake, 0, 0, 0, "connection", "1.0.0", "Authenticates the connection.",
      "[username] password"},
     at_the_door<auth>},
    {{"hello", -1, kHandshake, 0, 0, 0, "connection", "6.0.0",
      "Handshakes with the server: protocol version, password, name.",
      "[protover] [AUTH username password] [SETNAME clientname]"},
     at_the_door<hello>},
    {{"select", 2, kLoading | kStale | kFast, 0, 0, 0, "connection", "1.0.0",
      "Changes the selected database; there is one, 0.", "index"},
     of_session<select>},
    {{"ping", -1, kFast, 0, 0, 0, "connection", "1.0.0", "Answers, to show that the server lives.",
      "[message]"},
     of_session<ping>},
    {{"echo", 2, kFast | kLoading | kStale, 0, 0, 0, "connection", "1.0.0",
      "Answers what it is given.", "message"},
     of_session<echo>},
    {{"quit", -1, kHandshake | kNotQueued, 0, 0, 0, "connection", "1.0.0", "Closes the connection.",
      ""},
     of_session<quit>},
    {{"reset", 1, kHandshake | kNotQueued | kTimed, 0, 0, 0, "connection", "6.2.0",
      "Makes the connection as it was when it was new.", ""},
     reset_all},
    {{"client", -2, 0, 0, 0, 0, "connection", "2.4.0", "Commands about connections.", ""}, nullptr},
    {{"client|id", 2, kSession, 0, 0, 0, "connection", "5.0.0", "Answers this connection's number.",
      ""},
     of_session<client_id>},
    {{"client|getname", 2, kSession, 0, 0, 0, "connection", "2.6.9",
      "Answers this connection's name.", ""},
     of_session<client_getname>},
    {{"client|setname", 3, kSession, 0, 0, 0, "connection", "2.6.9", "Names this connection.",
      "connection-name"},
     of_session<client_setname>},
    {{"client|setinfo", 4, kSession, 0, 0, 0, "connection", "7.2.0",
      "Tells which library this client uses.", "<LIB-NAME libname|LIB-VER libver>"},
     of_session<client_setinfo>},
    {{"client|info", 2, kSession, 0, 0, 0, "connection", "6.2.0", "Tells about this connection.",
      ""},
     of_session<client_info>},
    {{"client|list", -2, kSession | kAdmin | kTimed, 0, 0, 0, "connection", "2.4.0",
      "Tells about all connections.",
      "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id [client-id ...]]"},
     of_session<client_list>},
    {{"client|kill", -3, kSession | kAdmin | kTimed, 0, 0, 0, "connection", "2.4.0",
      "Ends connections.",
      "<ip:port|[ID client-id] [TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [USER username] [ADDR "
      "ip:port] "
      "[LADDR ip:port] [SKIPME <YES|NO>]>"},
     of_session<client_kill>},
    {{"client|pause", -3, kSession | kAdmin, 0, 0, 0, "connection", "3.0.0",
      "Makes all commands wait, or those that write.", "timeout [WRITE|ALL]"},
     client_pause},
    {{"client|unpause", 2, kSession | kAdmin, 0, 0, 0, "connection", "6.2.0", "Ends a pause.", ""},
     client_unpause},
    {{"client|reply", 3, kSession, 0, 0, 0, "connection", "3.2.0",
      "Says whether this connection wants answers.", "<ON|OFF|SKIP>"},
     of_session<client_reply>},
    {{"client|no-evict", 3, kSession | kAdmin, 0, 0, 0, "connection", "7.0.0",
      "Accepted; the client that takes most is closed all the same.", "<ON|OFF>"},
     of_session<client_no_evict>},
    {{"client|no-touch", 3, kSession, 0, 0, 0, "connection", "7.2.0",
      "Accepted; a lock node keeps no access times.", "<ON|OFF>"},
     of_session<client_no_touch>},
    {{"client|help", 2, kSession, 0, 0, 0, "connection", "5.0.0", "Explains CLIENT's subcommands.",
      ""},
     client_help},
};

}  // namespace

Family connection_commands() {
  return kConnectionCommands;
}

}  // namespace redlock::server
