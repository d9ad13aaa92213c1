#include "protocol/session/session.h"

#include "protocol/resp/limits.h"
#include "protocol/session/sessions.h"
#include "tests/unit/protocol/session_fixture.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::protocol;

namespace {

std::vector<Session::Id> touched(SessionFixture& service) {
  std::vector<Session::Id> ids;
  service.sessions.for_each_touched([&](Session& session) { ids.push_back(session.id()); });
  return ids;
}

using Ids = std::vector<Session::Id>;

}  // namespace

TEST_CASE("requests are answered in order, inline and as arrays, in one go") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n\r\nECHO \"a b\"\r\n") ==
        "+PONG\r\n$2\r\nhi\r\n$3\r\na b\r\n");
}

TEST_CASE("a request that comes byte by byte is answered at its last one") {
  SessionFixture service;
  auto client = service.client();
  const std::string_view request = "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n";
  for (const char byte : request.substr(0, request.size() - 1)) {
    REQUIRE(client.bytes({&byte, 1}).empty());
  }
  CHECK(client.session().backlog_bytes() == request.size() - 1);
  CHECK(client.bytes("\n") == "$2\r\nhi\r\n");
  CHECK(client.session().backlog_bytes() == 0);
}

TEST_CASE("a protocol error is answered, and the client closed without another word") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("PING\r\n*1\r\n+x\r\nPING\r\n") ==
        "+PONG\r\n-ERR Protocol error: expected '$', got '+'\r\n");
  CHECK(client.session().is_closing());
  CHECK(client.bytes("PING\r\n").empty());
  CHECK(service.executed == 1);
}

TEST_CASE("a line break in garbage does not break the error's line") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("*1\r\n\n\r\n") == "-ERR Protocol error: expected '$', got ' '\r\n");
}

TEST_CASE("what is pipelined behind a late reply waits for it") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("PING\r\nLATER\r\nECHO behind\r\nEC") == "+PONG\r\n");
  CHECK(client.session().is_waiting());
  CHECK(client.bytes("HO last\r\n").empty());
  CHECK(service.executed == 2);
  client.session().resume(Reply::integer(7), service.now, service);
  CHECK_FALSE(client.session().is_waiting());
  CHECK(client.received() == "(integer) 7\n\"behind\"\n\"last\"");
  CHECK(client.session().backlog_bytes() == 0);
}

TEST_CASE("late replies may follow one another in one pipeline") {
  SessionFixture service;
  auto client = service.client();
  CHECK(client.bytes("LATER\r\nLATER\r\nPING\r\n").empty());
  client.session().resume(Reply::integer(1), service.now, service);
  CHECK(client.session().is_waiting());
  CHECK(client.received() == "(integer) 1");
  client.session().resume(Reply::integer(2), service.now, service);
  CHECK(client.received() == "(integer) 2\n+PONG");
}

TEST_CASE("a client that floods while it waits is closed") {
  SessionFixture service;
  auto client = service.client();
  client.bytes("LATER\r\n");
  const std::string flood(16 * 1024 * 1024, 'x');
  for (int i = 0; i < 4; ++i) client.bytes(flood);
  CHECK_FALSE(client.session().is_closing());
  client.bytes(flood);
  CHECK(client.session().is_closing());
}

TEST_CASE("a session that is closed while it waits hears its reply and runs no more") {
  SessionFixture service;
  auto client = service.client();
  client.bytes("LATER\r\nPING\r\n");
  client.session().close_after_output();
  client.session().resume(Reply::ok(), service.now, service);
  CHECK(client.received() == "+OK");
  CHECK(service.executed == 1);
}

TEST_CASE("the shell looks at each touched session once") {
  SessionFixture service;
  auto first = service.client();
  auto second = service.client();
  CHECK(touched(service).empty());
  first("PING");
  first("PING");
  CHECK(touched(service) == Ids{1});
  CHECK(touched(service).empty());
  second.session().write(Reply::push({}));
  first("PING");
  CHECK(touched(service) == Ids{2, 1});
}

TEST_CASE("a session that was touched and is gone is not looked at") {
  SessionFixture service;
  auto first = service.client();
  first("PING");
  service.sessions.close(1);
  CHECK(touched(service).empty());
  CHECK(service.sessions.count() == 0);
}

TEST_CASE("a session that goes while another is looked at is not looked at any more") {
  SessionFixture service;
  auto first = service.client();
  auto second = service.client();
  auto third = service.client();
  first("PING");
  second("PING");
  third("PING");
  Ids seen;
  service.sessions.for_each_touched([&](Session& session) {
    seen.push_back(session.id());
    if (session.id() != 1) return;
    session.write(Reply::push({}));  // touched again, at another place
    service.sessions.close(2);
    service.sessions.close(1);
  });
  CHECK(seen == Ids{1, 3});
  CHECK(touched(service).empty());
}

TEST_CASE("a session may be closed and another touched while they are looked at") {
  SessionFixture service;
  auto first = service.client();
  auto second = service.client();
  first("PING");
  Ids seen;
  service.sessions.for_each_touched([&](Session& session) {
    seen.push_back(session.id());
    if (session.id() == 1) second.session().close_after_output();
    service.sessions.close(session.id());
  });
  CHECK(seen == Ids{1, 2});
  CHECK(service.sessions.count() == 0);
}

TEST_CASE("ids rise and are not used again") {
  SessionFixture service;
  CHECK(service.client().session().id() == 1);
  service.sessions.close(1);
  CHECK(service.client().session().id() == 2);
  CHECK(service.sessions.find(1) == nullptr);
}

TEST_CASE("a postponed request is kept whole, holds up what follows, and is executed by retry") {
  SessionFixture service;
  service.open = false;
  auto client = service.client();
  CHECK(client.bytes("PING\r\nECHO one\r\nPING\r\nECHO t") == "+PONG\r\n");
  CHECK(client.session().is_waiting());
  CHECK(client.session().is_postponed());
  CHECK(client.bytes("wo\r\n").empty());
  client.session().retry(service.now, service);
  CHECK(client.received().empty());  // it is still not the time
  CHECK(client.session().is_postponed());
  service.open = true;
  client.session().retry(service.now, service);
  CHECK(client.received() == "\"one\"\n+PONG\n\"two\"");
  CHECK_FALSE(client.session().is_waiting());
}

TEST_CASE(
    "a session that was closed while its request was postponed is looked at when that is over") {
  SessionFixture service;
  auto client = service.client();
  service.open = false;
  client.bytes("ECHO one\r\n");
  client.session().close_after_output();
  CHECK(touched(service) == Ids{client.session().id()});
  client.session().retry(service.now, service);
  CHECK(touched(service) == Ids{client.session().id()});
}

TEST_CASE("requests that come together are expected together, and executed one by one") {
  SessionFixture service;
  auto client = service.client();
  const std::string ping = "*1\r\n$4\r\nPING\r\n";
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$3\r\none\r\n";
  CHECK(client.bytes(ping) == "+PONG\r\n");
  CHECK(service.expected == 0);
  CHECK(client.bytes(ping + echo + ping + "PING\r\n" + ping + "*1\r\n$4") ==
        "+PONG\r\n$3\r\none\r\n+PONG\r\n+PONG\r\n+PONG\r\n");
  CHECK(service.expected == 3);
  CHECK(client.bytes("\r\nPING\r\n") == "+PONG\r\n");
}

TEST_CASE("a batch stops where a session has to wait, and goes on behind it") {
  SessionFixture service;
  service.open = false;
  auto client = service.client();
  const std::string ping = "*1\r\n$4\r\nPING\r\n";
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$3\r\none\r\n";
  CHECK(client.bytes(ping + echo + ping) == "+PONG\r\n");
  CHECK(service.executed == 2);
  service.open = true;
  client.session().retry(service.now, service);
  CHECK(client.received() == "\"one\"\n+PONG");
  CHECK(client.bytes(ping + "*1\r\n$5\r\nLATER\r\n" + ping) == "+PONG\r\n");
  client.session().resume(Reply::ok(), service.now, service);
  CHECK(client.received() == "+OK\n+PONG");
  service.executed = 0;
  CHECK(client.bytes(ping + "*1\r\n$4\r\nQUIT\r\n" + ping) == "+PONG\r\n+OK\r\n");
  CHECK(service.executed == 2);
}

TEST_CASE("before the password no request is understood ahead of its turn") {
  SessionFixture service;
  service.access.set_password("secret");
  auto client = service.client();
  const std::string long_word = "$20000\r\n" + std::string(20'000, 'x') + "\r\n";
  const std::string auth = "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n";
  CHECK(client.bytes("*2\r\n$4\r\nECHO\r\n" + long_word) ==
        "-ERR Protocol error: unauthenticated bulk length\r\n");
  auto other = service.client();
  const std::string replies = other.bytes(auth + "*2\r\n$4\r\nECHO\r\n" + long_word);
  CHECK(replies == "+OK\r\n" + long_word);
}

TEST_CASE(
    "a session whose answers have not gone out executes no more, and goes on when they have") {
  SessionFixture service;
  auto client = service.client();
  Session& session = client.session();
  const std::string word(kUnsentBytesMax, 'x');
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$1048576\r\n" + word + "\r\n";
  session.receive(echo + echo + "PING\r\n", service.now, service);
  CHECK(service.executed == 1);
  CHECK(session.is_held_back());
  CHECK_FALSE(session.is_waiting());
  session.output().clear();
  session.note_unsent(1000);  // the rest of it
  CHECK(session.has_room());
  session.give_way();
  session.go_on(service.now, service);
  CHECK(service.executed == 2);
  CHECK(session.is_held_back());
  session.output().clear();
  session.note_unsent(kUnsentBytesMax);  // nothing has gone out
  CHECK_FALSE(session.has_room());
  session.receive("PING\r\n", service.now, service);
  CHECK(service.executed == 2);
  session.note_unsent(0);
  session.give_way();
  session.go_on(service.now, service);
  CHECK(client.received() == "+PONG\n+PONG");
  CHECK_FALSE(session.is_held_back());
  CHECK(session.backlog_bytes() == 0);
}

TEST_CASE("a client that floods while its answers are not taken is closed") {
  SessionFixture service;
  auto client = service.client();
  client.session().note_unsent(kUnsentBytesMax);
  const std::string flood(16 * 1024 * 1024, 'x');
  for (int i = 0; i < 4; ++i) client.bytes(flood);
  CHECK_FALSE(client.session().is_closing());
  client.bytes(flood);
  CHECK(client.session().is_closing());
}

TEST_CASE("one that is cut off is told nothing more, and is looked at") {
  SessionFixture service;
  auto client = service.client();
  client.session().write(Reply::ok());
  CHECK(touched(service) == Ids{1});
  client.session().cut_off(Session::Cut::killed);
  CHECK(touched(service) == Ids{1});
  CHECK(client.session().output().empty());
  client.session().write(Reply::ok());
  CHECK(client.bytes("PING\r\n").empty());
  CHECK(service.executed == 0);
  client.session().cut_off(Session::Cut::took_most);
  CHECK(client.session().cut() == Session::Cut::killed);  // as it was first
}

TEST_CASE("one that is cut off while it waits is looked at when its reply has come") {
  SessionFixture service;
  auto client = service.client();
  client.bytes("LATER\r\nPING\r\n");
  client.session().cut_off(Session::Cut::killed);
  CHECK(touched(service) == Ids{1});
  client.session().resume(Reply::ok(), service.now, service);
  CHECK(touched(service) == Ids{1});
  CHECK(client.session().output().empty());
  CHECK(service.executed == 1);
}

TEST_CASE("a reply that is too large ends its client and is not written") {
  SessionFixture service;
  auto client = service.client();
  client.session().write(Reply::ok());
  client.session().write(Reply::too_large());
  CHECK(client.session().cut() == Session::Cut::reply_too_large);
  CHECK(client.session().output().empty());
}

TEST_CASE("of clients that together take too much, the one that takes most is cut off") {
  SessionFixture service;
  auto small = service.client();
  auto large = service.client();
  auto other = service.client();
  const std::size_t bare = service.sessions.bytes();
  service.sessions.set_bytes_max(100'000);
  small.session().tell(Reply::bulk(std::string(10'000, 's')), 0);
  large.session().tell(Reply::bulk(std::string(50'000, 'l')), 0);
  CHECK(service.sessions.bytes() > bare + 60'000);
  CHECK(service.sessions.cut_for_bytes() == 0);
  other.session().tell(Reply::bulk(std::string(40'000, 'o')), 0);
  CHECK(large.session().cut() == Session::Cut::took_most);
  CHECK(large.session().bytes_when_cut() > 50'000);
  CHECK_FALSE(other.session().is_closing());
  CHECK(service.sessions.cut_for_bytes() == 1);
  CHECK(service.sessions.bytes() < 60'000);
  service.sessions.close(1);
  service.sessions.close(2);
  service.sessions.close(3);
  CHECK(service.sessions.bytes() == 0);
}

TEST_CASE("of many that take as much a few are cut off, and whoever comes next cuts off none") {
  SessionFixture service;
  service.sessions.set_bytes_max(1'000'000);
  const auto come = [&] {
    service.client().session().tell(Reply::bulk(std::string(9'000, 'x')), 0);
  };
  while (service.sessions.cut_for_bytes() == 0) come();
  const std::uint64_t cut = service.sessions.cut_for_bytes();
  CHECK(cut <= 5);
  come();
  CHECK(service.sessions.cut_for_bytes() == cut);
}

TEST_CASE("what went out since the shell told of it is not held against a client") {
  struct Sent final : Transport {
  } sent;
  SessionFixture service;
  auto reader = service.client();
  auto deaf = service.client();
  service.sessions.set_bytes_max(100'000);
  reader.session().transport = &sent;
  reader.session().note_unsent(80'000);
  deaf.session().note_unsent(30'000);
  CHECK(service.sessions.cut_for_bytes() == 0);
  deaf.session().note_unsent(120'000);
  CHECK(deaf.session().cut() == Session::Cut::took_most);
  CHECK_FALSE(reader.session().is_closing());
}
