#include "coordinator/pipeline.h"

#include <catch2/catch.hpp>

using namespace redlock;
using namespace redlock::coordinator;

namespace {

// A pipeline and the words that went over its wire.
class Wire {
 public:
  explicit Wire(Credentials credentials = {}) : pipeline(std::move(credentials), random_) {
    pipeline.start(now);
  }

  Wire& connect() {
    CHECK(pipeline.take_wish() == Pipeline::Wish::dial);
    pipeline.on_connected(now);
    return *this;
  }
  Wire& greet() {
    taken();
    receive("$13\r\nrun_id:abc1\r\n\r\n");
    CHECK(pipeline.node_id() == "abc1");
    pipeline.accept(now);
    return *this;
  }
  Pipeline::Ticket set(OperationId operation, std::string value = "v") {
    return pipeline.send({operation, RequestKind::set, claim(std::move(value)), 30s}, now);
  }
  Pipeline::Ticket release(OperationId operation, Duration worth = 30s) {
    return pipeline.send({operation, RequestKind::release, claim("v"), 0ns, later(now, worth)},
                         now);
  }
  void receive(std::string_view bytes) { pipeline.on_bytes(bytes, now); }
  void end() { pipeline.on_end("connection reset by peer", now); }
  void wait(Duration length) {
    now += length;
    pipeline.on_time(now);
  }
  std::string taken() {
    std::string bytes(pipeline.outgoing());
    pipeline.outgoing_written();
    return bytes;
  }
  // "7 yes; 8 broken connection reset by peer"
  std::string completions() {
    std::vector<Completion> done;
    pipeline.take_completions(done);
    std::string text;
    for (const Completion& one : done) {
      text += (text.empty() ? "" : "; ") + std::to_string(one.operation) + ' ' +
              std::string(answer_name(one.answer.kind));
      if (!one.answer.text.empty()) text += ": " + one.answer.text;
    }
    return text;
  }

  Instant now = Instant(1h);

 private:
  static SharedClaim claim(std::string value) {
    return std::make_shared<const Claim>(Claim{"k", std::move(value)});
  }

  Random random_{1};

 public:
  Pipeline pipeline;
};

constexpr std::string_view kInfoServer = "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n";
constexpr std::string_view kSet =
    "*6\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n30000\r\n";

}  // namespace

TEST_CASE("a node is asked who it is before anything else is sent (rule Q5)") {
  Wire wire;
  wire.set(7);
  wire.connect();
  CHECK(wire.taken() == kInfoServer);
  wire.greet();
  CHECK(wire.taken() == kSet);
}

TEST_CASE("a password is given first") {
  Wire with_user({"alice", "secret"});
  with_user.connect();
  CHECK(with_user.taken() ==
        "*3\r\n$4\r\nAUTH\r\n$5\r\nalice\r\n$6\r\nsecret\r\n" + std::string(kInfoServer));
  with_user.receive("+OK\r\n");
  with_user.greet();

  Wire without_user({{}, "secret"});
  without_user.connect();
  CHECK(without_user.taken() == "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n" + std::string(kInfoServer));
}

TEST_CASE("a refused password fails what waits, and the link tries again later") {
  Wire wire({{}, "wrong"});
  wire.set(7);
  wire.connect();
  wire.receive("-WRONGPASS invalid\r\n");
  CHECK(wire.completions() == "7 denied: WRONGPASS invalid");
  CHECK(wire.pipeline.take_wish() == Pipeline::Wish::hang_up);
  wire.set(8);
  CHECK(wire.completions() == "8 denied: WRONGPASS invalid");
  wire.wait(Pipeline::kBackoffMin);
  CHECK(wire.pipeline.take_wish() == Pipeline::Wish::dial);
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
  CHECK(wire.pipeline.withdraw(second));
  wire.connect().greet();
  CHECK(wire.taken() == kSet);
  CHECK_FALSE(wire.pipeline.withdraw(first));
  CHECK(wire.set(3) == Pipeline::kWritten);
  CHECK_FALSE(wire.pipeline.withdraw(Pipeline::kWritten));
}

TEST_CASE("a broken connection fails what was in flight, and says whether it was ever sent") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.end();
  std::vector<Completion> done;
  wire.pipeline.take_completions(done);
  REQUIRE(done.size() == 1);
  CHECK(done[0].answer.kind == AnswerKind::broken);
  CHECK_FALSE(done[0].answer.never_sent);
  CHECK(wire.set(2) == Pipeline::kRefused);
  done.clear();
  wire.pipeline.take_completions(done);
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
  CHECK(wire.pipeline.releases_pending() == 1);
  wire.pipeline.take_wish();
  wire.wait(Pipeline::kBackoffMin);
  wire.set(3);
  wire.connect().greet();
  const std::string sent = wire.taken();
  CHECK(sent.find("EVALSHA") < sent.find("SET\r\n"));
  wire.receive(":0\r\n+OK\r\n");
  CHECK(wire.pipeline.releases_pending() == 0);
  CHECK(wire.completions() == "3 yes");
}

TEST_CASE("a release whose lock has run out is not sent any more") {
  Wire wire;
  wire.connect().greet();
  wire.release(1, 10ms);
  wire.end();
  wire.wait(Pipeline::kBackoffMin);
  wire.pipeline.take_wish();
  wire.pipeline.on_connected(wire.now);
  wire.greet();
  CHECK(wire.taken().empty());
  CHECK(wire.pipeline.releases_pending() == 0);
}

TEST_CASE("dials come at growing intervals, with some chance in them") {
  Wire wire;
  Duration longest = 0ns;
  for (int i = 0; i < 12; ++i) {
    CHECK(wire.pipeline.take_wish() == Pipeline::Wish::dial);
    wire.pipeline.on_end("connection refused", wire.now);
    CHECK(wire.pipeline.take_wish() == Pipeline::Wish::hang_up);
    const Duration pause = *wire.pipeline.next_deadline() - wire.now;
    CHECK(pause >= Pipeline::kBackoffMin / 2);
    CHECK(pause <= Pipeline::kBackoffMax);
    longest = std::max(longest, pause);
    wire.wait(pause);
  }
  CHECK(longest >= Pipeline::kBackoffMax / 2);
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
  wire.wait(*wire.pipeline.next_deadline() - wire.now);
  CHECK(wire.completions() == "2 broken: nothing heard for 10.0 s");
}

TEST_CASE("an idle link has no deadline that fires for nothing, again and again") {
  Wire wire;
  wire.connect().greet();
  wire.set(1);
  wire.receive("+OK\r\n");
  wire.wait(Pipeline::kSilenceMax);
  CHECK_FALSE(wire.pipeline.next_deadline().has_value());
}

TEST_CASE("garbage and answers to nothing end the connection") {
  Wire garbage;
  garbage.connect().greet();
  garbage.set(1);
  garbage.receive("HTTP/1.1 400\r\n");
  CHECK(garbage.pipeline.state() == Pipeline::State::backing_off);
  Wire unasked;
  unasked.connect().greet();
  unasked.receive("+OK\r\n");
  CHECK(unasked.pipeline.state() == Pipeline::State::backing_off);
}

TEST_CASE("a node is behind while it has not answered what was written before this turn") {
  Wire wire;
  wire.connect().greet();
  wire.set(7);
  CHECK_FALSE(wire.pipeline.is_behind());  // it has had no chance yet
  wire.taken();
  wire.release(8);
  CHECK(wire.pipeline.is_behind());
  wire.receive("+OK\r\n");
  CHECK_FALSE(wire.pipeline.is_behind());
}
