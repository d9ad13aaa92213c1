#include "protocol/session/session_commands.h"
#include "tests/unit/protocol/session_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

// The clients in a CLIENT LIST by their ids: "1 3".
std::string ids_in(const std::string& list) {
  std::string ids;
  for (std::size_t at = list.find("id="); at != std::string::npos; at = list.find("id=", at + 1)) {
    const bool is_line_start = at == 1 || list.substr(at - 2, 2) == "\\n";
    if (!is_line_start) continue;
    if (!ids.empty()) ids += ' ';
    ids += list.substr(at + 3, list.find(' ', at) - at - 3);
  }
  return ids;
}

}  // namespace

TEST_CASE("a client has an id, and a name if it gives itself one") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("CLIENT ID") == "(integer) 1");
  CHECK(client("CLIENT GETNAME") == "(nil)");
  CHECK(client("CLIENT SETNAME worker-1") == "+OK");
  CHECK(client("CLIENT GETNAME") == "\"worker-1\"");
  CHECK(client("CLIENT SETNAME \"a b\"") ==
        "-ERR Client names cannot contain spaces, newlines or special characters.");
  CHECK(client("CLIENT SETNAME \"a\\n\"").starts_with("-ERR Client names"));
  CHECK(client("CLIENT GETNAME") == "\"worker-1\"");
  CHECK(client("CLIENT SETNAME \"\"") == "+OK");
  CHECK(client("CLIENT GETNAME") == "(nil)");
}

TEST_CASE("what a client says of itself is at most 256 bytes") {
  SessionFixture service;
  auto client = service.client();
  const std::string most(256, 'n');
  CHECK(client("CLIENT SETNAME " + most) == "+OK");
  CHECK(client("CLIENT SETINFO LIB-NAME " + most) == "+OK");
  CHECK(client("CLIENT SETNAME " + most + "n") ==
        "-ERR Client names cannot be longer than 256 bytes.");
  CHECK(client("HELLO 3 SETNAME " + most + "n") ==
        "-ERR Client names cannot be longer than 256 bytes.");
  for (const std::string what : {"LIB-NAME", "LIB-VER"}) {
    CHECK(client("CLIENT SETINFO " + what + " " + most + "n") ==
          "-ERR " + what + " cannot be longer than 256 bytes.");
  }
  CHECK(client("CLIENT GETNAME").size() == most.size() + 2);
}

TEST_CASE("a client library tells its name and version") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("CLIENT SETINFO LIB-NAME redis-py") == "+OK");
  CHECK(client("CLIENT SETINFO lib-ver 5.0.1") == "+OK");
  CHECK(client("CLIENT SETINFO lib-foo x") == "-ERR Unrecognized option 'lib-foo'");
  CHECK(client("CLIENT SETINFO lib-name \"a b\"") ==
        "-ERR lib-name cannot contain spaces, newlines or special characters.");
  CHECK(client("CLIENT INFO").find("lib-name=redis-py lib-ver=5.0.1") != std::string::npos);
}

TEST_CASE("CLIENT INFO has the fields of Redis 7.2 in their order") {
  SessionFixture service;
  auto client = service.client("10.0.0.7:40001");
  client("CLIENT SETNAME worker");
  service.now.monotonic += 90s;
  client("PING");
  service.now.monotonic += 0s;
  const std::string line = client("CLIENT INFO");
  CHECK(line.starts_with(
      "\"id=1 addr=10.0.0.7:40001 laddr=127.0.0.1:6379 fd=8 name=worker age=90 idle=0 flags=N "
      "db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 "
      "rbp=0 "
      "obl=0 oll=0 omem=0 tot-mem="));
  CHECK(line.ends_with(" events=r cmd=NULL user=default redir=-1 resp=2 lib-name= lib-ver=\\n\""));
}

TEST_CASE("CLIENT LIST tells all clients, or those asked for") {
  SessionFixture service;
  auto client = service.client();
  service.client();
  service.client();
  CHECK(ids_in(client("CLIENT LIST")) == "1 2 3");
  CHECK(ids_in(client("CLIENT LIST TYPE normal")) == "1 2 3");
  CHECK(client("CLIENT LIST TYPE pubsub") == "\"\"");
  CHECK(ids_in(client("CLIENT LIST ID 3 1 99")) == "1 3");
  CHECK(client("CLIENT LIST ID 99") == "\"\"");
  CHECK(client("CLIENT LIST ID x") == "-ERR Invalid client ID");
  CHECK(client("CLIENT LIST ID") == "-ERR syntax error");
  CHECK(client("CLIENT LIST TYPE foo") == "-ERR Unknown client type 'foo'");
  CHECK(client("CLIENT LIST TYPE normal x") == "-ERR syntax error");
  CHECK(client("CLIENT LIST foo bar") == "-ERR syntax error");
}

TEST_CASE("CLIENT LIST is a verbatim text in RESP3") {
  SessionFixture service;
  auto client = service.client();
  client("HELLO 3");
  CHECK(client.bytes("CLIENT INFO\r\n").find("\r\ntxt:id=1 ") != std::string::npos);
}

TEST_CASE("CLIENT LIST tells who is idle, and who asked to be spared") {
  SessionFixture service;
  auto idle = service.client();
  CHECK(idle("CLIENT NO-EVICT on") == "+OK");
  CHECK(idle("CLIENT NO-TOUCH on") == "+OK");
  service.now.monotonic += 42s;
  auto client = service.client();
  const std::string list = client("CLIENT LIST ID 1");
  CHECK(list.find(" age=42 idle=42 flags=eT ") != std::string::npos);
  CHECK(idle("CLIENT NO-EVICT off") == "+OK");
  CHECK(idle("CLIENT NO-TOUCH maybe") == "-ERR syntax error");
  CHECK(client("CLIENT LIST ID 1").find(" flags=T ") != std::string::npos);
}

TEST_CASE("CLIENT KILL by address closes that client, itself too") {
  SessionFixture service;
  auto client = service.client("127.0.0.1:1");
  auto other = service.client("127.0.0.1:2");
  CHECK(client("CLIENT KILL 127.0.0.1:9") == "-ERR No such client");
  CHECK(client("CLIENT KILL 127.0.0.1:2") == "+OK");
  CHECK(other.session().is_closing());
  CHECK_FALSE(client.session().is_closing());
  CHECK(client("CLIENT KILL 127.0.0.1:2") == "-ERR No such client");
  CHECK(client("CLIENT KILL 127.0.0.1:1") == "+OK");
  CHECK(client.session().is_closing());
}

TEST_CASE("CLIENT KILL by conditions counts, and spares the caller unless told") {
  SessionFixture service;
  auto client = service.client("127.0.0.1:1");
  auto second = service.client("127.0.0.1:2");
  auto third = service.client("127.0.0.1:3");
  CHECK(client("CLIENT KILL ID 99") == "(integer) 0");
  CHECK(client("CLIENT KILL TYPE pubsub") == "(integer) 0");
  CHECK(client("CLIENT KILL ID 2 ADDR 127.0.0.1:3") == "(integer) 0");
  CHECK(client("CLIENT KILL ID 2 ID 99") == "(integer) 0");  // the last one counts
  CHECK(client("CLIENT KILL ID 2") == "(integer) 1");
  CHECK(client("CLIENT KILL ID 2") == "(integer) 0");
  CHECK(second.session().is_closing());
  CHECK_FALSE(third.session().is_closing());
  CHECK(client("CLIENT KILL LADDR 127.0.0.1:6379 USER default") == "(integer) 1");
  CHECK(third.session().is_closing());
  CHECK_FALSE(client.session().is_closing());
  CHECK(client("CLIENT KILL TYPE normal SKIPME no") == "(integer) 1");
  CHECK(client.session().is_closing());
}

TEST_CASE("a killed client is one the shell has to look at, and runs nothing more") {
  SessionFixture service;
  auto client = service.client();
  auto other = service.client();
  client("CLIENT KILL ID 2");
  std::vector<Session::Id> seen;
  service.sessions.for_each_touched([&](Session& session) { seen.push_back(session.id()); });
  CHECK(seen == std::vector<Session::Id>{2, 1});
  CHECK(other("PING").empty());
  CHECK(ids_in(client("CLIENT LIST")) == "1");
}

TEST_CASE("CLIENT KILL refuses with Redis's texts") {
  SessionFixture service;
  auto client = service.client();
  for (const char* id : {"x", "0", "-1", "99999999999999999999"}) {
    CAPTURE(id);
    CHECK(client(std::string("CLIENT KILL ID ") + id) == "-ERR client-id should be greater than 0");
  }
  CHECK(client("CLIENT KILL TYPE foo") == "-ERR Unknown client type 'foo'");
  CHECK(client("CLIENT KILL USER foo") == "-ERR No such user 'foo'");
  CHECK(client("CLIENT KILL USER \"fo\\x00o\"") == "-ERR No such user 'fo'");
  CHECK(client("CLIENT KILL SKIPME maybe") == "-ERR syntax error");
  CHECK(client("CLIENT KILL FOO x") == "-ERR syntax error");
  CHECK(client("CLIENT KILL ID 1 ADDR") == "-ERR syntax error");
  CHECK(client("CLIENT foo") == "-ERR unknown subcommand 'foo'. Try CLIENT HELP.");
}

TEST_CASE("CLIENT REPLY OFF keeps a client from hearing anything but ON") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("CLIENT REPLY OFF").empty());
  CHECK(client("PING").empty());
  CHECK(client("NOSUCH").empty());
  CHECK(client("CLIENT REPLY SKIP").empty());
  CHECK(client("PING").empty());
  CHECK(client("PING").empty());
  CHECK(client("CLIENT REPLY ON") == "+OK");
  CHECK(client("PING") == "+PONG");
  CHECK(client("CLIENT REPLY PERHAPS") == "-ERR syntax error");
}

TEST_CASE("CLIENT REPLY SKIP takes the answer to the next request") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("CLIENT REPLY SKIP").empty());
  CHECK(client("PING").empty());
  CHECK(client("PING") == "+PONG");
  CHECK(client("CLIENT REPLY SKIP").empty());
  CHECK(client("CLIENT REPLY SKIP").empty());
  CHECK(client("PING").empty());
  CHECK(client("PING") == "+PONG");
  CHECK(client("CLIENT REPLY SKIP").empty());
  CHECK(client("CLIENT REPLY ON") == "+OK");
  CHECK(client("PING") == "+PONG");
}

TEST_CASE("an answer that comes later is skipped as well, and a push is not") {
  SessionFixture service;
  auto client = service.client();
  client("CLIENT REPLY SKIP");
  CHECK(client("LATER").empty());
  client.session().write(Reply::status_view("pushed"));
  client.session().resume(Reply::integer(1), service.now, service);
  CHECK(client.received() == "+pushed");
  CHECK(client("PING") == "+PONG");
}

TEST_CASE("RESET brings the answers back") {
  SessionFixture service;
  auto client = service.client();
  client("CLIENT REPLY OFF");
  CHECK(client("RESET") == "+RESET");
  CHECK(client("PING") == "+PONG");
}

TEST_CASE("CLIENT LIST shows in flags and figures what a client is in the middle of") {
  SessionFixture service;
  auto client = service.client();
  auto other = service.client("/run/node.sock:0");
  const auto line = [&](std::string_view field) {
    const std::string list = client("CLIENT LIST ID 2");
    return list.find(field) != std::string::npos;
  };
  CHECK(line(" flags=U "));
  other.session().begin_transaction();
  const std::vector<std::string_view> ping = {"PING"};
  REQUIRE(other.session().transaction()->add(ping, 0));
  other.session().watch_is_broken = true;
  other.session().watched_keys = 3;
  CHECK(line(" flags=xdU "));
  CHECK(line(" multi=1 watch=3 "));
  CHECK(line(" multi-mem=12 "));
  other.session().take_transaction();
  other.session().enter(Session::kMonitoring);
  other.session().listens_to.channels = 1;
  other.session().enter(Session::kListening);
  CHECK(line(" flags=OPdU "));
  other("LATER");
  CHECK(line(" flags=OPbdU "));
  CHECK(ids_in(client("CLIENT LIST TYPE pubsub")) == "2");
  CHECK(ids_in(client("CLIENT LIST TYPE normal")) == "1");
  CHECK(client("CLIENT KILL TYPE pubsub") == "(integer) 1");
  CHECK(other.session().is_closing());
}

TEST_CASE("CLIENT KILL reads its options from the left, and tells the first that is wrong") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("CLIENT KILL USER k k") == "-ERR No such user 'k'");
  CHECK(client("CLIENT KILL ID 9 TYPE") == "-ERR syntax error");
}
