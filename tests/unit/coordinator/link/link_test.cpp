#include "coordinator/link/link.h"

#include "coordinator/link/scripts.h"
#include "protocol/resp/reply_parser.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A link and the words that went over its wire.
class Wire {
 public:
  explicit Wire(Credentials credentials = {}) : link(std::move(credentials), random_) {
    link.start(now);
  }

  Wire& connect() {
    CHECK(link.take_wish() == Link::Wish::dial);
    link.on_connected(now);
    return *this;
  }
  // Of a plain Redis.
  Wire& greet() {
    taken();
    receive("%1\r\n$5\r\nproto\r\n:3\r\n-ERR unknown command 'LOCK.STATUS'\r\n");
    receive("$13\r\nrun_id:abc1\r\n\r\n");
    CHECK(link.facts().id == "abc1");
    CHECK(link.facts().kind == NodeKind::plain_redis);
    link.accept(now);
    return *this;
  }
  Wire& greet_as_redlock_node() {
    taken();
    receive("%0\r\n%2\r\n$7\r\nnode_id\r\n$3\r\nn17\r\n$6\r\nfenced\r\n:1\r\n$-1\r\n");
    CHECK(link.facts().id == "n17");
    CHECK(link.facts().kind == NodeKind::redlock_node);
    link.accept(now);
    return *this;
  }
  Link::Ticket set(unsigned operation, std::string value = "v") {
    return link.send({{operation}, RequestKind::acquire, claim(std::move(value)), 30s}, now);
  }
  Link::Ticket release(unsigned operation, Duration worth = 30s) {
    return link.send({{operation}, RequestKind::release, claim("v"), 0ns, later(now, worth)}, now);
  }
  // With a token: a top-up.
  void extend(unsigned operation, std::optional<Token> token = std::nullopt) {
    link.send({.operation = {operation},
               .kind = RequestKind::extend,
               .claim = claim("v"),
               .ttl = 30s,
               .tops_up = token.has_value(),
               .token = token.value_or(0)},
              now);
  }
  void confirm(unsigned operation, Token token) {
    link.send({.operation = {operation},
               .kind = RequestKind::confirm,
               .claim = claim("v"),
               .token = token},
              now);
  }
  void receive(std::string_view bytes) { link.on_bytes(bytes, now); }
  void end() { link.on_end("connection reset by peer", now); }
  void wait(Duration length) {
    now += length;
    link.on_time(now);
  }
  // What was written since the last look: "HELLO 3; LOCK.STATUS; INFO server".
  std::string taken() {
    const std::string bytes(link.outgoing());
    link.outgoing_written();
    std::string text;
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto request = protocol::parse_reply(rest);
      rest.remove_prefix(request.consumed);
      text += text.empty() ? "" : "; ";
      for (const auto& word : request.reply.items()) {
        text += (&word == &request.reply.items()[0] ? "" : " ") + shown(word.text());
      }
    }
    return text;
  }
  // "7 yes; 8 broken connection reset by peer"
  std::string completions() {
    std::vector<Completion> done;
    link.take_completions(done);
    std::string text;
    for (const Completion& one : done) {
      text += (text.empty() ? "" : "; ") + std::to_string(one.operation.slot) + ' ' +
              std::string(answer_name(one.answer.kind));
      if (one.answer.token > 0) text += ", token " + std::to_string(one.answer.token);
      if (one.answer.topped_up) text += ", topped up";
      if (!one.answer.text.empty()) text += ": " + one.answer.text;
    }
    return text;
  }

  Instant now = Instant(1h);

 private:
  static SharedClaim claim(std::string value) {
    return std::make_shared<const Claim>(Claim{"k", std::move(value)});
  }

  static std::string shown(std::string_view word) {
    if (word == kReleaseScript.sha || word == kReleaseScript.text) return "release";
    if (word == kExtendScript.sha || word == kExtendScript.text) return "extend";
    if (word == kTopUpScript.sha || word == kTopUpScript.text) return "top-up";
    return std::string(word);
  }

  Random random_{1};

 public:
  Link link;
};

const std::string kWhoIsIt = "LOCK.STATUS; INFO server";
constexpr std::string_view kSet = "SET k v NX PX 30000";

}  // namespace

TEST_CASE("a node is asked who it is before anything else is sent (rule Q5)") {
  Wire wire;
  wire.set(7);
  wire.connect();
  CHECK(wire.taken() == "HELLO 3; " + kWhoIsIt);
  wire.greet();
  CHECK(wire.taken() == kSet);
}

TEST_CASE("a redlock-node counts by its node_id, whatever its INFO says (rule Q5)") {
  Wire wire;
  wire.connect();
  wire.receive("%0\r\n*4\r\n$7\r\nnode_id\r\n$3\r\nn17\r\n$6\r\nfenced\r\n:0\r\n");
  CHECK(wire.link.state() == Link::State::greeting);
  wire.receive("$12\r\nrun_id:abc\r\n\r\n");
  CHECK(wire.link.facts().id == "n17");
  CHECK(wire.link.facts().kind == NodeKind::redlock_node);
}

TEST_CASE("what LOCK.STATUS tells is remembered") {
  Wire wire;
  wire.connect();
  wire.receive(
      "%0\r\n%5\r\n+node_id\r\n+n17\r\n+state\r\n+recovering\r\n+fenced\r\n:1\r\n"
      "+admit_in_ms\r\n:1500\r\n+counter\r\n:77\r\n-NOPERM no INFO\r\n");
  const NodeStatus& status = wire.link.facts().status;
  CHECK(status.state == "recovering");
  CHECK(status.fenced);
  CHECK(status.admit_in == 1500ms);
  CHECK(status.counter == 77);
}

TEST_CASE("LOCK.STATUS without a node_id is an error: such a node cannot be counted (rule Q5)") {
  Wire wire;
  wire.set(7);
  wire.connect();
  wire.receive("%0\r\n%1\r\n+fenced\r\n:1\r\n");
  CHECK(wire.completions() == "7 error: its LOCK.STATUS is not that of a node");
}

TEST_CASE("who may not use LOCK.STATUS speaks with a node as with a plain Redis") {
  Wire wire;
  wire.connect();
  wire.receive("%0\r\n-NOPERM this user may not\r\n$26\r\nrun_id:abc1\r\nnode_id:n17\r\n\r\n");
  CHECK(wire.link.facts().kind == NodeKind::plain_redis);
  CHECK(wire.link.facts().id == "n17");  // the same id as through a user who may (rule Q5)
}

TEST_CASE("a server without HELLO is spoken to in RESP2") {
  Wire wire;
  wire.set(7);
  wire.connect();
  CHECK(wire.taken() == "HELLO 3; " + kWhoIsIt);
  wire.receive(
      "-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n"
      "-ERR unknown command `LOCK.STATUS`, with args beginning with: \r\n"
      "$13\r\nrun_id:abc1\r\n\r\n");
  CHECK(wire.link.facts().id == "abc1");
  wire.link.accept(wire.now);
  CHECK(wire.taken() == kSet);
}

TEST_CASE("a server without HELLO gets the password in a second round") {
  Wire wire({{}, "secret"});
  wire.connect();
  wire.taken();
  wire.receive("-ERR unknown command `HELLO`, with args beginning with: `3`, \r\n");
  CHECK(wire.taken() == "AUTH secret; " + kWhoIsIt);
  wire.receive("-ERR unknown command `LOCK.STATUS`\r\n-NOAUTH Authentication required.\r\n");
  CHECK(wire.link.state() == Link::State::greeting);
  wire.receive("+OK\r\n-ERR unknown command `LOCK.STATUS`\r\n$13\r\nrun_id:abc1\r\n\r\n");
  CHECK(wire.link.facts().id == "abc1");
}

TEST_CASE("a server without HELLO that refuses the password denies") {
  Wire wire({"alice", "wrong"});
  wire.set(7);
  wire.connect();
  wire.receive("-ERR unknown command `HELLO`\r\n");
  wire.receive("-NOAUTH first\r\n-NOAUTH first\r\n-WRONGPASS invalid\r\n");
  CHECK(wire.completions() == "7 denied: WRONGPASS invalid");
}

TEST_CASE("a server that wants a password and got none denies") {
  Wire modern;
  modern.set(7);
  modern.connect();
  modern.receive("-NOAUTH HELLO must be called with the client already authenticated\r\n");
  CHECK_THAT(modern.completions(), Catch::StartsWith("7 denied: NOAUTH"));

  Wire old;
  old.set(7);
  old.connect();
  old.receive("-ERR unknown command `HELLO`\r\n-ERR unknown command `LOCK.STATUS`\r\n");
  old.receive("-NOAUTH Authentication required.\r\n");
  CHECK(old.completions() == "7 denied: NOAUTH Authentication required.");
}

TEST_CASE("a server that takes nobody says so, and its words are kept") {
  Wire wire({{}, "secret"});
  wire.set(7);
  wire.connect();
  wire.receive("-ERR max number of clients reached\r\n");
  CHECK(wire.completions() == "7 error: ERR max number of clients reached");
}

TEST_CASE("each node is spoken to in its dialect, also by what waited for the connection") {
  Wire wire;
  wire.set(7);
  wire.connect().greet_as_redlock_node();
  CHECK(wire.taken() == "LOCK.ACQUIRE k v PX 30000");
  wire.receive("*3\r\n:1\r\n:42\r\n:30000\r\n");
  CHECK(wire.completions() == "7 yes, token 42");
  wire.extend(8);
  wire.extend(9, Token(42));
  wire.confirm(10, 43);
  wire.release(11);
  CHECK(wire.taken() ==
        "LOCK.EXTEND k v PX 30000; LOCK.EXTEND k v PX 30000 TOKEN 42; LOCK.CONFIRM k v 43; "
        "LOCK.RELEASE k v");
  wire.receive("*1\r\n:0\r\n*3\r\n:2\r\n:42\r\n:30000\r\n:1\r\n:0\r\n");
  CHECK(wire.completions() == "8 no; 9 yes, token 42, topped up; 10 yes; 11 no");
}

TEST_CASE("a plain Redis is spoken to in SET NX PX and scripts") {
  Wire wire;
  wire.connect().greet();
  wire.set(7);
  wire.extend(8);
  wire.extend(9, Token(0));
  wire.release(10);
  CHECK(wire.taken() ==
        "SET k v NX PX 30000; EVALSHA extend 1 k v 30000; EVALSHA top-up 1 k v 30000; "
        "EVALSHA release 1 k v");
  wire.receive("+OK\r\n:1\r\n:2\r\n:1\r\n");
  CHECK(wire.completions() == "7 yes; 8 yes; 9 yes, topped up; 10 yes");
}

TEST_CASE("a plain Redis is not asked about tokens: it has none") {
  Wire wire;
  wire.connect().greet();
  wire.confirm(7, 42);
  CHECK(wire.taken().empty());
  CHECK(wire.completions() == "7 error: a plain Redis has no fencing tokens");
}

TEST_CASE("an owed release is written in the dialect of the node that it goes to") {
  Wire wire;
  wire.connect().greet();
  wire.release(1);
  CHECK(wire.taken() == "EVALSHA release 1 k v");
  wire.end();
  wire.wait(Link::kBackoffMin);
  wire.link.take_wish();
  wire.link.on_connected(wire.now);
  wire.greet_as_redlock_node();
  CHECK(wire.taken() == "LOCK.RELEASE k v");
}

TEST_CASE("a push is no answer, whenever it comes") {
  Wire wire;
  wire.connect();
  wire.receive(">3\r\n+lock.free\r\n+early\r\n:1\r\n");
  wire.greet_as_redlock_node();
  wire.receive(">3\r\n+lock.free\r\n+idle\r\n:1\r\n");
  wire.set(7);
  wire.set(8);
  wire.receive("*2\r\n:0\r\n:500\r\n>3\r\n+lock.free\r\n+k\r\n:0\r\n*3\r\n:1\r\n:5\r\n:9\r\n");
  CHECK(wire.completions() == "7 no; 8 yes, token 5");
  const auto pushes = wire.link.take_pushes();
  REQUIRE(pushes.size() == 3);
  CHECK(pushes[2].to_string() == ">[+lock.free, +k, (integer) 0]");
  CHECK_FALSE(wire.link.has_pushes());
}

TEST_CASE("pushes that nobody takes do not fill the memory") {
  Wire wire;
  wire.connect().greet_as_redlock_node();
  for (std::size_t i = 0; i <= Link::kPushesMax; ++i) wire.receive(">1\r\n+noise\r\n");
  CHECK(wire.link.take_pushes().size() == Link::kPushesMax);
}

TEST_CASE("a password is given with the HELLO") {
  Wire with_user({"alice", "secret"});
  with_user.connect();
  CHECK(with_user.taken() == "HELLO 3 AUTH alice secret; " + kWhoIsIt);
  with_user.greet();

  Wire without_user({{}, "secret"});
  without_user.connect();
  CHECK(without_user.taken() == "HELLO 3 AUTH default secret; " + kWhoIsIt);
}

TEST_CASE("a refused password fails what waits, and the link tries again later") {
  Wire wire({{}, "wrong"});
  wire.set(7);
  wire.connect();
  wire.receive("-WRONGPASS invalid\r\n");
  CHECK(wire.completions() == "7 denied: WRONGPASS invalid");
  CHECK(wire.link.take_wish() == Link::Wish::hang_up);
  wire.set(8);
  CHECK(wire.completions() == "8 denied: WRONGPASS invalid");
  wire.wait(Link::kBackoffMin);
  CHECK(wire.link.take_wish() == Link::Wish::dial);
}

TEST_CASE("replies are matched in order, however they are cut") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.set(2);
  wire.set(3);
  const std::string_view replies = "+OK\r\n$-1\r\n-ERR no\r\n";
  for (const char byte : replies) wire.receive({&byte, 1});
  CHECK(wire.completions() == "1 yes; 2 no; 3 error: ERR no");
}

TEST_CASE("a request that was not written yet can be withdrawn, a written one cannot") {
  Wire wire;
  const auto first = wire.set(1, "v");
  const auto second = wire.set(2, "w");
  CHECK(wire.link.withdraw(second));
  CHECK(wire.link.votes().none == 1);
  wire.connect().greet();
  CHECK(wire.taken() == kSet);
  CHECK_FALSE(wire.link.withdraw(first));
  CHECK(wire.set(3) == Link::kWritten);
  CHECK_FALSE(wire.link.withdraw(Link::kWritten));
}

TEST_CASE("a broken connection fails what was in flight, and says whether it was ever sent") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.end();
  std::vector<Completion> done;
  wire.link.take_completions(done);
  REQUIRE(done.size() == 1);
  CHECK(done[0].answer.kind == AnswerKind::broken);
  CHECK_FALSE(done[0].answer.never_sent);
  CHECK(wire.set(2) == Link::kRefused);
  done.clear();
  wire.link.take_completions(done);
  CHECK(done[0].answer.never_sent);
}

TEST_CASE("a release outlives its connection; the next one sends it first") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.release(2);
  wire.end();
  CHECK(wire.completions() ==
        "1 broken: connection reset by peer; 2 broken: connection reset by peer");
  CHECK(wire.link.releases_pending() == 1);
  wire.link.take_wish();
  wire.wait(Link::kBackoffMin);
  wire.set(3);
  wire.connect().greet();
  const std::string sent = wire.taken();
  CHECK(sent == "EVAL release 1 k v; SET k v NX PX 30000");
  wire.receive(":0\r\n+OK\r\n");
  CHECK(wire.link.releases_pending() == 0);
  CHECK(wire.completions() == "3 yes");
}

TEST_CASE("a top-up is not sent again behind the release of its lock (rule Q4)") {
  Wire wire;
  wire.connect().greet();
  wire.extend(1, Token(0));
  wire.release(2);
  wire.taken();
  wire.receive("-NOSCRIPT No matching script.\r\n");
  CHECK(wire.taken().empty());
  CHECK(wire.link.take_wish() == Link::Wish::hang_up);
  CHECK(wire.completions() ==
        "1 broken: its scripts were forgotten; 2 broken: its scripts were forgotten");
  wire.wait(Link::kBackoffMin);
  wire.connect().greet();
  CHECK(wire.taken() == "EVAL release 1 k v");
}

TEST_CASE("the undo of a top-up is not sent again behind a newer one (rule Q4)") {
  Wire wire;
  wire.connect().greet();
  wire.release(kNobody.slot);
  wire.extend(2, Token(0));
  wire.taken();
  wire.receive("-NOSCRIPT No matching script.\r\n");
  CHECK(wire.completions() == "2 broken: its scripts were forgotten");
  CHECK(wire.link.take_wish() == Link::Wish::hang_up);
  wire.wait(Link::kBackoffMin);
  wire.extend(3, Token(0));
  wire.connect().greet();
  CHECK(wire.taken() == "EVAL release 1 k v; EVALSHA top-up 1 k v 30000");
  wire.receive(":1\r\n:2\r\n");
  CHECK(wire.link.releases_pending() == 0);
  CHECK(wire.completions() == "3 yes, topped up");
}

TEST_CASE("a release whose lock has run out is not sent any more") {
  Wire wire;
  wire.connect().greet();
  wire.release(1, 10ms);
  wire.end();
  wire.wait(Link::kBackoffMin);
  wire.link.take_wish();
  wire.link.on_connected(wire.now);
  wire.greet();
  CHECK(wire.taken().empty());
  CHECK(wire.link.releases_pending() == 0);
}

TEST_CASE("dials come at growing intervals, with some chance in them") {
  Wire wire;
  Duration longest = 0ns;
  for (int i = 0; i < 12; ++i) {
    CHECK(wire.link.take_wish() == Link::Wish::dial);
    wire.link.on_end("connection refused", wire.now);
    CHECK(wire.link.take_wish() == Link::Wish::hang_up);
    const Duration pause = *wire.link.next_deadline() - wire.now;
    CHECK(pause >= Link::kBackoffMin / 2);
    CHECK(pause <= Link::kBackoffMax);
    longest = std::max(longest, pause);
    wire.wait(pause);
  }
  CHECK(longest >= Link::kBackoffMax / 2);
}

TEST_CASE("a node that says nothing for long while answers are due is dialled anew") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.wait(6s);
  wire.set(2);
  wire.receive("+OK\r\n");
  wire.wait(4s);  // 4 s since it was heard
  CHECK(wire.completions() == "1 yes");
  wire.wait(*wire.link.next_deadline() - wire.now);
  CHECK(wire.completions() == "2 broken: nothing heard for 10.0 s");
}

TEST_CASE("an idle link has no deadline that fires for nothing, again and again") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.receive("+OK\r\n");
  wire.wait(Link::kSilenceMax);
  CHECK_FALSE(wire.link.next_deadline().has_value());
}

TEST_CASE("garbage and answers to nothing end the connection") {
  Wire garbage;
  garbage.connect().greet();
  garbage.set(1);
  garbage.receive("HTTP/1.1 400\r\n");
  CHECK(garbage.link.state() == Link::State::backing_off);
  Wire unasked;
  unasked.connect().greet();
  unasked.receive("+OK\r\n");
  CHECK(unasked.link.state() == Link::State::backing_off);
}

TEST_CASE("a node is behind while it has not answered what was written before this turn") {
  Wire wire;
  wire.connect().greet();
  wire.set(7);
  CHECK_FALSE(wire.link.is_behind());  // it has had no chance yet
  wire.taken();
  wire.release(8);
  CHECK(wire.link.is_behind());
  wire.receive("+OK\r\n");
  CHECK_FALSE(wire.link.is_behind());
}
