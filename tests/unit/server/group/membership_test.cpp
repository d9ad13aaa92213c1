// LOCK.GROUP: a node's place in its group (rules G1 to G5).
#include "server/group/membership.h"

#include "tests/support/node_fixture.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace redlock;
using namespace redlock::server;
using Catch::Contains;
using Catch::StartsWith;

namespace {

constexpr Duration kMaxTtl = 10s;
constexpr Duration kDelay = 11'100ms;  // 10 s × 1.01 + 1 s

std::string id(char digit) {
  return std::string(kNodeIdDigits, digit);
}

// The ledger of a node that lost the one that it had before.
const std::string kAnew = id('0');

// The members a, b, c …, since these epochs; a capital: with its ledger made anew.
std::string roster(int epoch, const std::string& digits, const std::string& since) {
  std::string text = fmt::format("{}", epoch);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool is_anew = digits[i] < 'a';
    const char node = is_anew ? static_cast<char>(digits[i] - 'A' + 'a') : digits[i];
    const std::string ledger = is_anew ? kAnew : id(node);
    text += fmt::format(" {},{},{},10.0.0.{}:7000", id(node), ledger, since[i], node);
  }
  return text;
}

const std::string kFirst = roster(1, "abc", "111");
const std::string kSecond = roster(2, "abd", "112");  // d in place of c
const std::string kThird = roster(3, "ade", "123");   // e in place of b

std::string ballot(int number) {
  return fmt::format("{}.0000000000000001", number);
}

// What else a node's disk has left.
struct Left {
  Duration largest_ttl = kMaxTtl;
  Token counter = 100;
  bool fenced = true;
};

// One node in a state folder, as its disk left it.
class Member {
 public:
  explicit Member(RosterRecord record = {}, char digit = 'a', const Left& left = {})
      : fixture_(settings(), start(std::move(record), digit, left), &page_),
        client_(fixture_.connect()) {}

  // Asks, and writes what has to be durable before the answer.
  std::string operator()(const std::string& line) { return of(client_, line); }
  std::string of(TestClient& client, const std::string& line) {
    client.send(line, fixture_.now());
    std::string answer = client.receive();
    if (answer != "(none)") return answer;
    write();
    return client.receive();
  }
  void write(const Status& written = Done{}) {
    while (write_once(written)) {
    }
  }
  bool write_once(const Status& written = Done{}) {
    if (!fixture_.node().begin_ledger_write(fixture_.now())) return false;
    fixture_.node().end_ledger_write(written, fixture_.now());
    return true;
  }
  TestClient connect() { return fixture_.connect(); }
  void advance(Duration d) { fixture_.advance(d); }
  const RosterRecord& record() { return fixture_.node().membership().record(); }
  const DurableRecord& ledger() { return fixture_.node().ledger().record(); }
  Node& node() { return fixture_.node(); }
  Instant now() { return fixture_.now().monotonic; }
  Instant latest_deadline() const { return page_.latest; }
  void break_page() { page_.fails = true; }

 private:
  static Settings settings() {
    Settings settings;
    settings.max_ttl = kMaxTtl;
    return settings;
  }
  static NodeStart start(RosterRecord record, char digit, const Left& left) {
    NodeStart start;
    start.node_id = id(digit);
    start.ledger = {
        .record = {start.node_id, 1, left.largest_ttl, 10'000, left.fenced, std::move(record)},
        .latest_deadline = {},
        .max_ttl = kMaxTtl,
        .fence_block = 1'000,
        .now = Instant(24h)};
    start.fence = {.first = left.counter, .bound = 10'000, .fenced = left.fenced};
    return start;
  }

  PageInMemory page_;
  NodeFixture fixture_;
  TestClient client_;
};

RosterRecord of(const std::string& text, Duration longest = kMaxTtl) {
  return {.current = parse_roster(text).value(), .longest = longest};
}

const std::string kGrant = "LOCK.ACQUIRE printer alice PX 5000";
const std::string kDone = "[\"done\", (integer) 10000, (integer) 100]";

}  // namespace

TEST_CASE("without a roster every coordinator is served, whatever it knows of") {
  Member node;
  CHECK(node("LOCK.GROUP HELLO 0") == "+OK");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1"));
  CHECK_THAT(node("LOCK.GROUP SHOW"),
             Contains("\"standing\", \"none\"") && Contains("\"promised\", \"\""));
}

TEST_CASE("the first roster: promised, accepted, told") {
  Member node;
  CHECK(node("LOCK.GROUP PREPARE 1 " + ballot(1)) ==
        "[\"done\", \"\", \"\", (integer) 10000, (integer) 100]");
  CHECK(node.record().promised == RosterBallot{1, 1});
  CHECK_THAT(node("LOCK.GROUP SHOW"), Contains("\"promised\", \"" + ballot(1) + "\""));
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kFirst + "'") == kDone);
  CHECK(node.record().accepted == parse_roster(kFirst).value());
  node("LOCK.GROUP HELLO 0");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1"));  // there is no group yet to be changed
  CHECK(node("LOCK.GROUP LEARN '" + kFirst + "' 10000 0") == "+OK");
  CHECK(node.record() == of(kFirst));
  CHECK_FALSE(node.node().grants().is_recovering(node.now()));  // it follows none
  CHECK(node("LOCK.GROUP LEARN '" + kFirst + "' 10000 0") == "+OK");
}

TEST_CASE("nobody hears of a promise before it is durable") {
  Member node;
  TestClient client = node.connect();
  client.send("LOCK.GROUP PREPARE 1 " + ballot(1), {node.now(), {}});
  CHECK(client.receive() == "(none)");
  node.write(Failure{"No space left on device"});
  CHECK_THAT(client.receive(), Contains("disk refuses"));
  CHECK(node.record().promised == RosterBallot{});
}

TEST_CASE("two proposers: the larger ballot wins, and learns what the smaller had accepted (G2)") {
  Member node(of(kFirst));
  const std::string other = roster(2, "abe", "112");
  CHECK_THAT(node("LOCK.GROUP PREPARE 2 " + ballot(5)), StartsWith("[\"done\""));
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(4)) == "[\"behind\", \"" + ballot(5) + "\"]");
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(4) + " '" + other + "'") ==
        "[\"behind\", \"" + ballot(5) + "\"]");
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(5) + " '" + kSecond + "'") == kDone);
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(6)) ==
        "[\"done\", \"" + ballot(5) + "\", \"" + kSecond + "\", (integer) 10000, (integer) 100]");
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(6) + " '" + other + "'") == kDone);
  CHECK(node.record().accepted == parse_roster(other).value());
}

TEST_CASE("two steps at once: the second is thought over when the first is durable") {
  Member node(of(kFirst));
  node("LOCK.GROUP PREPARE 2 " + ballot(1));
  TestClient one = node.connect();
  TestClient two = node.connect();
  one.send("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kSecond + "'", {node.now(), {}});
  two.send("LOCK.GROUP PREPARE 2 " + ballot(2), {node.now(), {}});
  node.write();
  CHECK(one.receive() == kDone);
  CHECK(two.receive() ==
        "[\"done\", \"" + ballot(1) + "\", \"" + kSecond + "\", (integer) 10000, (integer) 100]");
  CHECK(node.record().promised == RosterBallot{2, 1});
}

TEST_CASE("who accepts under a ballot that it never promised has promised it by that (G2)") {
  Member node(of(kFirst));
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(5) + " '" + kSecond + "'") == kDone);
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(4)) == "[\"behind\", \"" + ballot(5) + "\"]");
}

TEST_CASE("a roster of a former epoch, or of another group, changes nothing (G1, G2)") {
  Member node(of(kSecond));
  CHECK(node("LOCK.GROUP LEARN '" + kFirst + "' 10000 0") == "+OK");
  CHECK_THAT(node("LOCK.GROUP LEARN '" + roster(7, "efa", "117") + "' 10000 0"),
             StartsWith("-GROUP this node is of another group"));
  CHECK(node.record() == of(kSecond));
}

TEST_CASE("the longest TTL of a node is max-ttl, or what it granted before if that is longer") {
  for (const Duration before : {5s, 20s}) {
    Member node(of(kFirst), 'a', {.largest_ttl = before});
    CHECK_THAT(node("LOCK.GROUP PREPARE 2 " + ballot(1)),
               Contains(before == 5s ? ", (integer) 10000, " : ", (integer) 20000, "));
  }
}

TEST_CASE("a step for another epoch is told which one this node knows") {
  Member node(of(kSecond, 20s));  // longer than what it grants by now: a newcomer waits for that
  const std::string told = "[\"epoch\", \"" + kSecond + "\", (integer) 20000, (integer) 0]";
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(1)) == told);
  CHECK(node("LOCK.GROUP PREPARE 4 " + ballot(1)) == told);
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kFirst + "'") == told);
  CHECK_THAT(node("LOCK.GROUP LEARN '" + roster(2, "abe", "112") + "' 10000 0"),
             StartsWith("-GROUP another roster of this epoch was chosen"));
}

TEST_CASE("a coordinator votes with its epoch alone (G1)") {
  Member node(of(kSecond));
  for (const char* other : {"0", "1", "3"}) {
    TestClient client = node.connect();
    CHECK(node.of(client, fmt::format("LOCK.GROUP HELLO {}", other)) == "+OK");
    for (const std::string& vote :
         {kGrant, std::string("LOCK.EXTEND printer alice PX 5000 TOKEN 0"),
          std::string("LOCK.REPLACE printer alice bob PX 5000"),
          std::string("LOCK.CONFIRM printer alice 7"), std::string("LOCK.HOLDER printer VOTE")}) {
      CHECK_THAT(node.of(client, vote),
                 StartsWith("-GROUP this node knows epoch 2 of its group, you name"));
    }
    CHECK(node.of(client, "LOCK.RELEASE printer alice") == "(integer) 0");
    CHECK(node.of(client, "LOCK.HOLDER printer") == "(nil)");
  }
  TestClient right = node.connect();
  node.of(right, "LOCK.GROUP HELLO 2");
  CHECK_THAT(node.of(right, kGrant), StartsWith("[(integer) 1"));
  CHECK_THAT(node.of(right, "LOCK.ACQUIRE lamp bob PX 5000"), StartsWith("[(integer) 1"));
  CHECK_THAT(node.of(right, "LOCK.EXTEND door bob PX 5000 TOKEN 7"), StartsWith("[(integer) 2"));
  CHECK(node("LOCK.ACQUIRE scanner bob PX 5000") == "[(integer) 1, (integer) 101, (integer) 5000]");
  CHECK_THAT(node("INFO group"), Contains("granted_without_epoch:1"));
}

TEST_CASE(
    "from the first roster of the next epoch on nobody of the present one has its vote (G2)") {
  Member node(of(kFirst));
  node("LOCK.GROUP HELLO 1");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1"));
  node("LOCK.GROUP PREPARE 2 " + ballot(1));
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 5000"), StartsWith("[(integer) 1"));
  node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kSecond + "'");
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 5000"), Contains("change of the group to epoch 2"));
  node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0");
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 5000"), Contains("knows epoch 2"));
  node("LOCK.GROUP HELLO 2");
  CHECK_THAT(node("LOCK.EXTEND printer alice PX 5000"), StartsWith("[(integer) 1"));
}

TEST_CASE(
    "a newcomer waits for every lock of the former epoch, through a crash; without a floor "
    "unfenced (G2)") {
  Member node({}, 'd');
  TestClient client = node.connect();
  client.send("LOCK.GROUP LEARN '" + kSecond + "' 20000 0", {node.now(), {}});
  CHECK(client.receive() == "(none)");
  CHECK(node.node().grants().is_recovering(node.now()));  // whatever becomes of the write
  CHECK(node.latest_deadline() == Instant{});
  constexpr Duration kLonger = 21'200ms;  // 20 s × 1.01 + 1 s
  REQUIRE(node.write_once());
  CHECK(node.ledger().largest_ttl >= 20s);  // first: a deadline beyond it would be damage
  CHECK(node.latest_deadline() >= node.now() + kLonger);  // in the ledger before the roster is
  CHECK(node.record() == RosterRecord{});
  node.write();
  CHECK(client.receive() == "+OK");
  CHECK(node.record() == of(kSecond, 20s));
  CHECK_FALSE(node.ledger().fenced);
  CHECK(node.ledger().largest_ttl >= 20s);
  CHECK_THAT(node(kGrant), Contains("recovering"));
  CHECK_THAT(node("LOCK.FENCE ADMIT 5000"), Contains("recovering"));
  node.advance(kLonger - 1ms);
  CHECK_THAT(node(kGrant), Contains("recovering"));
  CHECK(node.node().grants().snapshot_from() > node.now());  // a stop counts as a crash
  node.advance(1ms);
  CHECK(node("LOCK.FENCE ADMIT 5000") == "+OK");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1, (integer) 5001"));
}

TEST_CASE("a newcomer whose wait cannot be written down joins nothing, and waits (R3)") {
  Member node({}, 'd');
  node.break_page();
  CHECK_THAT(node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0"), Contains("disk refuses"));
  CHECK(node.record() == RosterRecord{});
  CHECK(node.node().grants().is_recovering(node.now()));
}

TEST_CASE("with a floor it is fenced, and gives tokens above it, also after a crash (F9)") {
  Member node({}, 'd');
  TestClient client = node.connect();
  client.send("LOCK.GROUP LEARN '" + kSecond + "' 10000 50000", {node.now(), {}});
  CHECK(node.node().grants().is_recovering(node.now()));
  REQUIRE(node.write_once());
  CHECK(node.ledger().fencing_bound == 52'001);  // before the roster is in force
  CHECK(node.record() == RosterRecord{});
  node.write();
  CHECK(client.receive() == "+OK");
  CHECK(node.ledger().fenced);
  CHECK(node.record().floor == 50'000);
  node.advance(kDelay);
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1, (integer) 50001"));
}

TEST_CASE("a node without its ledger that joins with a floor is fenced, were it 1 (F9)") {
  for (const Token floor : {Token{1}, Token{50'000}}) {
    Member node({}, 'd', {.counter = 0, .fenced = false});
    CHECK(node(fmt::format("LOCK.GROUP LEARN '{}' 10000 {}", kSecond, floor)) == "+OK");
    CHECK(node.ledger().fenced);
    CHECK(node.node().grants().fence().is_fenced());
    node.advance(kDelay);
    CHECK(node(kGrant) == fmt::format("[(integer) 1, (integer) {}, (integer) 5000]", floor + 1));
  }
}

TEST_CASE("who is told twice at once, with different floors, is fenced all the same (F9)") {
  Member node({}, 'd');
  TestClient one = node.connect();
  TestClient other = node.connect();
  one.send("LOCK.GROUP LEARN '" + kSecond + "' 10000 50", {node.now(), {}});
  other.send("LOCK.GROUP LEARN '" + kSecond + "' 10000 50000", {node.now(), {}});
  node.write();
  CHECK(one.receive() == "+OK");
  CHECK(other.receive() == "+OK");
  CHECK(node.node().grants().fence().is_fenced());
}

TEST_CASE("who stays goes on from the floor: no vote of the next epoch falls behind it (F9)") {
  Member new_one(of(kFirst), 'a', {.counter = 0});
  new_one("LOCK.GROUP LEARN '" + kSecond + "' 10000 1");
  CHECK(new_one(kGrant) == "[(integer) 1, (integer) 2, (integer) 5000]");
  Member node(of(kFirst));
  CHECK(node("LOCK.GROUP LEARN '" + kSecond + "' 10000 50000") == "+OK");
  node("LOCK.GROUP HELLO 2");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1, (integer) 50001"));
  CHECK_THAT(node("LOCK.STATUS"), Contains("\"former_floor\", (integer) 50000"));
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(1)) ==
        "[\"epoch\", \"" + kSecond + "\", (integer) 10000, (integer) 50000]");
  CHECK_THAT(Member(of(kFirst))("LOCK.GROUP LEARN '" + kSecond + "' 10000 9007199254740992"),
             StartsWith("-ERR a token is a number"));
}

TEST_CASE("no floor leaps further above a fenced node's counter than a confirm may (F1, F9)") {
  const auto answer = [](Member& node, Token floor) {
    return node(fmt::format("LOCK.GROUP LEARN '{}' 10000 {}", kSecond, floor));
  };
  Member node(of(kFirst));
  CHECK_THAT(answer(node, 100 + kLeapMax + 1), StartsWith("-ERR this floor is more than"));
  CHECK(node.record() == of(kFirst));
  CHECK(node.node().grants().fence().largest() == 100);
  CHECK(answer(node, 100 + kLeapMax) == "+OK");
  Member newcomer({}, 'd');  // as one that had no ledger
  newcomer.node().grants().unfence();
  CHECK(answer(newcomer, 100 + kLeapMax + 1) == "+OK");
}

TEST_CASE("a roster does not come into force before the bound covers its floor (F9)") {
  Member node(of(kFirst));
  TestClient client = node.connect();
  client.send("LOCK.GROUP LEARN '" + kSecond + "' 10000 50000", {node.now(), {}});
  node.write(Failure{"No space left on device"});
  CHECK_THAT(client.receive(), Contains("disk refuses"));
  CHECK(node.record() == of(kFirst));
  CHECK(node.node().grants().fence().largest() == 100);
}

TEST_CASE("an unfenced node tells no counter: it cannot know the largest (F9)") {
  Member node(of(kFirst));
  node.node().grants().unfence();
  CHECK(node("LOCK.GROUP PREPARE 2 " + ballot(1)) ==
        "[\"done\", \"\", \"\", (integer) 10000, (nil)]");
}

TEST_CASE("counters are read and floors taken within one epoch (F9)") {
  Member node(of(kFirst));
  for (const char* command : {"LOCK.FENCE READ", "LOCK.FENCE ADMIT 5"}) {
    TestClient other = node.connect();
    node.of(other, "LOCK.GROUP HELLO 2");
    CHECK_THAT(node.of(other, command), StartsWith("-GROUP this node knows epoch 1"));
  }
  node("LOCK.GROUP HELLO 1");
  CHECK(node("LOCK.FENCE READ") == "[(integer) 100, (integer) 1]");
}

TEST_CASE("what a newcomer's wait is for stays in the ledger until it is over (R3)") {
  Member node({}, 'd');
  node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0");
  const Instant told = node.latest_deadline();
  node("SET other value PX 10");  // refused, but a turn is a turn
  node.advance(kDelay - 10ms);
  node.node().do_due_work({node.now(), {}});
  CHECK(node.latest_deadline() == told);
}

TEST_CASE("a member that comes late to an epoch does not wait; one that was away does (G2)") {
  Member late(of(kFirst));
  CHECK(late("LOCK.GROUP LEARN '" + kThird + "' 10000 0") == "+OK");
  CHECK_FALSE(late.node().grants().is_recovering(late.now()));
  Member recent(of(kSecond), 'd');  // since epoch 2, and has waited for it
  CHECK(recent("LOCK.GROUP LEARN '" + kThird + "' 10000 0") == "+OK");
  CHECK_FALSE(recent.node().grants().is_recovering(recent.now()));
  Member back(of(roster(1, "abc", "111")), 'c');
  CHECK(back("LOCK.GROUP LEARN '" + roster(3, "abc", "113") + "' 10000 0") == "+OK");
  CHECK(back.node().grants().is_recovering(back.now()));
}

TEST_CASE("a node that is no member votes for nobody who says an epoch (G5)") {
  Member node(of(kFirst), 'c');
  CHECK(node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0") == "+OK");
  CHECK_FALSE(node.node().grants().is_recovering(node.now()));
  node("LOCK.GROUP HELLO 2");
  CHECK_THAT(node(kGrant), StartsWith("-GROUP this node is no member of its group since epoch 2"));
  CHECK_THAT(node("LOCK.GROUP SHOW"), Contains("\"standing\", \"outside\""));
  TestClient other = node.connect();
  CHECK_THAT(node.of(other, kGrant), StartsWith("[(integer) 1"));
}

TEST_CASE("one member at a time joins, leaves, or is replaced (G2)") {
  const auto answer = [](const RosterRecord& known, const std::string& next) {
    return Member(known)("LOCK.GROUP ACCEPT " + ballot(1) + " '" + next + "'");
  };
  const std::string refused = "-ERR this roster cannot follow the one that the node goes by";
  CHECK(answer(of(kFirst), roster(2, "ab", "11")) == kDone);
  CHECK(answer(of(kFirst), roster(2, "abcd", "1112")) == kDone);
  CHECK(answer(of(kFirst), roster(2, "aBc", "121")) == kDone);
  CHECK(answer(of(kFirst), roster(2, "ade", "122")) == refused);
  CHECK(answer(of(kFirst), roster(2, "abd", "111")) == refused);
  CHECK(answer({}, roster(1, "abc", "111")) == kDone);
}

TEST_CASE("a second change waits for the locks of the epoch before the last (G3)") {
  Member node(of(kFirst));
  node.advance(1h);
  node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0");
  CHECK(node("LOCK.GROUP PREPARE 3 " + ballot(1)) == "[\"early\", (integer) 11100]");
  node.advance(kDelay - 1ns);
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kThird + "'") == "[\"early\", (integer) 1]");
  node.advance(1ns);
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kThird + "'") == kDone);
}

TEST_CASE("a restart does not shorten the wait for a second change; the first needs none (G3)") {
  Member restarted(of(kSecond, 20s));
  CHECK(restarted("LOCK.GROUP PREPARE 3 " + ballot(1)) == "[\"early\", (integer) 21200]");
  Member first(of(kFirst));
  CHECK_THAT(first("LOCK.GROUP PREPARE 2 " + ballot(1)), StartsWith("[\"done\""));
}

TEST_CASE("a node that lost its ledger is no member, whatever its node id, and no acceptor (G4)") {
  Member node({.ledger_id = kAnew});
  node("LOCK.GROUP HELLO 2");
  CHECK_THAT(node(kGrant), StartsWith("-GROUP this node knows epoch 0"));
  CHECK(node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0") == "+OK");  // of whatever age
  CHECK_THAT(node(kGrant), StartsWith("-GROUP this node is no member"));
  CHECK(node("LOCK.GROUP PREPARE 3 " + ballot(1)) == "[\"outside\"]");
  CHECK(node("LOCK.GROUP ACCEPT " + ballot(1) + " '" + kThird + "'") == "[\"outside\"]");
  CHECK_FALSE(node.node().grants().is_recovering(node.now()));
}

TEST_CASE("it comes back as a newcomer, with its new ledger (G4)") {
  Member node({.ledger_id = kAnew});
  node("LOCK.GROUP LEARN '" + kSecond + "' 10000 0");
  CHECK(node("LOCK.GROUP LEARN '" + roster(3, "Abd", "312") + "' 10000 0") == "+OK");
  CHECK(node.node().grants().is_recovering(node.now()));
  CHECK_FALSE(node.ledger().fenced);
  CHECK(node.ledger().ledger_id() == kAnew);
  node.advance(kDelay);
  CHECK(node("LOCK.FENCE ADMIT 5000") == "+OK");
  node("LOCK.GROUP HELLO 3");
  CHECK_THAT(node(kGrant), StartsWith("[(integer) 1, (integer) 5001"));
}

TEST_CASE("a node that keeps no folder has no roster (G7)") {
  NodeFixture node;
  CHECK_THAT(node("LOCK.GROUP PREPARE 1 " + ballot(1)), Contains("keeps no state folder"));
  CHECK_THAT(node("LOCK.GROUP LEARN '" + kFirst + "' 1000 0"), Contains("keeps no state folder"));
}

TEST_CASE("LOCK.GROUP reads its words strictly") {
  Member node;
  CHECK_THAT(node("LOCK.GROUP HELLO -1"), Contains("an epoch is a number from 0 on"));
  CHECK_THAT(node("LOCK.GROUP PREPARE 0 " + ballot(1)), Contains("an epoch is a number from 1 on"));
  CHECK_THAT(node("LOCK.GROUP PREPARE 1 x"), Contains("no ballot"));
  CHECK_THAT(node("LOCK.GROUP ACCEPT x '" + kFirst + "'"), Contains("no ballot"));
  CHECK_THAT(node("LOCK.GROUP ACCEPT " + ballot(1) + " x"), Contains("begins with its epoch"));
  CHECK_THAT(node("LOCK.GROUP LEARN x 1000 0"), Contains("begins with its epoch"));
  CHECK_THAT(node("LOCK.GROUP LEARN '" + kFirst + "' -1 0"), Contains("a number of ms"));
  CHECK_THAT(node("LOCK.GROUP LEARN '" + kFirst + "' 2305843009214 0"), Contains("of ms"));
  CHECK(node("LOCK.GROUP LEARN '" + kFirst + "' 2305843009213 0") == "+OK");
  CHECK(Member()("LOCK.GROUP LEARN '" + kFirst + "' 0 0") == "+OK");
}

TEST_CASE("LOCK.STATUS tells what members have to agree on (G6)") {
  Member node(of(kFirst));
  const std::string status = node("LOCK.STATUS");
  CHECK_THAT(status, Contains("\"epoch\"") && Contains("\"standing\"") && Contains(kFirst) &&
                         Contains("\"clock_drift\"") && Contains("\"restart_delay\"") &&
                         Contains("\"warning\""));
}
