#include "protocol/session/session_commands.h"

#include "tests/unit/protocol/session_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

struct GuardedFixture : SessionFixture {
  GuardedFixture() { access.set_password("secret"); }
};

constexpr const char* kHello2 =
    R"(["server", "redis", "version", "7.2.4", "proto", (integer) 2, "id", (integer) 1, )"
    R"("mode", "standalone", "role", "master", "modules", []])";
constexpr const char* kHello3 =
    R"({"server": "redis", "version": "7.2.4", "proto": (integer) 3, "id": (integer) 1, )"
    R"("mode": "standalone", "role": "master", "modules": []})";

}  // namespace

TEST_CASE("HELLO tells who is there and switches the protocol") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("HELLO") == kHello2);
  CHECK(client("HELLO 3") == kHello3);
  CHECK(client("HELLO") == kHello3);
  CHECK(client.session().version() == Version::resp3);
  CHECK(client("HELLO 2") == kHello2);
}

TEST_CASE("HELLO refuses what it does not know and leaves the protocol as it was") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("HELLO 1") == "-NOPROTO unsupported protocol version");
  CHECK(client("HELLO 4") == "-NOPROTO unsupported protocol version");
  CHECK(client("HELLO x") == "-ERR Protocol version is not an integer or out of range");
  CHECK(client("HELLO 3 FOO") == "-ERR Syntax error in HELLO option 'FOO'");
  CHECK(client("HELLO 3 \"a\\nb\\x00c\"") == "-ERR Syntax error in HELLO option 'a b'");
  CHECK(client("HELLO 3 AUTH default") == "-ERR Syntax error in HELLO option 'AUTH'");
  CHECK(client("HELLO 3 SETNAME") == "-ERR Syntax error in HELLO option 'SETNAME'");
  CHECK(client("HELLO 3 AUTH nobody x") ==
        "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(client("HELLO 3 SETNAME \"a b\"") ==
        "-ERR Client names cannot contain spaces, newlines or special characters.");
  CHECK(client.session().version() == Version::resp2);
  CHECK(client.session().name.empty());
}

TEST_CASE("HELLO does its options from the left, up to the one that is wrong") {
  GuardedFixture service;
  auto client = service.client();
  CHECK(client("HELLO 3 AUTH default secret SETNAME worker FOO") ==
        "-ERR Syntax error in HELLO option 'FOO'");
  CHECK(client("CLIENT GETNAME") == "\"worker\"");
  CHECK(client("HELLO 3 AUTH default wrong FOO") ==
        "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(client.session().version() == Version::resp2);
}

TEST_CASE("HELLO takes a password and a name, in any order and case") {
  GuardedFixture service;
  auto client = service.client();
  CHECK(client("HELLO 3 setname worker auth default secret") == kHello3);
  CHECK(client.session().is_authenticated());
  CHECK(client("CLIENT GETNAME") == "\"worker\"");
}

TEST_CASE("HELLO without the password is refused, with or without a version") {
  GuardedFixture service;
  auto client = service.client();
  const char* refusal =
      "-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
      "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
      "RESP protocol version at the same time";
  CHECK(client("HELLO") == refusal);
  CHECK(client("HELLO 3 SETNAME worker") == refusal);
  CHECK(client("HELLO 3 AUTH default wrong") ==
        "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(client.session().version() == Version::resp2);
  CHECK_FALSE(client.session().is_authenticated());
}

TEST_CASE("AUTH lets in with the password alone or with the user's name") {
  GuardedFixture service;
  auto client = service.client();
  CHECK(client("AUTH wrong") == "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(client("AUTH alice secret") ==
        "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(client("AUTH default secret more") == "-ERR syntax error");
  CHECK_FALSE(client.session().is_authenticated());
  CHECK(client("AUTH secret") == "+OK");
  CHECK(client.session().is_authenticated());
  auto other = service.client();
  CHECK(other("AUTH default secret") == "+OK");
}

TEST_CASE("a failed AUTH does not take away what was given") {
  GuardedFixture service;
  auto client = service.client();
  client("AUTH secret");
  client("AUTH wrong");
  CHECK(client.session().is_authenticated());
}

TEST_CASE("AUTH without a password to give is a mistake, but naming the user is not") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("AUTH x") ==
        "-ERR AUTH <password> called without any password configured for the default user. Are "
        "you sure your configuration is correct?");
  CHECK(client("AUTH default x") == "+OK");
}

TEST_CASE("a session without the password has Redis's small limits until AUTH") {
  GuardedFixture service;
  auto client = service.client();
  CHECK(client("AUTH secret") == "+OK");
  CHECK(client("ECHO " + std::string(20'000, 'x')).size() == 20'002);
  auto other = service.client();
  CHECK(other("ECHO " + std::string(20'000, 'x')) ==
        "-ERR Protocol error: unauthenticated bulk length");
  CHECK(other.session().is_closing());
}

TEST_CASE("there is one database") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("SELECT 0") == "+OK");
  CHECK(client("SELECT 1") == "-ERR DB index is out of range");
  CHECK(client("SELECT -1") == "-ERR DB index is out of range");
  CHECK(client("SELECT x") == "-ERR value is not an integer or out of range");
}

TEST_CASE("PING and ECHO say what they were told") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("PING") == "+PONG");
  CHECK(client("PING hello") == "\"hello\"");
  CHECK(client("PING a b") == "-ERR wrong number of arguments for 'ping' command");
  CHECK(client("ECHO \"\\x00\\r\\n\"") == R"("\x00\r\n")");
}

TEST_CASE("QUIT answers and closes, what follows is not run") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("QUIT\r\nPING\r\n") == "+OK\r\n");
  CHECK(client.session().is_closing());
  CHECK(service.executed == 1);
}

TEST_CASE("RESET makes a session as new, but for its id and its library") {
  GuardedFixture service;
  auto client = service.client();
  client("HELLO 3 AUTH default secret SETNAME worker");
  client("CLIENT NO-EVICT on");
  client("CLIENT SETINFO LIB-NAME redis-py");
  CHECK(client("RESET") == "+RESET");
  CHECK_FALSE(client.session().is_authenticated());
  CHECK(client.session().version() == Version::resp2);
  CHECK(client.session().name.empty());
  CHECK_FALSE(client.session().no_evict);
  CHECK(client.session().library_name == "redis-py");
  CHECK(client("CLIENT ID") == "(integer) 1");
}

TEST_CASE("RESET without a password leaves the session let in") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("RESET") == "+RESET");
  CHECK(client.session().is_authenticated());
}

TEST_CASE("an unknown command is echoed with its first words, shortened as Redis does") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client("nosuch a b") ==
        "-ERR unknown command 'nosuch', with args beginning with: 'a' 'b' ");
  CHECK(client("nosuch") == "-ERR unknown command 'nosuch', with args beginning with: ");
  const std::string length_200(200, 'x');
  CHECK(client(length_200 + " " + length_200 + " more") ==
        "-ERR unknown command '" + std::string(128, 'x') + "', with args beginning with: '" +
            std::string(128, 'x') + "' ");
}
