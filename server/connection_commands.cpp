// The session's commands in the node's table.
#include "protocol/command_docs.h"
#include "server/command.h"
#include "server/node.h"

namespace redlock::server {
namespace {

using namespace protocol;  // the flags and the session's commands

Reply client_help(Call& call) {
  return container_help(call.node.commands().specs(), "client");
}

Reply reset_all(Call& call) {
  call.node.forget_wishes(call.session);
  return reset(call);
}

constexpr std::uint32_t kSession = kNoScript | kLoading | kStale;
constexpr std::uint32_t kHandshake = kSession | kFast | kNoAuth | kAllowBusy;

// name, arity, flags, first key, last key, step, group, since, summary, syntax
constexpr Command kCommands[] = {
    {{"auth", -2, kHandshake, 0, 0, 0, "connection", "1.0.0", "Authenticates the connection.",
      "[username] password"},
     of_session<auth>},
    {{"hello", -1, kHandshake, 0, 0, 0, "connection", "6.0.0",
      "Handshakes with the server: protocol version, password, name.",
      "[protover] [AUTH username password] [SETNAME clientname]"},
     of_session<hello>},
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
    {{"reset", 1, kHandshake | kNotQueued, 0, 0, 0, "connection", "6.2.0",
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
    {{"client|list", -2, kSession | kAdmin, 0, 0, 0, "connection", "2.4.0",
      "Tells about all connections.",
      "[TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [ID client-id [client-id ...]]"},
     of_session<client_list>},
    {{"client|kill", -3, kSession | kAdmin, 0, 0, 0, "connection", "2.4.0", "Ends connections.",
      "<ip:port|[ID client-id] [TYPE <NORMAL|MASTER|REPLICA|PUBSUB>] [USER username] [ADDR "
      "ip:port] "
      "[LADDR ip:port] [SKIPME <YES|NO>]>"},
     of_session<client_kill>},
    {{"client|no-evict", 3, kSession | kAdmin, 0, 0, 0, "connection", "7.0.0",
      "Accepted; a lock node evicts nobody.", "<ON|OFF>"},
     of_session<client_no_evict>},
    {{"client|no-touch", 3, kSession, 0, 0, 0, "connection", "7.2.0",
      "Accepted; a lock node keeps no access times.", "<ON|OFF>"},
     of_session<client_no_touch>},
    {{"client|help", 2, kSession, 0, 0, 0, "connection", "5.0.0", "Explains CLIENT's subcommands.",
      ""},
     client_help},
};

}  // namespace

std::span<const Command> connection_commands() {
  return kCommands;
}

}  // namespace redlock::server
